"""Retention: an age for each kind of file, which lists what is older, and then deletes it.

- `results`: result rows, with their solutions, that nothing asks for any more: of boards that no
  night has brought, of earlier versions of the solver where the present one has answered as well,
  and of jobs that have a better row. With them go puzzles of questions and dictionaries that no
  board is left of.
- `corpora`: corpora that no run reads; the same count makes them again.
- `runs`: folders of runs that have ended; their results stay.
- `damaged`: what a repair has moved away.

The present answers about boards of nights stay, and all that nights have received.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.corpus.plans import CORPORA
from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.ingest.puzzles import puzzles_folder
from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import BUDGET_COLUMNS, EDITIONS, RESULTS
from nightgrid.archive.merging.files import MergedFolder, listings
from nightgrid.archive.merging.merge import drop_rows, keys_in
from nightgrid.archive.results.contradictions import recount_contradicted
from nightgrid.archive.results.files import ASKED_FILES, RESULT_FILES, SOLUTION_FILES
from nightgrid.archive.results.results import once_a_job
from nightgrid.archive.results.solution_files import files_folder
from nightgrid.archive.results.statuses import FINAL, is_among
from nightgrid.archive.words.binding import bind_game
from nightgrid.archive.words.dictionaries import KEY as DICTIONARY
from nightgrid.archive.words.dictionaries import SINGLES, single_path
from nightgrid.flows.maintenance.repair import LEASE
from nightgrid.solvers.algebra import MEANT
from nightgrid.solvers.registry import GAMES, game_plug
from nightgrid.solvers.registry import game as game_named
from nightgrid.workers.lease import check_held, holding
from nightgrid.workers.runs.run_files import folder as run_folder
from nightgrid.workers.upkeep import ends_of_runs, old_runs, prune_runs

UNSETTLED = dt.timedelta(days=2)
"""Boards and words whose files are younger may be of a job that is not planned yet: they stay."""
_JOB = ("job_id", "run_id")
_QUESTION = ("puzzle_id", "ask", "rules", "lexicon_id")
_COLUMNS = (*_JOB, *_QUESTION, "status", "game", "solver_version", *BUDGET_COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Old:
    """Something that is older than it is to be kept."""

    table: str
    count: int
    noun: str
    """What is counted: `ended runs`."""
    paths: list[str] = field(default_factory=list)
    """Files and folders that go as a whole."""
    freed_bytes: int = 0
    """Bytes of these; rows that go out of larger files are not counted."""
    delete: Callable[[], object]

    def to_json(self) -> dict[str, Any]:
        """Write it for programs."""
        names = ("table", "count", "noun", "paths", "freed_bytes")
        return {name: getattr(self, name) for name in names}


def prune_lake(
    lake: Lake,
    keep_days: Mapping[str, float],
    *,
    dry_run: bool = False,
    now: dt.datetime | None = None,
) -> Iterator[Old]:
    """List what is older than it is to be kept, and delete it unless it is a dry run.

    `keep_days` has names of TABLES. Killed anywhere, the same call goes on. Raises TransientError
    while a night is at work on the lake.
    """
    now = now or dt.datetime.now(dt.UTC)
    refusal = f"a night or a repair is at work on the lake {lake.url}"
    with nullcontext() if dry_run else holding(lake, LEASE, refusal):
        for table, days in keep_days.items():
            for old in TABLES[table](lake, now - dt.timedelta(days=days)):
                if not dry_run:
                    check_held(lake, LEASE)
                    old.delete()
                yield old


def _old_runs(lake: Lake, before: dt.datetime) -> Iterator[Old]:
    runs = old_runs(lake, before)
    if runs:
        yield Old(
            table="runs",
            count=len(runs),
            noun="ended runs",
            paths=(paths := [run_folder(run) for run in runs]),
            freed_bytes=_bytes_in(lake, paths),
            delete=partial(prune_runs, lake, runs),
        )


def _old_damaged(lake: Lake, before: dt.datetime) -> Iterator[Old]:
    old = _older(lake, "damaged", before)
    if old:
        yield _of_files(lake, "damaged", "files that a repair moved away", old)


def _old_corpora(lake: Lake, before: dt.datetime) -> Iterator[Old]:
    """Find corpora; none while a run goes on: it may read one."""
    limit_ns = _unix_ns(before)
    old = [
        path
        for path in lake.folders(CORPORA)
        if all(written < limit_ns for _, written in lake.stamps(path, deep=True).values())
    ]
    if old and None not in ends_of_runs(lake).values():
        yield Old(
            table="corpora",
            count=len(old),
            noun="corpora",
            paths=old,
            freed_bytes=_bytes_in(lake, old),
            delete=partial(_delete_corpora, lake, old),
        )


def _delete_corpora(lake: Lake, folders: list[str]) -> None:
    for path in folders:
        # It counts as not complete first, and what it is goes last.
        lake.delete(f"{path}/corpus.json")
        lake.delete_folder(path, last=f"{path}/plan.json")


def _old_results(lake: Lake, before: dt.datetime) -> Iterator[Old]:
    """Find rows of results by game, and then what only such rows needed."""
    ends = ends_of_runs(lake)
    for game in sorted(GAMES):
        rows = _result_rows(lake, game, ends, before)
        going = _going(lake, game, rows)
        if len(going):
            runs = sorted(set(going.column("run_id").to_pylist()))
            folders = [run_folder(run) for run in runs if run in ends]
            folders += [path for path in map(files_folder, runs) if lake.exists(path)]
            yield Old(
                table="results",
                count=len(going),
                noun=f"rows of {game}",
                paths=folders,
                freed_bytes=_bytes_in(lake, folders),
                delete=partial(_delete_rows, lake, game, rows, going),
            )
    settled = min(before, dt.datetime.now(dt.UTC) - UNSETTLED)
    yield from _unneeded_puzzles(lake, settled, ends)
    yield from _unneeded_dictionaries(lake, settled, ends)


TABLES: dict[str, Callable[[Lake, dt.datetime], Iterator[Old]]] = {
    "results": _old_results,
    "corpora": _old_corpora,
    "runs": _old_runs,
    "damaged": _old_damaged,
}
"""What finds what is older than a time, by the name after `--keep`."""


def _result_rows(
    lake: Lake, game: str, ends: Mapping[str, int | None], before: dt.datetime
) -> pa.Table:
    """Read the result rows of a game, with a column `old`.

    A published board is as old as its last date. Any other row is as old as the end of its run, or
    as its file where the run is gone: it may be older, and is never younger. Takes about 300 bytes
    of memory a row.
    """
    limit_ns = _unix_ns(before)
    editions = lake.read_table(editions_path(game), EDITIONS, ["puzzle_id", "date"])
    dates = editions.group_by("puzzle_id").aggregate([("date", "max")])
    there = _texts(ends)
    ended = _texts(run for run, end in ends.items() if end is not None and end < limit_ns)
    schema = pa.schema([RESULTS.field(name) for name in _COLUMNS])
    found = [schema.append(pa.field("old", pa.bool_())).empty_table()]
    stamps = lake.stamps(RESULT_FILES.path)
    for path, rows in _scan(lake, RESULT_FILES, _COLUMNS):
        mine = rows.filter(pc.equal(rows.column("game"), game)).cast(schema)
        at = pc.index_in(mine.column("puzzle_id"), value_set=dates.column("puzzle_id"))
        date = dates.column("date_max").take(at)
        is_file_old = path in stamps and stamps[path][1] < limit_ns
        old = pc.if_else(
            pc.is_in(mine.column("run_id"), value_set=there),
            pc.is_in(mine.column("run_id"), value_set=ended),
            pa.scalar(is_file_old),
        )
        is_dated = pc.is_valid(date)
        old = pc.if_else(is_dated, pc.less(date, pa.scalar(before.date(), pa.date32())), old)
        found.append(mine.append_column("old", pc.fill_null(old, False)))
    rows = pa.concat_tables(found)
    # A row may stand in two files until these are merged.
    keys = [name for name in rows.column_names if name != "old"]
    return rows.group_by(keys).aggregate([("old", "any")]).rename_columns([*keys, "old"])


def _going(lake: Lake, game: str, rows: pa.Table) -> pa.Table:
    """Choose the rows that go; a job goes as a whole, or a row that is left would answer it."""
    if not len(rows):
        return rows
    answers = once_a_job(rows)
    final = answers.filter(is_among(answers.column("status"), FINAL))
    is_answer = pc.is_in(keys_in(rows, RESULT_FILES.same), keys_in(answers, RESULT_FILES.same))
    is_better = pc.is_in(rows.column("job_id"), value_set=final.column("job_id"))
    lost = pc.and_(pc.invert(is_answer), is_better)
    present = _versions(game)
    now = final.filter(is_among(final.column("solver_version"), present))
    repeated = pc.and_(
        pc.invert(is_among(rows.column("solver_version"), present)),
        pc.is_in(keys_in(rows, _QUESTION), value_set=keys_in(now, _QUESTION)),
    )
    brought = pc.is_in(rows.column("puzzle_id"), value_set=_published(lake, game))
    young = rows.filter(pc.invert(rows.column("old"))).column("job_id")
    unasked = pc.and_(
        pc.or_(repeated, pc.invert(brought)),
        pc.invert(pc.is_in(rows.column("job_id"), value_set=young)),
    )
    return rows.filter(pc.and_(rows.column("old"), pc.or_(lost, unasked)))


def _versions(game: str) -> list[str]:
    """Name the present version of a game's solver, and what ranks its covers here."""
    ranks = game_plug(game).answers(MEANT)
    more = [bind_game(game, ask=MEANT).solver_version] if ranks else []
    return [game_named(game).solver_version, *more]


