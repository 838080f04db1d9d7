"""How old the rows of results are, and which of them runs still hold.

A result row has no time. A published board is as old as the last date on which it stood. Any other
row is as old as the end of its run; where the run's folder is gone, it is taken to be as old as the
file that holds it, which was written after it: it may be older, and is never younger.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.json_files import parse_time, read_hint, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import BUDGET_COLUMNS, EDITIONS, RESULTS
from nightgrid.archive.merging.files import sizes_of
from nightgrid.archive.merging.without import keys_in
from nightgrid.archive.results.files import RESULT_FILES
from nightgrid.archive.skipped_files import skip_file
from nightgrid.workers.upkeep import delete_ended, ends_of_runs, parse_ends

UNSETTLED = dt.timedelta(days=2)
"""Boards whose files are younger may be of a question or a count that is under way: they are kept
before anything refers to them, those of a question once a day."""
KEY = RESULT_FILES.same
"""Columns that name a result row."""
_COLUMNS = (
    "job_id", "run_id", "status", "puzzle_id", "game", "ask", "rules", "lexicon_id",
    "solver_version", "count", "value", *BUDGET_COLUMNS,
)  # fmt: skip


def unix_ns(time: dt.datetime) -> int:
    """Give a time of whole seconds in nanoseconds of Unix time, as the stamps of files have it."""
    return int(time.timestamp()) * 10**9


def delete_old(lake: Lake, path: str, limit_ns: int) -> int | None:
    """Delete a file unless it was written anew since a time; return its bytes, None if it stays."""
    stamp = lake.stamp(path)
    if stamp is None or stamp[1] >= limit_ns:
        return None
    lake.delete(path, durable=False)
    return stamp[0]


def ends_path(game: str) -> str:
    """Name the note of when the runs ended that a call of retention deletes, until it ends."""
    return f"checked/{game}-pruned.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgedRows:
    """The result rows of a game, each once, and which of them are old enough to go."""

    rows: pa.Table
    """Columns of results, and `can_go`: old enough, and held by no run that goes on."""
    of_nights: pa.Array
    """Ids of the boards that nights have brought."""
    old_runs: dict[str, str]
    """When the runs that are there and old enough have ended, by id."""


def aged_rows(lake: Lake, game: str, before: dt.datetime) -> AgedRows:
    """Read the result rows of a game, with what is older than `before`.

    Takes about 300 bytes of memory a row. Raises DamagedFileError where boards or editions of the
    game cannot be read: nothing is dropped while it is not known which boards are published.
    """
    editions = lake.read_table(editions_path(game), EDITIONS, ["puzzle_id", "date"])
    puzzles = read_puzzle_table(lake, game, ["puzzle_id"]).column("puzzle_id")
    stands = editions.group_by("puzzle_id").aggregate([("date", "max")])
    there, ends = ends_of_runs(lake)
    told = read_hint(lake, ends_path(game), parse_ends) or {}
    old = {run_id: when for run_id, when in {**told, **ends}.items() if parse_time(when) < before}
    rows = _read(lake, game)
    date = stands.column("date_max").take(
        pc.index_in(rows.column("puzzle_id"), value_set=stands.column("puzzle_id"))
    )
    is_old_run = pc.is_in(rows.column("run_id"), value_set=_texts(old))
    written_ns = unix_ns(before)
    is_old = pc.if_else(
        pc.is_valid(date),
        pc.less(date, pa.scalar(before.date(), pa.date32())),
        pc.or_(is_old_run, pc.less(rows.column("written_ns"), written_ns)),
    )
    held = pc.is_in(rows.column("run_id"), value_set=_texts(there.difference(old)))
    can_go = pc.and_(pc.fill_null(is_old, False), pc.invert(held))
    # A row that stands in two files is as old as the older of them.
    keys = keys_in(rows, KEY)
    can_go = pc.is_in(keys, value_set=pc.unique(keys.filter(can_go)))
    rows = rows.drop_columns(["written_ns"]).append_column("can_go", can_go)
    brought = pc.unique(
        pa.chunked_array([*puzzles.chunks, *editions.column("puzzle_id").chunks], pa.string())
    )
    return AgedRows(
        rows=_each_once(rows),
        of_nights=brought,
        old_runs={run_id: when for run_id, when in old.items() if run_id in there},
    )


def _each_once(rows: pa.Table) -> pa.Table:
    """Keep one of the rows with one key."""
    if not len(rows):
        return rows
    keys = pa.table({"key": keys_in(rows, KEY), "at": pa.array(range(len(rows)))})
    first = keys.group_by("key").aggregate([("at", "min")]).column("at_min")
    return rows.take(first) if len(first) < len(rows) else rows


def _read(lake: Lake, game: str) -> pa.Table:
    """Read the rows of a game, with the time of the file that holds each."""
    schema = pa.schema([*(RESULTS.field(name) for name in _COLUMNS), ("written_ns", pa.int64())])
    found = [schema.empty_table()]
    stamps = lake.stamps(RESULT_FILES.path)
    for path in sizes_of(lake, RESULT_FILES):
        written = pa.scalar(stamps[path][1] if path in stamps else 2**62, pa.int64())
        try:
            for table in lake.scan_file(path, RESULTS, _COLUMNS):
                mine = table.filter(pc.equal(table.column("game"), game))
                times = pa.repeat(written, len(mine))
                found.append(mine.append_column("written_ns", times).cast(schema))
        except DamagedFileError as error:
            skip_file(path, error)
    return pa.concat_tables(found)


def drop_runs_of(lake: Lake, game: str, aged: AgedRows, run_ids: Collection[str]) -> int:
    """Delete the folders of runs whose rows are to go: nothing makes these rows again.

    When they ended is noted before, so that a call that is killed is ended by the next one.
    Returns the bytes of the folders.
    """
    mine = {run: when for run, when in aged.old_runs.items() if run in run_ids}
    if not mine:
        return 0
    freed = sum(sum(lake.sizes(f"runs/run={run_id}").values()) for run_id in mine)
    told = read_hint(lake, ends_path(game), parse_ends) or {}
    write_json(lake, ends_path(game), {**told, **mine}, checked=True)
    for run_id in mine:
        delete_ended(lake, run_id)
    return freed


def _texts(values: Collection[str]) -> pa.Array:
    return pa.array(sorted(values), pa.string())
