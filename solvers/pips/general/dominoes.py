"""Count domino by domino, for boards with one tiling and few kinds of tiles.

Constraints ignore where in its region a pip lies, so tiles in the same two regions are of one kind.
A state is the number of free tiles of each kind and the progress of the regions, and the dominoes
are laid one kind after the other, as in the classical subset sum. If all regions are sums, both
halves of the dominoes are counted separately and joined.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np

from nightgrid.solvers.kernel.compiling import I64
from nightgrid.solvers.meter import Meter
from nightgrid.solvers.pips.general.board import FREE, FULL, GeneralBoard
from nightgrid.solvers.pips.regions import RegionType

KINDS_MAX = 4
"""Most kinds of constrained tiles for which dominoes are laid one by one."""
TYPES_MIN = 17
"""Fewest distinct dominoes for which this can pay off: fewer are quick anyway."""
HALVES_MIN = 12
"""Fewest distinct dominoes for which two halves are joined."""
DOMINOES_MAX = 62
"""Most dominoes whose orientations fit 63 bits."""

Layer = dict[tuple[tuple[int, ...], tuple[int, ...]], int]
"""Maps free tiles of each kind and progress of each region to a number of ways."""


def suits(board: GeneralBoard) -> bool:
    """Return whether to lay dominoes one by one."""
    if len(board.types) < TYPES_MIN or not board.has_one_tiling:
        return False
    kinds = kinds_of(board, range(len(board.cells)))
    return len(kinds) - ((FREE, FREE) in kinds) <= KINDS_MAX


def kinds_of(board: GeneralBoard, cells: range | list[int]) -> Counter[tuple[int, int]]:
    """Count tiles by the regions of their two cells, the lower number first."""
    pairs = [(board.region[c], board.region[board.partner[c]]) for c in cells]
    return Counter(
        pair for c, pair in zip(cells, pairs, strict=True)
        if pair[0] < pair[1] or (pair[0] == pair[1] and c < board.partner[c])
    )  # fmt: skip


class DominoSearch:
    """A board with one tiling, domino by domino."""

    def __init__(self, board: GeneralBoard, meter: Meter, *, exists: bool) -> None:
        self.board, self.meter, self.exists = board, meter, exists
        # Large ones first, so that the rest compensates less and less.
        self.sequence = sorted(range(len(board.types)), key=lambda t: (-board.types[t][1], t))
        self._known: dict[object, int] = {}

    def value(
        self, free: Counter[tuple[int, int]], left: tuple[int, ...], progress: tuple[int, ...]
    ) -> int:
        """Count the ways to lay what is left (copies by type) on the free tiles.

        `progress`: of every region, as returned by nightgrid.solvers.pips.general.board.advance.
        """
        kinds = tuple(sorted(kind for kind, n in free.items() if n))
        slots = tuple(free[kind] for kind in kinds)
        key = (kinds, slots, left, progress)
        if key not in self._known:
            self._known[key] = self._count(kinds, slots, left, progress)
        return self._known[key]

    def _count(
        self, kinds: tuple[tuple[int, int], ...], slots: tuple[int, ...], left: tuple[int, ...],
        progress: tuple[int, ...],
    ) -> int:  # fmt: skip
        types = [t for t in self.sequence if left[t]]
        alone = len(kinds) == 1 and kinds[0][0] == FREE and kinds[0][1] != FREE
        if alone and self.board.kind[kinds[0][1]] is RegionType.SUM and sum(left) <= DOMINOES_MAX:
            g = kinds[0][1]
            dominoes = [(*self.board.types[t], left[t]) for t in types]
            return min(count_sums(dominoes, self.board.target[g] - progress[g], self.meter), FULL)
        sums = all(kind is RegionType.SUM for kind in self.board.kind)
        if sums and len(types) >= HALVES_MIN:
            return self._join(kinds, slots, types, left, progress)
        layer = self._layers(kinds, {(slots, progress): 1}, types, left, whole=True)
        return min(sum(layer.values()), FULL)

    def _join(
        self, kinds: tuple[tuple[int, int], ...], slots: tuple[int, ...], types: list[int],
        left: tuple[int, ...], progress: tuple[int, ...],
    ) -> int:  # fmt: skip
        # Alternately, so that both halves hold large and small ones.
        one = self._layers(kinds, {(slots, progress): 1}, types[::2], left, whole=False)
        other = self._layers(kinds, {(slots, progress): 1}, types[1::2], left, whole=False)
        target = self.board.target
        total = 0
        for (free, sums), ways in one.items():
            self.meter.add_node()
            used = tuple(n - m for n, m in zip(slots, free, strict=True))
            # Both halves start from the placed dominoes, or bounds on the sums would be wrong.
            rest = tuple(t - s + p for t, s, p in zip(target, sums, progress, strict=True))
            more = other.get((used, rest))
            if more is None:
                continue
            # The second half was counted on all tiles, not only on free ones.
            for n, m in zip(slots, free, strict=True):
                more //= math.comb(n, m)
            total += ways * more
            if self.exists or total >= FULL:
                break
        return min(total, FULL)

    def _layers(
        self, kinds: tuple[tuple[int, int], ...], layer: Layer, types: list[int],
        left: tuple[int, ...], *, whole: bool,
    ) -> Layer:  # fmt: skip
        """Lay kinds of dominoes one after the other; `whole` if these are all."""
        board = self.board
        most = sum(left[t] * sum(board.types[t]) for t in types)
        for t in types:
            most -= left[t] * sum(board.types[t])
            after: Layer = {}
            for (slots, progress), ways in layer.items():
                for key, more in self._lay(kinds, slots, progress, t, left[t]):
                    self.meter.add_node()
                    if whole and not self._can_end(key[1], most):
                        continue
                    if key not in after:
                        self.meter.add_state(len(layer) + len(after))
                    now = after.get(key, 0) + ways * more
                    # Halves are divided when they are joined, and stay exact until then.
                    after[key] = min(now, FULL) if whole else now
            layer = after
        return layer

    def _can_end(self, progress: tuple[int, ...], most: int) -> bool:
        board = self.board
        return all(
            total + most >= target
            for total, kind, target in zip(progress, board.kind, board.target, strict=True)
            if kind is RegionType.SUM
        )

    def _lay(
        self, kinds: tuple[tuple[int, int], ...], slots: tuple[int, ...],
        progress: tuple[int, ...], t: int, copies: int,
    ) -> Iterator[tuple[tuple[tuple[int, ...], tuple[int, ...]], int]]:  # fmt: skip
        """Distribute the copies of a domino over the kinds of tiles, in each direction."""
        a, b = self.board.types[t]
        ways = [
            (k, pips)
            for k, (g, h) in enumerate(kinds)
            for pips in (((a, b),) if a == b else ((a, b), (b, a)))
        ]
        waiting = [(0, copies, slots, progress, 1)]
        while waiting:
            at, rest, free, now, weight = waiting.pop()
            if rest == 0:
                yield (free, now), weight
                continue
            if at == len(ways):
                continue
            k, pips = ways[at]
            waiting.append((at + 1, rest, free, now, weight))
            state: tuple[int, ...] | None = now
            room = free
            for n in range(1, min(rest, free[k]) + 1):
                assert state is not None
                state = self._advance(kinds, kinds[k], room, state, pips)
                if state is None:
                    break
                room = (*room[:k], room[k] - 1, *room[k + 1 :])
                waiting.append((at + 1, rest - n, room, state, weight * math.comb(free[k], n)))

    def _advance(
        self, kinds: tuple[tuple[int, int], ...], kind: tuple[int, int], free: tuple[int, ...],
        progress: tuple[int, ...], pips: tuple[int, int],
    ) -> tuple[int, ...] | None:  # fmt: skip
        now = list(progress)
        gone = 0
        for i, g in enumerate(kind):
            if g == FREE:
                continue
            rest = sum(n * other.count(g) for n, other in zip(free, kinds, strict=True)) - gone
            gone = kind[0] == kind[1]
            after = self.board.advance(g, rest, now[g], pips[i])
            if after is None:
                return None
            now[g] = after
        return tuple(now)


def count_sums(dominoes: list[tuple[int, int, int]], target: int, meter: Meter) -> int:
    """Count the arrangements of (pips, pips, copies) on as many tiles whose halves sum to target.

    Every tile has one half in the only region, a sum, and the other in none. So a solution is a
    choice of one half of each domino with the right sum, and any arrangement of the dominoes. The
    sums of both halves of the dominoes are listed, equal ones merged, and matched (meet in the
    middle). At most DOMINOES_MAX dominoes in all. Raises BudgetSpentError.
    """
    least = sum(a * n for a, _, n in dominoes)
    rest = target - least
    if not 0 <= rest <= sum((b - a) * n for a, b, n in dominoes):
        return 0
    # Relative to the smaller halves: every domino adds its difference or nothing.
    steps = sorted(((b - a, n) for a, b, n in dominoes if a < b), reverse=True)
    one, one_ways = _sums(steps[::2], rest, meter)
    other, other_ways = _sums(steps[1::2], rest, meter)
    at = np.minimum(np.searchsorted(other, rest - one), len(other) - 1)
    hit = other[at] == rest - one
    choices = int((one_ways[hit].astype(object) * other_ways[at[hit]].astype(object)).sum())
    total = sum(n for _, _, n in dominoes)
    ways = math.factorial(total)
    for _, _, n in dominoes:
        ways //= math.factorial(n)
    return choices * ways


def _sums(steps: list[tuple[int, int]], most: int, meter: Meter) -> tuple[I64, I64]:
    """List the sums of choices up to `most`, ascending, and how many choices have each."""
    sums, ways = np.zeros(1, np.int64), np.ones(1, np.int64)
    for step, copies in steps:
        taken = np.arange(copies + 1)
        meter.add_states(len(sums) * len(taken))
        weight = np.array([math.comb(copies, k) for k in taken.tolist()], np.int64)
        now = (sums[:, None] + step * taken).ravel()
        weights = (ways[:, None] * weight).ravel()
        keep = now <= most
        sums, start = np.unique(now[keep], return_inverse=True)
        ways = np.zeros(len(sums), np.int64)
        np.add.at(ways, start, weights[keep])
    return sums, ways
