"""What Pips boards to generate: sizes, kinds of regions, shapes, and how often each occurs."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from nightgrid.solvers.pips.regions import RegionType
from nightgrid.solvers.sentences import plural

T = TypeVar("T")
Weights = tuple[tuple[T, float], ...]
"""Values with their relative weights."""
Random = Callable[[], float]
"""Returns the next random number from 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """What boards to generate."""

    dominoes: Weights[int]
    """Number of dominoes."""
    kinds: Weights[RegionType]
    """How often each kind of constrained region is wanted. `equals` and `unequal` regions for
    which the dominoes do not suffice become `sum`."""
    sizes: Mapping[RegionType, Weights[int]]
    """Wanted cells per region, by kind."""
    unconstrained: float
    """Share of cells in `empty` regions, 0 to 1, exact up to rounding on every board."""
    max_pip: int = 6
    """Raised to the smallest set that holds enough dominoes when `duplicates` is false; see
    `too_few_pips`."""
    duplicates: bool = False
    """Whether one board may hold the same domino several times."""
    extremes: float = 0.0
    """How often a region with a sum holds low or high pips only, which leaves few ways to reach
    its target."""
    curation: float = 0.0
    """How often a region avoids interchangeable dominoes, as designers do: tiles inside of it that
    can be turned round, and two tiles that reach into the same other region."""
    freedom_bits: float | None = None
    """Bound on the freedom that a board's constraints leave, as
    nightgrid.solvers.pips.generate.generator estimates it: boards above it are drawn again a few
    times. None: no bound."""
    components: Weights[int] = ((1, 1.0),)
    """Connected components of a board that is grown at random, at most one per domino."""
    rows: int | None = None
    """Rows of a rectangle, which divide twice its dominoes. None: a board is grown at random."""


@lru_cache(maxsize=1024)
def _sums(weights: Weights[T]) -> tuple[list[T], list[float]]:
    total = sum(weight for _, weight in weights)
    sums = [s / total for s in itertools.accumulate(weight for _, weight in weights)]
    # Rounding may leave the last sum below 1: no number lies above it.
    return [value for value, _ in weights], [*sums[:-1], math.inf]


def draw(weights: Weights[T], rnd: Random) -> T:
    """Choose one of weighted values."""
    values, sums = _sums(weights)
    return values[bisect_right(sums, rnd())]


def fewest_pips(dominoes: int) -> int:
    """Return the highest pip of the smallest set that holds so many different dominoes."""
    pip = 0
    while (pip + 1) * (pip + 2) // 2 < dominoes:
        pip += 1
    return pip


def too_few_pips(mix: Mix, duplicates: str) -> str | None:
    """Explain why a requested `max_pip` is impossible; None if every board can meet it.

    `duplicates` is the option that allows a domino several times.
    """
    most = max(n for n, _ in mix.dominoes)
    least = fewest_pips(most)
    if mix.duplicates or mix.max_pip >= least:
        return None
    whole = (mix.max_pip + 1) * (mix.max_pip + 2) // 2
    return (
        f"is {mix.max_pip}, a set of {plural(whole, 'domino')}, for boards of up to {most}; "
        f"expected at least {least}, or {duplicates}"
    )


def _published(
    fewest: int,
    boards: Sequence[int],
    kinds: Mapping[RegionType, float],
    sizes: Mapping[RegionType, Weights[int]],
    unconstrained: float,
    components: Weights[int],
    freedom_bits: float,
) -> Mix:
    """Make a mix like published boards: `boards` of them have `fewest` dominoes, one more, ..."""
    return Mix(
        dominoes=tuple(enumerate(boards, fewest)),
        kinds=tuple(kinds.items()),
        sizes=sizes,
        unconstrained=unconstrained,
        components=components,
        extremes=0.6,
        curation=1.0,
        freedom_bits=freedom_bits,
    )


