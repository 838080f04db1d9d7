"""Divide a board into regions, and plant pips in them that make the constraints hold.

The regions come first: kinds and sizes as the mix wants them, each connected. Then every tile
gets a domino that suits the regions its halves lie in.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from solvers.pips.mix import Draws, Mix
from solvers.pips.puzzle import Domino, RegionType
from solvers.pips.shapes import Random

Group = tuple[RegionType, list[int]]
"""A region in the making: its kind and its cells, by number; cells 2 i and 2 i + 1 are tile i."""

_GROWTH_TRIES = 8
"""Places from which a region is tried before it stays smaller than wished."""
_WHOLE_TILES_SHUNNED = 0.5
"""How often a curated region does not take the other half of a tile it has, when it could."""
_DOUBLES_FAVOURED = 0.85
"""How often a tile inside of a curated region gets a double, which cannot be turned round."""
_PLANTING_TRIES = 6
"""Choices of pips for the `equals` regions before one of them is given up."""
_CANDIDATES = 4
"""Dominoes that a tile with no fixed half chooses from."""
_PICKY_CANDIDATES = 16
"""The same for a tile that touches an `unequal` region."""
_LARGEST_WHOLE_SET_PIP = 40
"""Above this pip the dominoes to choose from are a sample and not the whole set."""
_REPEATED = -1000
"""Score of a pip that an `unequal` region has already."""
_NEEDS_TWO = (RegionType.EQUALS, RegionType.UNEQUAL)
_SUMMED = (RegionType.SUM, RegionType.LESS, RegionType.GREATER)


def divide(mix: Mix, draws: Draws, neighbours: Sequence[Sequence[int]], rnd: Random) -> list[Group]:
    """Divide cells into connected regions of the kinds and sizes that the mix wants.

    Wishes are granted from large to small. What a wish leaves over is wished for again, and the
    unconstrained cells take what remains.
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
        kind = draws.kinds.draw(rnd())
        size = min(left, draws.sizes[kind].draw(rnd()))
        wishes.append((size, rnd(), kind))
        left -= size
    wishes.sort()
    left = total - empty
    while left:
        if wishes:
            size, _, kind = wishes.pop()
        else:
            kind = draws.kinds.draw(rnd())
            size = draws.sizes[kind].draw(rnd())
        group = _grow(mix, kind, min(left, size), neighbours, free, owner, rnd)
        for cell in group:
            owner[cell] = len(groups)
        if len(group) < 2 and kind in _NEEDS_TWO:
            kind = draws.leftover.draw(rnd())
        left -= len(group)
        groups.append((kind, group))
    while empty:
        size = min(empty, draws.sizes[RegionType.EMPTY].draw(rnd()))
        group = _grow(mix, RegionType.EMPTY, size, neighbours, free, owner, rnd)
        empty -= len(group)
        groups.append((RegionType.EMPTY, group))
    return groups


def _grow(
    mix: Mix,
    kind: RegionType,
    size: int,
    neighbours: Sequence[Sequence[int]],
    free: list[bool],
    owner: Sequence[int],
    rnd: Random,
) -> list[int]:
    """Take `size` connected free cells, or the most that a few tries find."""
    total = len(free)
    # An equals region with two whole tiles would need the same double twice.
    one_double = kind is RegionType.EQUALS and not mix.duplicates
    curated = kind not in _NEEDS_TWO and rnd() < mix.curation
    first = int(rnd() * total)
    best: list[int] = []
    tries = 0
    for step in range(total):
        seed = first + step if first + step < total else first + step - total
        if not free[seed]:
            continue
        group = [seed]
        rim = [n for n in neighbours[seed] if free[n]]
        doubles = 0
        while len(group) < size and rim:
            at = int(rnd() * len(rim))
            cell = rim[at]
            rim[at] = rim[-1]
            rim.pop()
            if cell in group:
                continue
            if cell ^ 1 in group:
                if (doubles and (one_double or curated)) or (
                    curated and rnd() < _WHOLE_TILES_SHUNNED
                ):
                    continue
                doubles = 1
            elif curated and owner[cell ^ 1] >= 0:
                partner = owner[cell ^ 1]
                if any(owner[other ^ 1] == partner for other in group):
                    continue
            group.append(cell)
            rim += [n for n in neighbours[cell] if free[n]]
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
    """The dominoes that are left to choose from."""

    def __init__(self, mix: Mix, count: int, rnd: Random) -> None:
        self.max_pip = mix.max_pip
        if not mix.duplicates:
            while (self.max_pip + 1) * (self.max_pip + 2) // 2 < count:
                self.max_pip += 1
        self._keep = mix.duplicates
        self._dominoes = list(self._choose(count, rnd))
        self._place = {domino: i for i, domino in enumerate(self._dominoes)}

    def _choose(self, count: int, rnd: Random) -> Sequence[Domino]:
        most = self.max_pip
        if most <= _LARGEST_WHOLE_SET_PIP or (most + 1) * (most + 2) // 2 <= 4 * count:
            return _domino_set(most)
        some: dict[Domino, None] = {}
        while len(some) < 2 * count:
            x, y = int(rnd() * (most + 1)), int(rnd() * (most + 1))
            some[min(x, y), max(x, y)] = None
        return list(some)

    def has(self, x: int, y: int) -> bool:
        return ((x, y) if x < y else (y, x)) in self._place

    def any(self, rnd: Random) -> Domino:
        return self._dominoes[int(rnd() * len(self._dominoes))]

    def partners(self, x: int) -> list[int]:
        """List the pips that lie with x on a domino."""
        if self.max_pip <= _LARGEST_WHOLE_SET_PIP:
            return [y for y in range(self.max_pip + 1) if self.has(x, y)]
        return [b if a == x else a for a, b in self._dominoes if x in (a, b)]

    def take(self, x: int, y: int) -> None:
        if self._keep:
            return
        domino = (x, y) if x < y else (y, x)
        place = self._place.pop(domino)
        last = self._dominoes.pop()
        if last != domino:
            self._dominoes[place] = last
            self._place[last] = place


