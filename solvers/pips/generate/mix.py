"""What Pips boards to generate: sizes, kinds of regions, shapes, and how often each occurs."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, Literal, TypeVar

from nightgrid.solvers.errors import PermanentError, RuleError
from nightgrid.solvers.pips.regions import MAX_CELLS, RegionType
from nightgrid.solvers.sentences import plural

T = TypeVar("T")
_SUMMED = (RegionType.SUM, RegionType.LESS, RegionType.GREATER)
Weights = tuple[tuple[T, float], ...]
"""Values with their relative weights."""
Random = Callable[[], float]
"""Returns the next random number from 0 to 1."""
Shape = Literal["blob", "rectangle", "scattered"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """What boards to generate. Weights are relative; `empty` regions take `unconstrained`.

    Raises PermanentError for a mix that no board can follow.
    """

    dominoes: Weights[int]
    """Number of dominoes. Ignored when both `rows` and `cols` are given."""
    kinds: Weights[RegionType] = ((RegionType.SUM, 1.0),)
    """How often each kind of constrained region is wanted. `equals` and `unequal` regions for
    which the dominoes do not suffice become `sum`."""
    sizes: tuple[tuple[RegionType, Weights[int]], ...] = ()
    """Wanted cells per region, by kind; a kind that is not named gets DEFAULT_SIZES."""
    unconstrained: float = 0.1
    """Share of cells in `empty` regions, 0 to 1, exact up to rounding on every board."""
    slack: Weights[int] = ((0, 0.65), (1, 0.25), (2, 0.1))
    """How far `less` and `greater` targets lie from the tightest true one."""
    max_pip: int = 6
    """Raised to the smallest set that holds enough dominoes when `duplicates` is false; see
    `too_few_pips`."""
    duplicates: bool = False
    """Whether one board may hold the same domino several times."""
    extremes: float = 0.5
    """How often a region with a sum holds low or high pips only, which leaves few ways to reach
    its target."""
    curation: float = 0.5
    """How often a region avoids what makes dominoes interchangeable, as designers do: whole tiles
    inside of it that can be turned round, and two tiles to the same other region."""
    freedom_bits: float | None = None
    """Bound on the freedom that a board's constraints leave, as
    nightgrid.solvers.pips.generate.generator estimates it: boards above it are drawn again a few
    times. None: no bound."""
    shape: Shape = "blob"
    """`blob`: grown at random; `rectangle`: rows x cols; `scattered`: no two dominoes touch."""
    compactness: int = 2
    """Number of candidate places; a blob takes the one that widens its bounding box least."""
    components: Weights[int] = ((1, 1.0),)
    """Connected components of a blob, at most one per domino."""
    rows: int | None = None
    cols: int | None = None
    """Sides of a rectangle: give one, and the other follows from the dominoes; or give both."""

    def __post_init__(self) -> None:
        _check_mix(self)


DEFAULT_SIZES: Weights[int] = ((1, 0.3), (2, 0.4), (3, 0.2), (4, 0.1))


def _check_weights(what: str, weights: Weights[Any], least: int | None) -> None:
    if not weights or any(not (w >= 0 and math.isfinite(w)) for _, w in weights):
        raise PermanentError(f"mix {what}: expected at least one weight, all 0 or more")
    if not sum(w for _, w in weights) > 0:
        raise PermanentError(f"mix {what}: expected at least one weight above 0")
    if least is not None and any(value < least for value, _ in weights):
        raise PermanentError(f"mix {what}: expected values of {least} or more")


def _check_mix(mix: Mix) -> None:
    _check_weights("dominoes", mix.dominoes, 1)
    _check_weights("kinds", mix.kinds, None)
    _check_weights("slack", mix.slack, 0)
    _check_weights("components", mix.components, 1)
    for kind, weights in mix.sizes:
        _check_weights(f"sizes of {kind}", weights, 1)
    if any(kind == RegionType.EMPTY for kind, _ in mix.kinds):
        raise PermanentError("mix kinds: give 'empty' through unconstrained, not as a kind")
    for share in ("unconstrained", "extremes", "curation"):
        if not 0 <= getattr(mix, share) <= 1:
            raise RuleError(share, f"is {getattr(mix, share):g}; expected a share from 0 to 1")
    if mix.max_pip < 0 or mix.compactness < 1:
        raise PermanentError("mix: expected max_pip of 0 or more and compactness of 1 or more")
    if any(2 * n > MAX_CELLS for n, _ in mix.dominoes):
        most = max(n for n, _ in mix.dominoes)
        raise RuleError("dominoes", f"is {most}; expected at most {MAX_CELLS // 2:,}")
    if mix.shape != "rectangle":
        return
    if mix.rows is None and mix.cols is None:
        raise PermanentError("mix rectangle: expected rows, cols or both")
    if mix.rows is not None and mix.cols is not None:
        if mix.rows < 1 or mix.cols < 1 or mix.rows * mix.cols % 2:
            raise PermanentError(
                f"mix rectangle: {mix.rows} x {mix.cols} cells; expected an even number"
            )
        if mix.rows * mix.cols > MAX_CELLS:
            raise PermanentError(f"mix rectangle: expected at most {MAX_CELLS} cells")
        return
    side = mix.rows if mix.rows is not None else mix.cols
    if side is None or side < 1 or any(2 * n % side for n, _ in mix.dominoes):
        cells = next(2 * n for n, _ in mix.dominoes if not side or side < 1 or 2 * n % side)
        raise RuleError(
            "cols" if mix.rows is None else "rows",
            f"is {side}, which boards of {plural(cells, 'cell')} cannot have; expected a number "
            "that divides their cells, or other dominoes",
        )


def fewest_pips(dominoes: int) -> int:
    """Return the highest pip of the smallest set that holds so many different dominoes."""
    pip = 0
    while (pip + 1) * (pip + 2) // 2 < dominoes:
        pip += 1
    return pip


def too_few_pips(mix: Mix, duplicates: str) -> str | None:
    """Explain why a requested `max_pip` is impossible; None if every board can keep to it.

    `duplicates` is how a person asks for boards with a domino several times.
    """
    if mix.duplicates:
        return None
    both = mix.rows is not None and mix.cols is not None
    most = (mix.rows or 0) * (mix.cols or 0) // 2 if both else max(n for n, _ in mix.dominoes)
    least = fewest_pips(most)
    if mix.max_pip >= least:
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
        sizes=tuple(sizes.items()),
        unconstrained=unconstrained,
        components=components,
        compactness=3,
        extremes=0.6,
        curation=1.0,
        freedom_bits=freedom_bits,
    )


# The weights of EASY, MEDIUM and HARD are how often each value occurs on the puzzles of that
# level published from 2025-08-18 to 2025-11-13 (88 a level). Some are corrected for what the bound
# on freedom prefers: `sum` cells by themselves are wished for 0.7 times as often, `equals` regions
# 1.1 times and `unequal` regions three times as often as they occur.
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
    sizes=tuple(
        (kind, ((2, 1.0), (3, 2.0), (4, 2.0))) for kind in (_SUM, _LESS, _GREATER, _UNEQUAL)
    ),
    unconstrained=0.15,
    extremes=0.0,
    curation=0.0,
    shape="rectangle",
    rows=4,
)
"""Few and wide constraints: a 4 x 8 board that has far more solutions than published ones."""

PRESETS: Mapping[str, Mix] = {"easy": EASY, "medium": MEDIUM, "hard": HARD, "loose": LOOSE}
LEVELS: tuple[str, ...] = ("easy", "medium", "hard")


class Table(Generic[T]):
    """Weighted values, drawn by one random number."""

    __slots__ = ("_sums", "_values")

    def __init__(self, weights: Weights[T]) -> None:
        self._values = [value for value, _ in weights]
        total = sum(weight for _, weight in weights)
        sums = [s / total for s in itertools.accumulate(weight for _, weight in weights)]
        # Whatever rounding has left of the last sum: no number lies above it.
        self._sums = [*sums[:-1], math.inf]

    def draw(self, x: float) -> T:
        """Choose a value by a random number from 0 to 1."""
        return self._values[bisect_right(self._sums, x)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """The tables of one mix, `leftover` for single cells whose wish came to nothing."""

    dominoes: Table[int]
    components: Table[int]
    kinds: Table[RegionType]
    sizes: Mapping[RegionType, Table[int]]
    slack: Table[int]
    leftover: Table[RegionType]


@lru_cache(maxsize=64)
def draws_of(mix: Mix) -> Draws:
    """Make the tables of a mix."""
    sizes = dict.fromkeys(RegionType, DEFAULT_SIZES) | dict(mix.sizes)
    kinds = dict(mix.kinds)
    singles = tuple(
        (kind, kinds.get(kind, 0.0) * sum(w for size, w in sizes[kind] if size == 1))
        for kind in _SUMMED
    )
    if not sum(weight for _, weight in singles) > 0:
        singles = ((RegionType.SUM, 1.0),)
    return Draws(
        dominoes=Table(mix.dominoes),
        components=Table(mix.components),
        kinds=Table(mix.kinds),
        sizes={kind: Table(weights) for kind, weights in sizes.items()},
        slack=Table(mix.slack),
        leftover=Table(singles),
    )