# The weights of EASY, MEDIUM and HARD are how often each value occurs on the puzzles of that level
# published from 2025-08-18 to 2025-11-13 (88 a level). Some are corrected for what the bound on
# freedom prefers: single `sum` cells are wished for 0.7 times as often, `equals` regions 1.1 times
# and `unequal` regions three times as often as they occur.
_SUM, _LESS, _GREATER = RegionType.SUM, RegionType.LESS, RegionType.GREATER
_EQUALS, _UNEQUAL, _EMPTY = RegionType.EQUALS, RegionType.UNEQUAL, RegionType.EMPTY

EASY = _published(
    fewest=3,
    boards=(1, 59, 18, 9, 1),
    kinds={_SUM: 194, _LESS: 24, _GREATER: 22, _EQUALS: 92, _UNEQUAL: 18},
    sizes={
        _SUM: ((1, 50), (2, 88), (3, 26), (4, 6), (6, 1)),
        _LESS: ((1, 18), (2, 4), (3, 1), (4, 1)),
        _GREATER: ((1, 20), (2, 2)),
        _EQUALS: ((2, 36), (3, 28), (4, 11), (5, 4)),
        _UNEQUAL: ((2, 2), (3, 2), (4, 2)),
        _EMPTY: ((1, 117), (2, 4), (3, 1)),
    },
    unconstrained=0.164,
    components=((1, 86), (2, 2)),
    freedom_bits=13.0,
)
MEDIUM = _published(
    fewest=4,
    boards=(2, 9, 17, 25, 14, 5, 10, 3, 2, 1),
    kinds={_SUM: 273, _LESS: 51, _GREATER: 49, _EQUALS: 153, _UNEQUAL: 45},
    sizes={
        _SUM: ((1, 62), (2, 122), (3, 45), (4, 10), (5, 5), (7, 1)),
        _LESS: ((1, 41), (2, 7), (3, 2), (4, 1)),
        _GREATER: ((1, 43), (2, 6)),
        _EQUALS: ((2, 53), (3, 40), (4, 30), (5, 13), (6, 1), (8, 2)),
        _UNEQUAL: ((2, 4), (3, 5), (4, 3), (5, 3)),
        _EMPTY: ((1, 164), (2, 3)),
    },
    unconstrained=0.129,
    components=((1, 82), (2, 5), (4, 1)),
    freedom_bits=17.5,
)
HARD = _published(
    fewest=6,
    boards=(2, 2, 7, 10, 23, 7, 10, 6, 5, 5, 11),
    kinds={_SUM: 521, _LESS: 60, _GREATER: 52, _EQUALS: 190, _UNEQUAL: 78},
    sizes={
        _SUM: ((1, 145), (2, 206), (3, 52), (4, 37), (5, 13), (6, 1), (16, 1)),
        _LESS: ((1, 49), (2, 8), (3, 1), (4, 2)),
        _GREATER: ((1, 41), (2, 8), (3, 3)),
        _EQUALS: ((2, 58), (3, 49), (4, 32), (5, 23), (6, 5), (7, 4), (8, 1)),
        _UNEQUAL: ((2, 8), (3, 5), (4, 6), (5, 3), (6, 3), (7, 1)),
        _EMPTY: ((1, 161), (2, 1), (3, 2), (4, 1)),
    },
    unconstrained=0.087,
    components=((1, 78), (2, 7), (3, 1), (4, 2)),
    freedom_bits=21.0,
)
LOOSE = Mix(
    dominoes=((16, 1),),
    kinds=((_SUM, 0.4), (_LESS, 0.2), (_GREATER, 0.2), (_UNEQUAL, 0.2)),
    sizes={
        **dict.fromkeys((_SUM, _LESS, _GREATER, _UNEQUAL), ((2, 1.0), (3, 2.0), (4, 2.0))),
        _EMPTY: ((1, 0.3), (2, 0.4), (3, 0.2), (4, 0.1)),
    },
    unconstrained=0.15,
    rows=4,
)
"""Few and loose constraints: a 4 x 8 board with far more solutions than published ones."""

PRESETS: Mapping[str, Mix] = {"easy": EASY, "medium": MEDIUM, "hard": HARD, "loose": LOOSE}
LEVELS: tuple[str, ...] = ("easy", "medium", "hard")
