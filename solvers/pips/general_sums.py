"""Subset sums: every tile has one half in the one region that sums, the other in no region.

Each domino lies one way or the other, so a solution is a choice of halves with the right sum and
any arrangement of the dominoes on the tiles. The sums of the first half of the dominoes and of the
second are listed, equal ones merged, and matched (meet in the middle).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from solvers.pips.general_budget import Purse

DOMINOES_MAX = 62
"""Ways to turn so many dominoes still fit 63 bits."""

I64 = npt.NDArray[np.int64]


def count_sums(dominoes: list[tuple[int, int, int]], target: int, purse: Purse) -> int:
    """Count the arrangements of (pips, pips, copies) on as many tiles whose halves sum to target.

    At most DOMINOES_MAX dominoes in all. Raises BudgetSpentError.
    """
    least = sum(a * n for a, _, n in dominoes)
    rest = target - least
    if not 0 <= rest <= sum((b - a) * n for a, b, n in dominoes):
        return 0
    # Relative to the smaller halves: every domino adds its difference or nothing.
    steps = sorted(((b - a, n) for a, b, n in dominoes if a < b), reverse=True)
    one, one_ways = _sums(steps[::2], rest, purse)
    other, other_ways = _sums(steps[1::2], rest, purse)
    at = np.minimum(np.searchsorted(other, rest - one), len(other) - 1)
    hit = other[at] == rest - one
    choices = int((one_ways[hit].astype(object) * other_ways[at[hit]].astype(object)).sum())
    total = sum(n for _, _, n in dominoes)
    ways = math.factorial(total)
    for _, _, n in dominoes:
        ways //= math.factorial(n)
    return choices * ways


def _sums(steps: list[tuple[int, int]], most: int, purse: Purse) -> tuple[I64, I64]:
    """List the sums of choices up to `most`, ascending, and how many choices have each."""
    sums, ways = np.zeros(1, np.int64), np.ones(1, np.int64)
    for step, copies in steps:
        taken = np.arange(copies + 1)
        purse.pay(len(sums) * len(taken))
        weight = np.array([math.comb(copies, k) for k in taken.tolist()], np.int64)
        now = (sums[:, None] + step * taken).ravel()
        weights = (ways[:, None] * weight).ravel()
        keep = now <= most
        sums, start = np.unique(now[keep], return_inverse=True)
        ways = np.zeros(len(sums), np.int64)
        np.add.at(ways, start, weights[keep])
    return sums, ways