def _published(lake: Lake, game: str) -> pa.Array:
    """Read the ids of the boards that nights have brought, those of earlier editions too."""
    editions = lake.read_table(editions_path(game), EDITIONS, ["puzzle_id"])
    found = [*editions.column("puzzle_id").chunks]
    for path in lake.list(puzzles_folder(game)):
        for table in lake.iter_row_groups(path, ["puzzle_id"]):
            found += table.column("puzzle_id").chunks
    return pc.unique(pa.concat_arrays([pa.array([], pa.string()), *found]))


def _delete_rows(lake: Lake, game: str, rows: pa.Table, going: pa.Table) -> None:
    """Delete rows after what rests on them: the folders of their runs would make them again."""
    goes = keys_in(going, RESULT_FILES.same)
    stays = rows.filter(pc.invert(pc.is_in(keys_in(rows, RESULT_FILES.same), value_set=goes)))
    prune_runs(lake, sorted(set(going.column("run_id").to_pylist())))
    # Another row of the same job and run may rest on the solutions.
    shared = pc.is_in(keys_in(going, _JOB), value_set=keys_in(stays, _JOB))
    alone = going.filter(pc.invert(shared))
    drop_rows(lake, SOLUTION_FILES, _JOB, pc.unique(keys_in(alone, _JOB)))
    for job_id, run_id in zip(*(alone.column(name).to_pylist() for name in _JOB), strict=True):
        for path in lake.list(f"{files_folder(run_id)}/{job_id}"):
            lake.delete(path, durable=False)
    drop_rows(lake, RESULT_FILES, RESULT_FILES.same, pc.unique(goes))
    recount_contradicted(lake, game, game_named(game).solver_version)
    # The next night makes gold again.
    lake.delete(f"checked/{game}-gold.json", durable=False)