class _Planting:
    """One try to give every tile a domino."""

    def __init__(self, mix: Mix, cell_count: int, groups: Sequence[Group], rnd: Random) -> None:
        self._rnd = rnd
        self._doubles = mix.curation * _DOUBLES_FAVOURED
        self._box = _Box(mix, cell_count // 2, rnd)
        self._pips = [-1] * cell_count
        self._group = [0] * cell_count
        self._fixed = [-1] * cell_count
        self._mood = [0] * cell_count
        self._unequal: dict[int, set[int]] = {}
        values: list[int] = []
        for number, (kind, cells) in enumerate(groups):
            mood = 0
            if kind is RegionType.EQUALS:
                if not values:
                    values = self._values()
                value = values.pop()
                for cell in cells:
                    self._fixed[cell] = value
            elif kind is RegionType.UNEQUAL:
                self._unequal[number] = set()
            elif kind in _SUMMED and len(cells) > 1 and rnd() < mix.extremes:
                mood = 1 if rnd() < 0.5 else -1
            for cell in cells:
                self._group[cell] = number
                self._mood[cell] = mood

    def _values(self) -> list[int]:
        """Order some pips at random: those of different equals regions should differ."""
        most = self._box.max_pip
        if most > _LARGEST_WHOLE_SET_PIP:
            return list(self._box.any(self._rnd))
        values = list(range(most + 1))
        for i in range(most, 0, -1):
            j = int(self._rnd() * (i + 1))
            values[i], values[j] = values[j], values[i]
        return values

    def pips(self) -> list[int] | None:
        """Give tiles their dominoes, the most determined tiles first; None if that fails."""
        fixed = self._fixed
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
            best = max(partners, key=lambda y: (self._score(other, y), self._rnd()))
            if held == a:
                self._put(a, value, best)
            else:
                self._put(a, best, value)
        unequal = self._unequal
        picky = {a for a in tiles[0] if {self._group[a], self._group[a + 1]} & unequal.keys()}
        for a in sorted(tiles[0], key=lambda a: a not in picky):
            self._put(a, *self._choose(a, _PICKY_CANDIDATES if a in picky else _CANDIDATES))
        return self._pips

    def _choose(self, a: int, candidates: int) -> tuple[int, int]:
        group = self._group[a]
        inside = group == self._group[a + 1] and group not in self._unequal
        if inside and self._rnd() < self._doubles:
            double = self._double(a)
            if double is not None:
                return double
        best: Domino | None = None
        best_score = 0
        for _ in range(candidates):
            x, y = self._box.any(self._rnd)
            for p, q in ((x, y), (y, x)) if self._rnd() < 0.5 else ((y, x), (x, y)):
                score = self._score(a, p) + self._score(a + 1, q)
                if best is None or score > best_score:
                    best_score, best = score, (p, q)
        assert best is not None
        return best

    def _double(self, a: int) -> Domino | None:
        most = self._box.max_pip
        if most > _LARGEST_WHOLE_SET_PIP:
            return None
        pips = [x for x in range(most + 1) if self._box.has(x, x)]
        if not pips:
            return None
        x = max(pips, key=lambda x: (self._score(a, x), self._rnd()))
        return x, x

    def _score(self, cell: int, pip: int) -> int:
        has = self._unequal.get(self._group[cell])
        if has is not None:
            return _REPEATED if pip in has else 0
        return self._mood[cell] * pip

    def _put(self, a: int, x: int, y: int) -> None:
        self._box.take(x, y)
        for cell, pip in ((a, x), (a + 1, y)):
            self._pips[cell] = pip
            has = self._unequal.get(self._group[cell])
            if has is not None:
                has.add(pip)


@lru_cache(maxsize=64)
def _domino_set(max_pip: int) -> tuple[Domino, ...]:
    return tuple((a, b) for a in range(max_pip + 1) for b in range(a, max_pip + 1))
