"""Retention: list everything older than the age for its kind of file, then delete it.

- `results`: result rows, with their solutions, that are obsolete: of boards that no night has
  fetched, and of earlier versions of the solver if the present one has answered too.
- `corpora`: corpora that no run reads; the same count generates them again.
- `runs`: folders of runs that have ended; their results stay.
- `damaged`: files that a repair has moved away.

Current answers about the boards of nights stay, and everything that nights have received.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.corpus.corpora import CORPORA
from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.ingest.puzzles import PUZZLE_ID, read_puzzle_table
from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.schemas import EDITIONS, RESULTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.files import listings
from nightgrid.archive.merging.merge import drop_rows, keys_in
from nightgrid.archive.results.contradictions import COMPARED
from nightgrid.archive.results.files import RESULT_FILES, SOLUTION_FILES
from nightgrid.archive.results.solution_files import files_folder
from nightgrid.archive.results.statuses import is_among
from nightgrid.archive.state import write_state
from nightgrid.archive.words.binding import bind_game
from nightgrid.flows.maintenance.repair import LEASE, maintaining
from nightgrid.solvers.algebra import MEANT
from nightgrid.solvers.registry import GAMES, game_plug
from nightgrid.solvers.registry import game as game_named
from nightgrid.workers.lease import check_held
from nightgrid.workers.runs.run_files import folder as run_folder
from nightgrid.workers.upkeep import ends_of_runs, old_runs, prune_runs

_JOB = ("job_id", "run_id")
_QUESTION = ("puzzle_id", "ask", "rules", "lexicon_id")
_COLUMNS = tuple(dict.fromkeys((*_JOB, *_QUESTION, "game", "solver_version", *RESULT_FILES.same)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Old:
    """Items past their retention."""

    table: str
    count: int
    noun: str
    """Noun for the count: `ended runs`."""
    paths: list[str] = field(default_factory=list)
    """Files and folders that are deleted as a whole."""
    freed_bytes: int = 0
    """Their size in bytes; rows deleted from larger files are not included."""
    delete: Callable[[], object]

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        names = ("table", "count", "noun", "paths", "freed_bytes")
        return {name: getattr(self, name) for name in names}


def prune_lake(
    lake: Lake,
    keep_days: Mapping[str, float],
    *,
    dry_run: bool = False,
    now: dt.datetime | None = None,
) -> Iterator[Old]:
    """List everything past its retention, and delete it unless it is a dry run.

    `keep_days` maps names of TABLES to days. Killed anywhere, the same call continues. Raises
    TransientError while a night is running on the lake.
    """
    now = now or dt.datetime.now(dt.UTC)
    listed: set[str] = set()
    with nullcontext() if dry_run else maintaining(lake):
        for table, days in keep_days.items():
            for old in TABLES[table](lake, now - dt.timedelta(days=days), listed):
                if not dry_run:
                    check_held(lake, LEASE)
                    old.delete()
                listed.update(old.paths)
                yield old


def _whole(
    lake: Lake, table: str, noun: str, paths: list[str], delete: Callable[[], object]
) -> Iterator[Old]:
    """Return one entry of files and folders to delete as a whole; nothing if there are none."""
    if paths:
        freed = _bytes_in(lake, paths)
        yield Old(
            table=table, count=len(paths), noun=noun, paths=paths, freed_bytes=freed, delete=delete
        )


def _old_runs(lake: Lake, before: dt.datetime, listed: Collection[str]) -> Iterator[Old]:
    runs = [run for run in old_runs(lake, before) if run_folder(run) not in listed]
    paths = [run_folder(run) for run in runs]
    return _whole(lake, "runs", "ended runs", paths, partial(prune_runs, lake, runs))


def _old_damaged(lake: Lake, before: dt.datetime, _: Collection[str]) -> Iterator[Old]:
    old = _older(lake, "damaged", before)

    def delete() -> None:
        for path in old:
            lake.delete(path, durable=False)

    return _whole(lake, "damaged", "files that a repair moved away", old, delete)


def _old_corpora(lake: Lake, before: dt.datetime, _: Collection[str]) -> Iterator[Old]:
    """Find corpora; none while a run is unfinished, since it may read one."""
    limit_ns = _unix_ns(before)
    old = [
        path
        for path in lake.folders(CORPORA)
        if all(written < limit_ns for _, written in lake.stamps(path, deep=True).values())
    ]
    if None in ends_of_runs(lake).values():
        old = []
    return _whole(lake, "corpora", "corpora", old, partial(_delete_corpora, lake, old))


def _delete_corpora(lake: Lake, folders: list[str]) -> None:
    for path in folders:
        # Without a slice it is not complete.
        for slice_path in lake.list(path):
            lake.delete(slice_path, durable=False)


def _old_results(lake: Lake, before: dt.datetime, listed: Collection[str]) -> Iterator[Old]:
    """Find old result rows by game."""
    ends = ends_of_runs(lake)
    for game in sorted(GAMES):
        rows, is_old = _result_rows(lake, game, ends, before)
        goes = pc.and_(is_old, _unasked(lake, game, rows))
        going = rows.filter(goes)
        if len(going):
            runs = sorted(set(going.column("run_id").to_pylist()))
            folders = [run_folder(run) for run in runs if run in ends]
            folders += [path for path in map(files_folder, runs) if lake.exists(path)]
            folders = [path for path in folders if path not in listed]
            yield Old(
                table="results",
                count=len(pc.unique(keys_in(going, RESULT_FILES.same))),
                noun=f"rows of {game}",
                paths=folders,
                freed_bytes=_bytes_in(lake, folders),
                delete=partial(_delete_rows, lake, game, going),
            )


TABLES: dict[str, Callable[[Lake, dt.datetime, Collection[str]], Iterator[Old]]] = {
    "results": _old_results,
    "corpora": _old_corpora,
    "runs": _old_runs,
    "damaged": _old_damaged,
}
"""Functions that find items older than a time, by the name after `--keep`.

