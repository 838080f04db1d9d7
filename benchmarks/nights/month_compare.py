"""Compare the lake of a simulated month with one that a single run built over the final state.

What must agree: every board; the current editions in every column but `revision`, `seen_at` and
`raw_sha256` (which say when and how often something was seen); every result and solution of these
boards in every column but `kernel_ns` and `run_id`, and where a job was divided otherwise but what
it took; gold in every column but `revision`, `states` and times.
The lake of the month has more: boards, revisions, results and quarantine of what was published in
between. None of that is lost, and nothing else is there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.nights.month_source import Served
from nightgrid.archive.games import reader
from nightgrid.archive.ingest.editions import (
    current_editions,
    editions_path,
    observations_path,
    quarantine_path,
)
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.ingest.raw import RawArchive
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import (
    COUNTS_BY_DATE,
    EDITIONS,
    OBSERVATIONS,
    QUARANTINE,
    RUNTIMES,
    SOLUTIONS,
    ranks_schema,
)
from nightgrid.archive.merging.merge import without_repeats
from nightgrid.archive.payloads.published import Published
from nightgrid.archive.results.files import SOLUTION_FILES
from nightgrid.archive.results.gold.gold import COUNTS_PATH, RUNTIMES_PATH, ranks_path
from nightgrid.archive.results.results import read_results
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.solvers.errors import PermanentError

WHEN_SEEN = ("revision", "seen_at", "raw_sha256", "url")
TIMES = ("kernel_ns", "run_id")
WORK = ("states", "nodes", "parts", "table_bytes")
"""What a job took. It depends on how it was divided, and that on what the lake has learned of costs
(docs/reference/lake.md): answers agree, these where a job was divided alike."""


@dataclass(slots=True, kw_only=True)
class Compared:
    """What a comparison found."""

    rows: dict[str, int]
    """Rows that agree, by table."""
    more: dict[str, int]
    """Rows that the month has beyond the single run, by table."""
    wrong: list[str]
    """One sentence for each thing that is not as it should be."""


def compare(month: Lake, single: Lake, games: Sequence[str], served: Sequence[Served]) -> Compared:
    """Compare two lakes; `served` is what nights that ended were given, in order."""
    found = Compared(rows={}, more={}, wrong=[])
    for game in games:
        _boards(found, month, single, game)
        _editions(found, month, single, game)
        _revisions(found, month, game)
        _sightings(found, month, single, game, [one for one in served if one.game == game])
        _gold(found, month, single, game)
    _results(found, month, single)
    _solutions(found, month, single)
    found.wrong += [
        f"lake check: {fault.path}: {fault.what}"
        for lake in (month, single)
        for fault in check_lake_files(lake)
    ]
    for game in games:
        _rebuilt(found, month, game)
    return found


def _boards(found: Compared, month: Lake, single: Lake, game: str) -> None:
    ours, theirs = read_puzzle_table(month, game), read_puzzle_table(single, game)
    _agree(found, f"puzzles.{game}", ours, theirs, ("puzzle_id",))
    editions = month.read_table(editions_path(game), EDITIONS)
    told = set(editions.column("puzzle_id").to_pylist())
    surplus = set(ours.column("puzzle_id").to_pylist()) - told
    if surplus:
        found.wrong.append(f"puzzles.{game}: {len(surplus)} boards stand in no edition")


def _editions(found: Compared, month: Lake, single: Lake, game: str) -> None:
    key = ("date", "level")
    ours, theirs = (
        current_editions(lake, game).drop_columns(["revision", "seen_at", "raw_sha256"])
        for lake in (month, single)
    )
    _agree(found, f"current editions of {game}", ours, theirs, key, surplus=False)
    every = month.read_table(editions_path(game), EDITIONS)
    found.more[f"current editions of {game}"] = len(every) - len(ours)
    tables = [lake.read_table(observations_path(game), OBSERVATIONS) for lake in (month, single)]
    ours, theirs = (table.drop_columns(["raw_sha256", "seen_at", "url"]) for table in tables)
    _agree(found, f"observations of {game}", ours, theirs, tuple(ours.column_names), surplus=False)


def _revisions(found: Compared, month: Lake, game: str) -> None:
    """Make the revisions anew, from the payloads alone, and compare."""
    raw, reads = RawArchive(month, game), reader(game)
    expected: dict[tuple[Any, str], list[str]] = defaultdict(list)
    broken: set[tuple[Any, str]] = set()
    for date in raw.dates():
        for sighting in raw.of(date):
            if sighting.fault_rule is not None:
                broken.add((date, sighting.sha256))
                continue
            try:
                items = reads.read_payload(raw.body(sighting), date)
            except PermanentError as error:
                found.wrong.append(str(error))
                continue
            for item in items:
                if not isinstance(item, Published):
                    broken.add((date, sighting.sha256))
                    continue
                shown = expected[date, item.level or ""]
                if not shown or shown[-1] != item.puzzle.puzzle_id:
                    shown.append(item.puzzle.puzzle_id)
    there: dict[tuple[Any, str], list[str]] = defaultdict(list)
    rows = month.read_table(editions_path(game), EDITIONS)
    rows = rows.sort_by([(name, "ascending") for name in ("date", "level", "revision")])
    for row in rows.to_pylist():
        there[row["date"], row["level"]].append(row["puzzle_id"])
    if there != expected:
        found.wrong.append(f"revisions of {game} are not those that its payloads show")
    quarantine = month.read_table(quarantine_path(game), QUARANTINE)
    told = {(row["date"], row["raw_sha256"]) for row in quarantine.to_pylist()}
    if told != broken:
        found.wrong.append(f"quarantine of {game} is not of the payloads that break a rule")
    found.rows[f"revisions of {game}"] = sum(map(len, expected.values()))
    found.rows[f"payloads of {game} in quarantine"] = len(broken)


def _sightings(
    found: Compared, month: Lake, single: Lake, game: str, served: Sequence[Served]
) -> None:
    """Look whether every payload that was given is there, in its order, and the last one last."""
    raw, last = RawArchive(month, game), RawArchive(single, game)
    given: dict[Any, list[str]] = defaultdict(list)
    for one in served:
        if not given[one.date] or given[one.date][-1] != one.sha256:
            given[one.date].append(one.sha256)
    for date, shas in given.items():
        kept = iter([sighting.sha256 for sighting in raw.of(date)])
        if not all(sha in kept for sha in shas):
            found.wrong.append(f"{game} {date}: payloads are lost: {len(shas)} were given")
    for date in last.dates():
        if [*raw.of(date)][-1].sha256 != [*last.of(date)][-1].sha256:
            found.wrong.append(f"{game} {date}: the payload that was seen last is another one")
    found.rows[f"payloads of {game} that were given"] = sum(map(len, given.values()))


def _results(found: Compared, month: Lake, single: Lake) -> None:
    ours, theirs = (read_results(lake).drop_columns(list(TIMES)) for lake in (month, single))
    divided = dict(zip(*(theirs.column(n).to_pylist() for n in ("job_id", "parts")), strict=True))
    rows = ours.to_pylist()
    otherwise = {
        row["job_id"] for row in rows if divided.get(row["job_id"], row["parts"]) != row["parts"]
    }
    found.rows["results of jobs that were divided otherwise"] = len(otherwise)
    for is_otherwise, name in (
        (False, "results"),
        (True, "results of jobs that were divided otherwise"),
    ):
        tables = [
            table.filter(
                pc.equal(
                    pc.is_in(table.column("job_id"), value_set=pa.array(otherwise, pa.string())),
                    is_otherwise,
                )
            )
            for table in (ours, theirs)
        ]
        if is_otherwise:
            tables = [table.drop_columns(list(WORK)) for table in tables]
        _agree(found, name, *tables, ("job_id",))
    names = ours.column("job_id").to_pylist()
    if len(set(names)) < len(names):
        found.wrong.append(f"results: {len(names) - len(set(names))} jobs have two rows")


def _solutions(found: Compared, month: Lake, single: Lake) -> None:
    ours, theirs = (
        without_repeats(
            SOLUTION_FILES, lake.read_table("solutions", SOLUTIONS).combine_chunks()
        ).drop_columns(["run_id"])
        for lake in (month, single)
    )
    _agree(found, "solutions", ours, theirs, ("job_id", "rank"))


def _gold(found: Compared, month: Lake, single: Lake, game: str) -> None:
    drop = {"revision", "kernel_ns", "states"}
    for path, schema in ((COUNTS_PATH, COUNTS_BY_DATE), (ranks_path(game), ranks_schema(game))):
        names = [name for name in schema.names if name not in drop]
        ours, theirs = (
            _of_game(lake, path, schema, game).select(names) for lake in (month, single)
        )
        key = tuple(name for name in ("date", "level", "ask") if name in names)
        _agree(found, f"{path.split('/')[1]} of {game}", ours, theirs, key, surplus=False)
    ours, theirs = (_of_game(lake, RUNTIMES_PATH, RUNTIMES, game) for lake in (month, single))
    for row in _asked_more(month, single, game, ours, theirs):
        found.wrong.append(row)


def _asked_more(
    month: Lake, single: Lake, game: str, ours: pa.Table, theirs: pa.Table
) -> Iterator[str]:
    """Compare runtimes by their jobs: those of the single run, and of boards in between."""
    ever: dict[str, int] = {}
    for lake, sign in ((month, 1), (single, -1)):
        rows = lake.read_table(editions_path(game), EDITIONS).select(["level", "puzzle_id"])
        for row in rows.group_by(["level", "puzzle_id"]).aggregate([]).to_pylist():
            ever[row["level"]] = ever.get(row["level"], 0) + sign
    jobs = {(row["ask"], row["level"]): row["job_count"] for row in ours.to_pylist()}
    for row in theirs.to_pylist():
        wanted = row["job_count"] + ever.get(row["level"], 0)
        there = jobs.get((row["ask"], row["level"]))
        if there != wanted:
            yield f"runtimes of {game} {row['ask']} {row['level']}: {there} jobs, not {wanted}"


def _rebuilt(found: Compared, month: Lake, game: str) -> None:
    """Make all tables of boards anew from the raw payloads: they must be what they were."""
    paths = {editions_path(game): EDITIONS, quarantine_path(game): QUARANTINE}
    before = {path: month.read_table(path, schema) for path, schema in paths.items()}
    boards = read_puzzle_table(month, game).num_rows
    normalise(month, game=game, rebuild=True)
    if any(
        not month.read_table(path, schema).equals(before[path]) for path, schema in paths.items()
    ):
        found.wrong.append(f"tables of {game} made again from the payloads are other ones")
    if read_puzzle_table(month, game).num_rows != boards:
        found.wrong.append(f"puzzles.{game} made again from the payloads are more or fewer")


def _of_game(lake: Lake, path: str, schema: pa.Schema, game: str) -> pa.Table:
    table = lake.read_table(path, schema)
    return table.filter(pc.equal(table.column("game"), game))


def _agree(
    found: Compared,
    name: str,
    ours: pa.Table,
    theirs: pa.Table,
    key: Collection[str],
    *,
    surplus: bool = True,
) -> None:
    """Look whether all rows of the second table stand in the first, equal in all columns."""
    names = list(key)
    rows = {tuple(row[k] for k in names): row for row in ours.to_pylist()}
    lost = differing = 0
    columns: set[str] = set()
    for row in theirs.to_pylist():
        there = rows.get(tuple(row[k] for k in names))
        if there is None:
            lost += 1
        elif there != row:
            differing += 1
            columns |= {column for column in row if row[column] != there[column]}
    found.rows[name] = len(theirs)
    found.more[name] = len(ours) - len(theirs)
    if lost:
        found.wrong.append(f"{name}: {lost} rows are lost")
    if differing:
        found.wrong.append(f"{name}: {differing} rows differ in {', '.join(sorted(columns))}")
    if not surplus and len(ours) != len(theirs):
        found.wrong.append(f"{name}: {len(ours) - len(theirs)} rows too many")
