"""Divide a board into regions, and plant pips in them that make the constraints hold.

The regions come first: kinds and sizes as the mix wants them, each connected. Then every tile gets
a domino that suits the regions of its halves.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache

from nightgrid.solvers.pips.generate.mix import Mix, Random, Weights, draw, fewest_pips
from nightgrid.solvers.pips.regions import Domino, RegionType

Group = tuple[RegionType, list[int]]
"""A growing region: its kind and its cells, by number; cells 2 i and 2 i + 1 are tile i."""

_GROWTH_TRIES = 8
"""Starting cells that are tried before a region stays smaller than wished."""
_WHOLE_TILES_SHUNNED = 0.5
"""How often a curated region skips the other half of one of its tiles."""
_DOUBLES_FAVOURED = 0.85
"""How often a tile inside of a curated region gets a double, which cannot be turned round."""
_PLANTING_TRIES = 6
"""Choices of pips for the `equals` regions before one becomes a `sum`."""
_CANDIDATES = 4
"""Dominoes that a tile with no fixed half chooses from."""
_PICKY_CANDIDATES = 16
"""The same for a tile that touches an `unequal` region."""
_REPEATED = -1000
"""Score of a pip that an `unequal` region already has."""
_NEEDS_TWO = (RegionType.EQUALS, RegionType.UNEQUAL)
_SUMMED = (RegionType.SUM, RegionType.LESS, RegionType.GREATER)


def divide(mix: Mix, neighbours: Sequence[Sequence[int]], rnd: Random) -> list[Group]:
    """Divide cells into connected regions of the kinds and sizes that the mix wants.

    Wishes are granted from large to small. Cells that a wish could not take are wished for again,
    and the rest is unconstrained.
    """
    total = len(neighbours)
    free = [True] * total
    owner = [-1] * total
    groups: list[Group] = []
    exact = mix.unconstrained * total
    empty = int(exact) + (rnd() < exact - int(exact))
    wishes: list[tuple[int, float, RegionType]] = []
    left = total - empty
    while left:
        kind = draw(mix.kinds, rnd)
        size = min(left, draw(mix.sizes[kind], rnd))
        wishes.append((size, rnd(), kind))
        left -= size
    wishes.sort()
    left = total - empty
    while left:
        if wishes:
            size, _, kind = wishes.pop()
        else:
            kind = draw(mix.kinds, rnd)
            size = draw(mix.sizes[kind], rnd)
        group = _grow(mix, kind, min(left, size), neighbours, free, owner, rnd)
        for cell in group:
            owner[cell] = len(groups)
        if len(group) < 2 and kind in _NEEDS_TWO:
            kind = draw(_single_cells(mix), rnd)
        left -= len(group)
        groups.append((kind, group))
    while empty:
        size = min(empty, draw(mix.sizes[RegionType.EMPTY], rnd))
        group = _grow(mix, RegionType.EMPTY, size, neighbours, free, owner, rnd)
        empty -= len(group)
        groups.append((RegionType.EMPTY, group))
    return groups


def _single_cells(mix: Mix) -> Weights[RegionType]:
    """Weigh the kinds of a single cell whose wish failed."""
    kinds = dict(mix.kinds)
    singles = tuple(
        (kind, kinds[kind] * sum(weight for size, weight in mix.sizes[kind] if size == 1))
        for kind in _SUMMED
        if kind in kinds
    )
    return singles if sum(weight for _, weight in singles) > 0 else ((RegionType.SUM, 1.0),)


def _grow(
    mix: Mix,
    kind: RegionType,
    size: int,
    neighbours: Sequence[Sequence[int]],
    free: list[bool],
    owner: Sequence[int],
    rnd: Random,
) -> list[int]:
    """Take `size` connected free cells, or as many as a few tries find."""
    total = len(free)
    # An equals region with two whole tiles would need the same double twice.
    one_double = kind is RegionType.EQUALS and not mix.duplicates
    curated = kind not in _NEEDS_TWO and rnd() < mix.curation
    first = int(rnd() * total)
    best: list[int] = []
    tries = 0
    for seed in (*range(first, total), *range(first)):
        if not free[seed]:
            continue
        group = [seed]
        rim = [n for n in neighbours[seed] if free[n]]
        # The region that a whole tile's other half would touch again, for each cell of the group.
        partners = [owner[seed ^ 1]]
        doubles = 0
        while len(group) < size and rim:
            at = int(rnd() * len(rim))
            cell = rim[at]
            rim[at] = rim[-1]
            rim.pop()
            if cell in group:
                continue
            partner = owner[cell ^ 1]
            if cell ^ 1 in group:
                if (doubles and (one_double or curated)) or (
                    curated and rnd() < _WHOLE_TILES_SHUNNED
                ):
                    continue
                doubles = 1
            elif curated and partner >= 0 and partner in partners:
                continue
            group.append(cell)
            partners.append(partner)
            for n in neighbours[cell]:
                if free[n]:
                    rim.append(n)
        if len(group) > len(best):
            best = group
        tries += 1
        if len(best) == size or tries == _GROWTH_TRIES:
            break
    for cell in best:
        free[cell] = False
    return best


def plant(mix: Mix, cell_count: int, groups: list[Group], rnd: Random) -> list[int]:
    """Choose a domino for every tile; return pips by cell.

    `equals` regions for which no dominoes are found become `sum` regions in `groups`.
    """
    while True:
        for _ in range(_PLANTING_TRIES):
            pips = _Planting(mix, cell_count, groups, rnd).pips()
            if pips is not None:
                return pips
        largest = max(
            (i for i, (kind, _) in enumerate(groups) if kind is RegionType.EQUALS),
            key=lambda i: len(groups[i][1]),
        )
        groups[largest] = (RegionType.SUM, groups[largest][1])


class _Box:
    """The remaining dominoes."""

    def __init__(self, mix: Mix, count: int) -> None:
        self.max_pip = mix.max_pip
        if not mix.duplicates:
            self.max_pip = max(self.max_pip, fewest_pips(count))
        self._keep = mix.duplicates
        self._stride = self.max_pip + 1
        dominoes, places = _domino_set(self.max_pip)
        self.dominoes, self._place = list(dominoes), places.copy()

    def has(self, x: int, y: int) -> bool:
        return x * self._stride + y in self._place

    def partners(self, x: int) -> list[int]:
        """List the pips that share a domino with x."""
        place, first = self._place, x * self._stride
        return [y for y in range(self.max_pip + 1) if first + y in place]

    def take(self, x: int, y: int) -> None:
        if self._keep:
            return
        stride, places = self._stride, self._place
        place = places.pop(x * stride + y)
        if x != y:
            del places[y * stride + x]
        last = self.dominoes.pop()
        if place < len(self.dominoes):
            self.dominoes[place] = last
            a, b = last
            places[a * stride + b] = places[b * stride + a] = place


class _Planting:
    """One attempt to assign every tile a domino."""

    def __init__(self, mix: Mix, cell_count: int, groups: Sequence[Group], rnd: Random) -> None:
        self._rnd = rnd
        self._doubles = mix.curation * _DOUBLES_FAVOURED
        self._box = _Box(mix, cell_count // 2)
        self._pips = [-1] * cell_count
        self._group = [0] * cell_count
        self._fixed = [-1] * cell_count
        self._mood = [0] * cell_count
        self._has: list[set[int] | None] = [None] * cell_count
        """The pips that the `unequal` region of a cell already has; None in other regions."""
        values: list[int] = []
        for number, (kind, cells) in enumerate(groups):
            for cell in cells:
                self._group[cell] = number
            if kind is RegionType.EQUALS:
                if not values:
                    values = self._values()
                value = values.pop()
                for cell in cells:
                    self._fixed[cell] = value
            elif kind is RegionType.UNEQUAL:
                has: set[int] = set()
                for cell in cells:
                    self._has[cell] = has
            elif kind in _SUMMED and len(cells) > 1 and rnd() < mix.extremes:
                mood = 1 if rnd() < 0.5 else -1
                for cell in cells:
                    self._mood[cell] = mood

    def _values(self) -> list[int]:
        """Order some pips at random: those of different equals regions should differ."""
        most, rnd = self._box.max_pip, self._rnd
        values = list(range(most + 1))
        for i in range(most, 0, -1):
            j = int(rnd() * (i + 1))
            values[i], values[j] = values[j], values[i]
        return values

    def pips(self) -> list[int] | None:
        """Assign dominoes to tiles, the most determined tiles first; None if that fails."""
        fixed, has = self._fixed, self._has
        tiles: tuple[list[int], list[int], list[int]] = ([], [], [])
        for a in range(0, len(fixed), 2):
            tiles[(fixed[a] >= 0) + (fixed[a + 1] >= 0)].append(a)
        for a in tiles[2]:
            if not self._box.has(fixed[a], fixed[a + 1]):
                return None
            self._put(a, fixed[a], fixed[a + 1])
        for a in tiles[1]:
            held, other = (a, a + 1) if fixed[a] >= 0 else (a + 1, a)
            value = fixed[held]
            partners = self._box.partners(value)
            if not partners:
                return None
            best = self._best(other, partners)
            if held == a:
                self._put(a, value, best)
            else:
                self._put(a, best, value)
        plain: list[int] = []
        for a in tiles[0]:
            if has[a] is None and has[a + 1] is None:
                plain.append(a)
            else:
                self._put(a, *self._choose(a, _PICKY_CANDIDATES))
        for a in plain:
            self._put(a, *self._choose(a, _CANDIDATES))
        return self._pips

    def _choose(self, a: int, candidates: int) -> Domino:
        """Choose a domino for a tile, and which way round it lies, by the sum of both scores."""
        rnd, dominoes = self._rnd, self._box.dominoes
        has_a, has_b = self._has[a], self._has[a + 1]
        if self._group[a] == self._group[a + 1] and has_a is None and rnd() < self._doubles:
            double = self._double(a)
            if double is not None:
                return double
        mood_a, mood_b = self._mood[a], self._mood[a + 1]
        count = len(dominoes)
        best = (0, 0)
        best_score = -sys.maxsize
        for _ in range(candidates):
            x, y = dominoes[int(rnd() * count)]
            if rnd() >= 0.5:
                x, y = y, x
            # Cells of unequal regions have no mood.
            straight, turned = mood_a * x + mood_b * y, mood_a * y + mood_b * x
            if has_a is not None:
                straight += _REPEATED * (x in has_a)
                turned += _REPEATED * (y in has_a)
            if has_b is not None:
                straight += _REPEATED * (y in has_b)
                turned += _REPEATED * (x in has_b)
            if straight > best_score:
                best_score, best = straight, (x, y)
            if turned > best_score:
                best_score, best = turned, (y, x)
        return best

    def _double(self, a: int) -> Domino | None:
        pips = [x for x in range(self._box.max_pip + 1) if self._box.has(x, x)]
        if not pips:
            return None
        x = self._best(a, pips)
        return x, x

    def _best(self, cell: int, pips: Sequence[int]) -> int:
        """Choose the pip with the highest score for a cell, at random among equals."""
        rnd, has, mood = self._rnd, self._has[cell], self._mood[cell]
        best = pips[0]
        best_score, best_chance = -sys.maxsize, 0.0
        for pip in pips:
            score = mood * pip if has is None else _REPEATED * (pip in has)
            chance = rnd()
            if score > best_score or (score == best_score and chance > best_chance):
                best, best_score, best_chance = pip, score, chance
        return best

    def _put(self, a: int, x: int, y: int) -> None:
        self._box.take(x, y)
        self._pips[a], self._pips[a + 1] = x, y
        for has, pip in ((self._has[a], x), (self._has[a + 1], y)):
            if has is not None:
                has.add(pip)


@lru_cache(maxsize=64)
def _domino_set(max_pip: int) -> tuple[tuple[Domino, ...], dict[int, int]]:
    """List a whole set of dominoes, and where each stands in the list, either way round."""
    dominoes = tuple((a, b) for a in range(max_pip + 1) for b in range(a, max_pip + 1))
    stride = max_pip + 1
    places = {a * stride + b: i for i, (a, b) in enumerate(dominoes)}
    return dominoes, places | {b * stride + a: i for i, (a, b) in enumerate(dominoes)}
