"""What the kernels cost, by ask and level: one of the tables of gold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS, RUNTIMES
from nightgrid.archive.results.gold.answers import Answers
from nightgrid.archive.results.results import once_a_job
from nightgrid.solvers.algebra import Ask, Status
from nightgrid.solvers.game_contract import Game

UNPUBLISHED = "unpublished"
"""Level under which puzzles are filed that stand in no edition."""
_TIMES = ("job_id", "run_id", "puzzle_id", "status", "kernel_ns", "states")


def runtimes(
    lake: Lake,
    game: Game[Any, Any],
    asks: Sequence[Ask],
    answers: Answers | None = None,
    stands: pa.Table | None = None,
) -> pa.Table:
    """Sum up what the kernels cost, per ask and level.

    A puzzle counts in every level that it ever stood in. The answer of `find_results` counts
    for a job that ended several times. Percentiles are times that a job really took. `answers`,
    and `stands` with the `puzzle_id` and `level` of all editions, are read when not given.
    """
    answers = answers or Answers(lake, game, asks)
    if stands is None:
        stands = lake.read_table(editions_path(game.name), EDITIONS, ["puzzle_id", "level"])
    found = (sum_up(game.name, ask, answers.all_to(ask), stands) for ask in asks)
    return pa.concat_tables([RUNTIMES.empty_table(), *found])


def sum_up(game: str, ask: Ask, answers: pa.Table, stands: pa.Table) -> pa.Table:
    """Sum up the answers to one ask, given the levels in which puzzles ever stood."""
    rows = once_a_job(answers.select(list(_TIMES)))
    found = [
        {"game": game, "ask": str(ask), "level": level, **_summed(times)}
        for level, times in _by_level(rows, stands)
    ]
    return pa.Table.from_pylist(found, schema=RUNTIMES)


def _by_level(rows: pa.Table, stands: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Give the rows of each level that has some, by the names of levels."""
    ids, levels = rows.column("puzzle_id"), stands.column("level")
    is_in = {
        level: pc.is_in(ids, value_set=stands.column("puzzle_id").filter(pc.equal(levels, level)))
        for level in pc.unique(levels).to_pylist()
    }
    is_in[UNPUBLISHED] = pc.invert(pc.is_in(ids, value_set=stands.column("puzzle_id")))
    for level in sorted(is_in):
        if len(here := rows.filter(is_in[level])):
            yield level, here


def _summed(rows: pa.Table) -> dict[str, int]:
    times = np.sort(rows.column("kernel_ns").to_numpy())
    # The nearest rank: the least time that so many of a hundred jobs did not exceed.
    p50, p99 = (int(times[-(-len(times) * share // 100) - 1]) for share in (50, 99))
    return {
        "job_count": len(rows),
        "solved_count": pc.sum(pc.equal(rows.column("status"), str(Status.SOLVED))).as_py(),
        "kernel_ns_p50": p50,
        "kernel_ns_p99": p99,
        "kernel_ns_max": int(times[-1]),
        "kernel_ns_total": int(times.sum()),
        "states_total": pc.sum(rows.column("states")).as_py(),
    }
