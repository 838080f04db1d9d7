"""Gold: small tables for people, made anew from editions, puzzles and results."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from archive.columns import arrays_of
from archive.lake import Lake
from archive.normalise import editions_path
from archive.pips import GAME
from archive.puzzles import read_puzzle_table
from archive.results import find_results, find_results_of
from archive.tables import COUNTS_BY_DATE, EDITIONS, RUNTIMES
from solvers.algebra import Ask, Status, job_id
from solvers.errors import InvalidPuzzleError
from solvers.pips.check import check_solution, solution_from_json
from solvers.pips.columns import from_arrays

COUNTS_PATH = "gold/counts_by_date.parquet"
RUNTIMES_PATH = "gold/runtimes.parquet"
PENDING = "pending"
"""Status of an edition whose puzzle has no result yet."""
UNPUBLISHED = "unpublished"
"""Level under which runtimes file puzzles that stand in no edition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldReport:
    """The tables as they are now, and whether a file had to be written."""

    counts: pa.Table
    runtimes: pa.Table
    changed: bool


def write_gold(
    lake: Lake, *, solver_version: str, game: str = GAME, ask: Ask | None = None
) -> GoldReport:
    """Make the gold tables anew from what the lake holds; unchanged tables are not written.

    Results count when they answer `ask` (count, unless given) by that solver version.
    """
    ask = ask or Ask(kind="count")
    counts = counts_by_date(lake, solver_version=solver_version, game=game, ask=ask)
    times = runtimes(lake, solver_version=solver_version, game=game, ask=ask)
    changed = _put(lake, COUNTS_PATH, counts, game)
    changed |= _put(lake, RUNTIMES_PATH, times, game)
    return GoldReport(counts=counts, runtimes=times, changed=changed)


def current_editions(lake: Lake, game: str = GAME) -> pa.Table:
    """Read the current revision of every (date, level), sorted by date and level."""
    table = lake.read_table(editions_path(game), EDITIONS)
    table = table.sort_by([(name, "ascending") for name in ("date", "level", "revision")])
    places = list(
        zip(table.column("date").to_pylist(), table.column("level").to_pylist(), strict=True)
    )
    last = [place != after for place, after in zip(places, [*places, None][1:], strict=True)]
    return table.filter(pa.array(last, pa.bool_()))


def counts_by_date(
    lake: Lake, *, solver_version: str, game: str = GAME, ask: Ask | None = None
) -> pa.Table:
    """Join current editions with their results; an edition without one is pending."""
    ask = ask or Ask(kind="count")
    editions = current_editions(lake, game).to_pylist()
    jobs = {
        row["puzzle_id"]: job_id(puzzle_id=row["puzzle_id"], ask=ask, solver_version=solver_version)
        for row in editions
    }
    results = {row["job_id"]: row for row in find_results(lake, jobs.values()).to_pylist()}
    boards = _Boards(lake, list(jobs))
    rows = []
    for edition in editions:
        result = results.get(jobs[edition["puzzle_id"]], {})
        row = {name: edition[name] for name in ("game", "date", "level", "revision", "puzzle_id")}
        row |= {
            "size": boards.size(edition["puzzle_id"]),
            "status": result.get("status", PENDING),
            "count": result.get("count"),
            "states": result.get("states", 0),
            "kernel_ns": result.get("kernel_ns", 0),
            "official_solution_valid": boards.is_solution(edition),
        }
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=COUNTS_BY_DATE)


def runtimes(
    lake: Lake, *, solver_version: str, game: str = GAME, ask: Ask | None = None
) -> pa.Table:
    """Sum up what the kernels cost, per level; a puzzle counts in every level it ever stood in."""
    results = find_results_of(
        lake, game=game, ask=str(ask or Ask(kind="count")), solver_version=solver_version
    )
    editions = lake.read_table(editions_path(game), EDITIONS, ["puzzle_id", "level"])
    levels = editions.group_by(["puzzle_id", "level"]).aggregate([])
    joined = results.select(["puzzle_id", "status", "kernel_ns", "states"]).join(
        levels, "puzzle_id", join_type="left outer"
    )
    level_of = joined.column("level").fill_null(UNPUBLISHED)
    rows = []
    for level in sorted(pc.unique(level_of).to_pylist()):
        part = joined.filter(pc.equal(level_of, level))
        kernel_ns = part.column("kernel_ns").to_numpy()
        solved = pc.sum(pc.equal(part.column("status"), str(Status.SOLVED))).as_py()
        rows.append(
            {
                "game": game,
                "level": level,
                "job_count": len(part),
                "solved_count": solved,
                # Nearest rank: a time that a job really took.
                "kernel_ns_p50": int(np.percentile(kernel_ns, 50, method="inverted_cdf")),
                "kernel_ns_p99": int(np.percentile(kernel_ns, 99, method="inverted_cdf")),
                "kernel_ns_max": int(kernel_ns.max()),
                "kernel_ns_total": int(kernel_ns.sum()),
                "states_total": pc.sum(part.column("states")).as_py(),
            }
        )
    return pa.Table.from_pylist(rows, schema=RUNTIMES)


class _Boards:
    """Boards of the puzzles table by puzzle_id."""

    def __init__(self, lake: Lake, puzzle_ids: list[str]) -> None:
        table = read_puzzle_table(lake)
        wanted = pc.is_in(table.column("puzzle_id"), value_set=pa.array(puzzle_ids, pa.string()))
        table = table.filter(wanted)
        self._arrays = arrays_of(table)
        self._rows = {name: i for i, name in enumerate(table.column("puzzle_id").to_pylist())}

    def size(self, puzzle_id: str) -> int:
        return int(self._arrays["size"][self._rows[puzzle_id]])

    def is_solution(self, edition: dict[str, Any]) -> bool | None:
        """Check an edition's official solution against the board as the lake has it."""
        if edition["official_solution"] is None:
            return None
        puzzle = from_arrays(self._arrays, self._rows[edition["puzzle_id"]])
        try:
            check_solution(puzzle, solution_from_json(json.loads(edition["official_solution"])))
        except InvalidPuzzleError:
            return False
        return True


def _put(lake: Lake, path: str, table: pa.Table, game: str) -> bool:
    """Put a game's rows in the place of those that a gold table has; tell whether that is new."""
    before = lake.read_table(path, table.schema)
    others = before.filter(pc.not_equal(before.column("game"), game))
    merged = pa.concat_tables([others, table]).sort_by("game")
    if lake.exists(path) and merged.equals(before):
        return False
    lake.write_table(path, merged)
    return True
