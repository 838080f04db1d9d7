"""Random Pips boards with a given number of solutions or difficulty, by rejection sampling."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import starmap

from nightgrid.service.games.plug import Wanted
from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.child_processes import pool_of
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.pips.generate.generator import SEEDS_PER_STREAM, generate
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.solution import Solution
from nightgrid.solvers.registry import game

DRAWS_MAX = 20_000
"""Most boards drawn for one that fits."""
BUDGET = Budget(nodes=1_000_000, seconds=3_600)
"""Limit of counting a board; one beyond it does not fit, on slow and fast machines alike."""
_DRAW = SEEDS_PER_STREAM**2
"""Distance between the seeds for two boards: beyond every stream of boards."""


def wanted_boards(
    seed: int, n: int, levels: Sequence[str], wanted: Wanted
) -> Iterator[tuple[Puzzle, Solution]]:
    """Generate n boards that go round the levels and fit, on every core, in order.

    The same seed gives the same boards, whatever the number of cores. Raises PermanentError if none
    of DRAWS_MAX boards of a level fits.
    """
    tasks = [(seed * SEEDS_PER_STREAM + i, levels[i % len(levels)], wanted) for i in range(n)]
    # The first ones in this process, so that kernels are compiled once.
    yield from starmap(_draw_until_fits, tasks[: len(levels)])
    rest = tasks[len(levels) :]
    if not rest:
        return
    with pool_of(min(len(rest), os.cpu_count() or 1)) as pool:
        yield from pool.map(_draw_until_fits, *zip(*rest, strict=True))


def _draw_until_fits(seed: int, level: str, wanted: Wanted) -> tuple[Puzzle, Solution]:
    pips = game("pips")
    low, high = wanted.states or (0, BUDGET.nodes)
    for i in range(DRAWS_MAX):
        puzzle, solution = generate(PRESETS[level], seed + i * _DRAW)
        outcome = pips.solve(puzzle, Ask(kind="count"), None, BUDGET)
        fits = outcome.status is Status.SOLVED and low <= outcome.statistics.states <= high
        if fits and (outcome.count == 1 or not wanted.unique):
            return puzzle, solution
    raise PermanentError(
        f"none of {DRAWS_MAX:,} random boards of level {level} fits; expected another --level or a "
        "wider --difficulty"
    )