They leave out paths that another table has listed."""


def _result_rows(
    lake: Lake, game: str, ends: Mapping[str, int | None], before: dt.datetime
) -> tuple[pa.Table, pa.ChunkedArray]:
    """Read the result rows of a game, maybe some twice, and which of them are old.

    The age of a row is that of the end of its run, or of its file if the run is gone: a row may be
    older, never younger. Raises DamagedFileError.
    """
    limit_ns = _unix_ns(before)
    there = pa.array(sorted(ends), pa.string())
    old = (run for run, end in ends.items() if end is not None and end < limit_ns)
    ended = pa.array(sorted(old), pa.string())
    found = [pa.schema([RESULTS.field(name) for name in _COLUMNS]).empty_table()]
    is_old = [pa.array([], pa.bool_())]
    stamps = lake.stamps(RESULT_FILES.path)
    for path in (path for paths in listings(lake, RESULT_FILES) for path in paths):
        is_file_old = path in stamps and stamps[path][1] < limit_ns
        # The file was merged meanwhile: the folder is listed again.
        with suppress(MissingFileError):
            for table in lake.scan_file(path, RESULTS, _COLUMNS):
                rows = table.filter(pc.equal(table.column("game"), game))
                runs = rows.column("run_id")
                has_run = pc.is_in(runs, value_set=there)
                has_ended = pc.is_in(runs, value_set=ended)
                is_old += pc.if_else(has_run, has_ended, pa.scalar(is_file_old)).chunks
                found.append(rows.cast(found[0].schema))
    return pa.concat_tables(found), pa.chunked_array(is_old, pa.bool_())


def _unasked(lake: Lake, game: str, rows: pa.Table) -> pa.ChunkedArray:
    """Return which rows are obsolete.

    They belong to a board that no night has fetched, or to an earlier version of the solver if the
    present one has answered too.
    """
    ranks = game_plug(game).answers(MEANT)
    present = [game_named(game).solver_version]
    present += [bind_game(game, ask=MEANT).solver_version] if ranks else []
    is_present = is_among(rows.column("solver_version"), present)
    answered = keys_in(rows.filter(is_present), _QUESTION)
    repeated = pc.is_in(keys_in(rows, _QUESTION), value_set=answered)
    brought = pc.is_in(rows.column("puzzle_id"), value_set=_published(lake, game))
    return pc.or_(pc.invert(brought), pc.and_(pc.invert(is_present), repeated))


def _published(lake: Lake, game: str) -> pa.Array:
    """Read the ids of the boards that nights have fetched, including those of earlier editions."""
    editions = lake.read_table(editions_path(game), EDITIONS, [PUZZLE_ID])
    boards = read_puzzle_table(lake, game, [PUZZLE_ID])
    chunks = editions.column(PUZZLE_ID).chunks + boards.column(PUZZLE_ID).chunks
    return pc.unique(pa.chunked_array(chunks, pa.string()))


def _delete_rows(lake: Lake, game: str, going: pa.Table) -> None:
    """Delete rows, but first the folders of their runs, which would restore them."""
    prune_runs(lake, sorted(set(going.column("run_id").to_pylist())))
    drop_rows(lake, SOLUTION_FILES, _JOB, pc.unique(keys_in(going, _JOB)))
    for job_id, run_id in zip(*(going.column(name).to_pylist() for name in _JOB), strict=True):
        for path in lake.list(f"{files_folder(run_id)}/{job_id}"):
            lake.delete(path, durable=False)
    drop_rows(lake, RESULT_FILES, RESULT_FILES.same, pc.unique(keys_in(going, RESULT_FILES.same)))
    # The next night compares the remaining rows.
    write_state(lake, game, COMPARED, {})


def _older(lake: Lake, place: str, before: dt.datetime) -> list[str]:
    limit_ns = _unix_ns(before)
    stamps = lake.stamps(place, deep=True)
    return [path for path, (_, written_ns) in sorted(stamps.items()) if written_ns < limit_ns]


def _bytes_in(lake: Lake, folders: Iterable[str]) -> int:
    """Return the total size of folders, and of files among them."""
    found = ((lake.stamp(path), lake.sizes(path)) for path in folders)
    return sum(sum(sizes.values()) if sizes else stamp[0] if stamp else 0 for stamp, sizes in found)


def _unix_ns(time: dt.datetime) -> int:
    return int(time.timestamp()) * 10**9