def _unneeded_puzzles(
    lake: Lake, before: dt.datetime, ends: Mapping[str, int | None]
) -> Iterator[Old]:
    """Find puzzles that came with questions, and that no result and no open run refers to."""
    old = set(_older(lake, ASKED_FILES.path, before))
    if not old:
        return
    needed = [pa.array([], pa.string())]
    for run in (run for run, end in ends.items() if end is None):
        for table in _planned(lake, run, ["puzzle_id"]):
            needed += table.column("puzzle_id").chunks
    for _, table in _scan(lake, RESULT_FILES, ["puzzle_id"]):
        needed += table.column("puzzle_id").chunks
    known = pc.unique(pa.concat_arrays(needed))
    found = [pa.array([], pa.string())]
    for path, table in _scan(lake, ASKED_FILES, ["puzzle_id"]):
        ids = table.column("puzzle_id")
        if path in old:
            found += ids.filter(pc.invert(pc.is_in(ids, value_set=known))).chunks
    gone = pc.unique(pa.concat_arrays(found))
    if len(gone):
        yield Old(
            table="results",
            count=len(gone),
            noun="puzzles of questions",
            delete=partial(drop_rows, lake, ASKED_FILES, (ASKED_FILES.key,), gone, paths=old),
        )


def _unneeded_dictionaries(
    lake: Lake, before: dt.datetime, ends: Mapping[str, int | None]
) -> Iterator[Old]:
    """Find words of single boards that no board has any more; several may share a dictionary."""
    old = set(_older(lake, SINGLES, before))
    if not old:
        return
    names = {
        json.loads(text).get(DICTIONARY)
        for _, table in _scan(lake, ASKED_FILES, ["puzzle"])
        for text in table.column("puzzle").to_pylist()
    }
    places = [puzzles_folder(game) for game in GAMES if game_plug(game).own_words]
    places += [f"{path}/puzzles" for path in lake.folders(CORPORA)]
    for place in places:
        for path in lake.list(place):
            names.update(_column(lake, path, DICTIONARY))
    for run in ends:
        for table in _planned(lake, run, [DICTIONARY]):
            names.update(table.column(DICTIONARY).to_pylist())
    gone = sorted(old - {single_path(name) for name in names if name})
    if gone:
        yield _of_files(lake, "results", "dictionaries", gone)


def _planned(lake: Lake, run_id: str, columns: list[str]) -> Iterator[pa.Table]:
    """Read columns of the boards that a run has planned; a run may be gone meanwhile."""
    for path in lake.list(f"{run_folder(run_id)}/manifest"):
        try:
            if path.endswith(".parquet") and set(columns) <= set(lake.schema(path).names):
                yield from lake.iter_row_groups(path, columns)
        except MissingFileError:
            continue


def _column(lake: Lake, path: str, name: str) -> Iterator[Any]:
    if path.endswith(".parquet") and name in lake.schema(path).names:
        for table in lake.iter_row_groups(path, [name]):
            yield from table.column(name).to_pylist()


def _scan(
    lake: Lake, place: MergedFolder, columns: Sequence[str]
) -> Iterator[tuple[str, pa.Table]]:
    """Read columns of every file of a folder, perhaps some rows twice.

    Raises DamagedFileError: what a file refers to that cannot be read is not known.
    """
    for paths in listings(lake, place):
        for path in paths:
            try:
                for table in lake.scan_file(path, place.schema, columns):
                    yield path, table
            except MissingFileError:
                continue  # Merged meanwhile: the folder is listed again.


def _older(lake: Lake, place: str, before: dt.datetime) -> list[str]:
    limit_ns = _unix_ns(before)
    stamps = lake.stamps(place, deep=True)
    return [path for path, (_, written_ns) in sorted(stamps.items()) if written_ns < limit_ns]


def _of_files(lake: Lake, table: str, noun: str, paths: list[str]) -> Old:
    sizes = [stamp[0] for path in paths if (stamp := lake.stamp(path)) is not None]

    def delete() -> None:
        for path in paths:
            lake.delete(path, durable=False)

    return Old(
        table=table, count=len(paths), noun=noun, paths=paths, freed_bytes=sum(sizes), delete=delete
    )


def _bytes_in(lake: Lake, folders: Iterable[str]) -> int:
    return sum(sum(lake.sizes(path).values()) for path in folders)


def _texts(values: Iterable[str]) -> pa.Array:
    return pa.array(sorted(values), pa.string())


def _unix_ns(time: dt.datetime) -> int:
    return int(time.timestamp()) * 10**9
