"""The Pips puzzle: a board of cells in regions, and the dominoes that must tile it."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nightgrid.solvers.algebra import canonical_json, digest
from nightgrid.solvers.errors import Faults, InvalidPuzzleError, place_of
from nightgrid.solvers.sentences import plural

Cell = tuple[int, int]
"""(row, column), 0-based."""
Domino = tuple[int, int]
"""Pips of the two halves, the smaller first."""

MAX_CELLS = 1 << 16
MAX_COORDINATE = 9_999
MAX_PIP = 10**9
MAX_TARGET = MAX_PIP * MAX_CELLS


class RegionType(enum.StrEnum):
    """What a region demands of the pips on its cells."""

    EMPTY = "empty"
    """Nothing."""
    SUM = "sum"
    """Their sum equals the target."""
    LESS = "less"
    """Their sum is strictly below the target."""
    GREATER = "greater"
    """Their sum is strictly above the target."""
    EQUALS = "equals"
    """They are all the same."""
    UNEQUAL = "unequal"
    """No two are the same."""


REGION_TYPES: tuple[RegionType, ...] = tuple(RegionType)
"""Index = the code of a region type in columns and kernels."""
TARGETED = frozenset({RegionType.SUM, RegionType.LESS, RegionType.GREATER})


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Region:
    """Cells that share one constraint. `target` is None unless the type is sum, less or greater."""

    cells: tuple[Cell, ...]
    type: RegionType
    target: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """A validated board with its dominoes, in canonical order, so that equal boards are equal.

    Cells within regions, regions and dominoes are sorted, and the smaller half of a domino comes
    first; coordinates stay as given. The regions partition the board.

    Raises InvalidPuzzleError naming the rule and the place that breaks it.
    """

    regions: tuple[Region, ...]
    dominoes: tuple[Domino, ...]

    def __post_init__(self) -> None:
        faults = Faults()
        _check_regions(self.regions, "", faults)
        faults.check()
        _check_dominoes(self.dominoes, sum(len(region.cells) for region in self.regions))
        regions = (
            Region(cells=tuple(sorted(r.cells)), type=r.type, target=r.target) for r in self.regions
        )
        object.__setattr__(self, "regions", tuple(sorted(regions, key=lambda r: r.cells)))
        halves = ((min(a, b), max(a, b)) for a, b in self.dominoes)
        object.__setattr__(self, "dominoes", tuple(sorted(halves)))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every cell of the board, sorted."""
        return tuple(sorted(cell for region in self.regions for cell in region.cells))

    @property
    def puzzle_id(self) -> str:
        """Hash of the canonical form."""
        return digest("pips", canonical_json(self.to_json()))

    def to_json(self) -> dict[str, Any]:
        """Write the canonical form, in the key names of the published payload."""
        return {
            "game": "pips",
            "dominoes": [list(domino) for domino in self.dominoes],
            "regions": [_region_to_json(region) for region in self.regions],
        }

    @classmethod
    def from_json(cls, value: object, place: str = "") -> Puzzle:
        """Validate a JSON value with `dominoes`, `regions` and, if it likes, `cells`.

        `place` is the path of the value in its document and starts every place that an error
        names. `cells` (a list of [row, column]) states the board apart from the regions; a cell
        of it that no region holds is an error. Other keys are ignored.
        """
        obj = _object(value, place)
        faults = Faults()
        dominoes: list[Domino | None] = []
        regions: list[_Read | None] = []
        with faults:
            dominoes = faults.each(_items(obj, "dominoes", place, MAX_CELLS // 2), _domino)
        with faults:
            of_regions = _items(obj, "regions", place, MAX_CELLS)
            regions = faults.each(of_regions, lambda item, at: _read_region(item, at, faults))
        _check_regions(regions, place, faults)
        faults.check()
        # What is wrong with the whole is told once its parts are right.
        sound = [region.sound() for region in regions if region is not None]
        if obj.get("cells") is not None:
            _check_cover(obj, sound, place)
        pairs = [domino for domino in dominoes if domino is not None]
        _check_dominoes(pairs, sum(len(region.cells) for region in sound), place)
        return cls(regions=tuple(sound), dominoes=tuple(pairs))


def _region_to_json(region: Region) -> dict[str, Any]:
    value: dict[str, Any] = {
        "indices": [list(cell) for cell in region.cells],
        "type": str(region.type),
    }
    if region.target is not None:
        value["target"] = region.target
    return value


def _shown(value: object) -> str:
    """Show a value of unknown size in an error without letting it flood the message."""
    if isinstance(value, list | dict):
        return f"a JSON {'array' if isinstance(value, list) else 'object'} of {len(value)}"
    if isinstance(value, int) and abs(value) > 10**20:
        return "an integer of more than 20 digits"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _object(value: object, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidPuzzleError("not-an-object", place, f"expected an object, got {_shown(value)}")
    return value


def _items(obj: Mapping[str, Any], key: str, place: str, most: int) -> Iterator[tuple[str, object]]:
    at = place_of(place, key)
    if key not in obj:
        raise InvalidPuzzleError("missing-key", at, f"expected a list, but {key!r} is missing")
    value = obj[key]
    if not isinstance(value, list):
        raise InvalidPuzzleError("not-a-list", at, f"expected a list, got {_shown(value)}")
    if not value:
        raise InvalidPuzzleError("empty-list", at, "expected at least one item, got none")
    if len(value) > most:
        raise InvalidPuzzleError(
            "too-many-items", at, f"expected at most {most} items, got {len(value)}"
        )
    for i, item in enumerate(value):
        yield f"{at}[{i}]", item


def _integer(value: object, place: str, what: str, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidPuzzleError(
            "not-an-integer", place, f"expected an integer {what}, got {_shown(value)}"
        )
    if value < 0:
        raise InvalidPuzzleError(
            f"negative-{what}", place, f"expected a {what} of 0 or more, got {_shown(value)}"
        )
    if value > most:
        raise InvalidPuzzleError(
            f"{what}-too-large", place, f"expected a {what} of at most {most}, got {_shown(value)}"
        )
    return value


def _pair(value: object, place: str, what: str, most: int) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise InvalidPuzzleError(
            f"bad-{what}", place, f"expected a {what} as two integers, got {_shown(value)}"
        )
    number = "pip" if what == "domino" else "coordinate"
    return (
        _integer(value[0], f"{place}[0]", number, most),
        _integer(value[1], f"{place}[1]", number, most),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A region as far as it can be read: None stands for what is wrong with it."""

    cells: Sequence[Cell | None]
    type: RegionType | None
    target: int | None
    is_targeted: bool
    """Whether type and target were read, and can be held against each other."""

    def sound(self) -> Region:
        """Make the region, of which nothing is wrong."""
        assert self.type is not None
        cells = tuple(cell for cell in self.cells if cell is not None)
        return Region(cells=cells, type=self.type, target=self.target)


def _domino(value: object, place: str) -> Domino:
    return _pair(value, place, "domino", MAX_PIP)


def _cell(value: object, place: str) -> Cell:
    return _pair(value, place, "cell", MAX_COORDINATE)


def _read_region(value: object, place: str, faults: Faults) -> _Read:
    obj = _object(value, place)
    cells: Sequence[Cell | None] = (None,)
    kind = target = None
    with faults:
        cells = faults.each(_items(obj, "indices", place, MAX_CELLS), _cell)
    name = obj.get("type")
    try:
        kind = RegionType(name)  # type: ignore[arg-type]
    except ValueError:
        expected = f"expected one of {', '.join(REGION_TYPES)}, got {_shown(name)}"
        faults.add(InvalidPuzzleError("unknown-region-type", place_of(place, "type"), expected))
    is_targeted = kind is not None
    if obj.get("target") is not None:
        is_targeted = False
        with faults:
            target = _integer(obj["target"], place_of(place, "target"), "target", MAX_TARGET)
            is_targeted = kind is not None
    return _Read(cells=cells, type=kind, target=target, is_targeted=is_targeted)


def _check_regions(regions: Sequence[Region | _Read | None], place: str, faults: Faults) -> None:
    """Gather what is wrong with regions and between them; what is None was told before."""
    if not regions and not faults.found:
        at = place_of(place, "regions")
        faults.add(InvalidPuzzleError("empty-list", at, "expected at least one region"))
    seen: dict[Cell, int] = {}
    for i, region in enumerate(regions):
        if region is None:
            continue
        at = place_of(place, f"regions[{i}]")
        if not region.cells:
            message = "expected at least one cell, got none"
            faults.add(InvalidPuzzleError("empty-list", f"{at}.indices", message))
        for j, cell in enumerate(region.cells):
            if cell is None:
                continue
            wrong = _wrong_cell(cell, i, f"{at}.indices[{j}]", seen)
            if wrong is not None:
                faults.add(wrong)
            seen.setdefault(cell, i)
        if len(seen) > MAX_CELLS:
            message = f"expected at most {MAX_CELLS} cells on the board"
            faults.add(InvalidPuzzleError("too-many-items", at, message))
            return
        if isinstance(region, Region) or region.is_targeted:
            wrong = _wrong_target(region, f"{at}.target")
            if wrong is not None:
                faults.add(wrong)


def _wrong_cell(
    cell: Cell, region: int, place: str, seen: Mapping[Cell, int]
) -> InvalidPuzzleError | None:
    """Say what is wrong with a cell of a region; `seen` has the region of each cell before it."""
    if min(cell) < 0 or max(cell) > MAX_COORDINATE:
        return InvalidPuzzleError(
            "coordinate-out-of-range",
            place,
            f"expected coordinates from 0 to {MAX_COORDINATE}, got {list(cell)}",
        )
    if cell not in seen:
        return None
    if seen[cell] == region:
        return InvalidPuzzleError(
            "duplicate-cell",
            place,
            f"cell {list(cell)} stands twice in this region; expected once",
        )
    return InvalidPuzzleError(
        "region-overlap",
        place,
        f"cell {list(cell)} already lies in regions[{seen[cell]}]; expected each cell in exactly "
        "one region",
    )


def _wrong_target(region: Region | _Read, place: str) -> InvalidPuzzleError | None:
    """Say what is wrong with the target of a region, for its type."""
    targeted = region.type in TARGETED
    if targeted and region.target is None:
        return InvalidPuzzleError(
            "missing-target", place, f"expected a target for type {region.type}"
        )
    if not targeted and region.target is not None:
        return InvalidPuzzleError(
            "unexpected-target",
            place,
            f"expected no target for type {region.type}, got {region.target}",
        )
    if region.target is not None and not 0 <= region.target <= MAX_TARGET:
        return InvalidPuzzleError(
            "target-out-of-range",
            place,
            f"expected a target from 0 to {MAX_TARGET}, got {region.target}",
        )
    return None


def _check_cover(obj: Mapping[str, Any], regions: Sequence[Region], place: str) -> None:
    covered = {cell for region in regions for cell in region.cells}
    board: set[Cell] = set()
    for at, item in _items(obj, "cells", place, MAX_CELLS):
        cell = _pair(item, at, "cell", MAX_COORDINATE)
        if cell in board:
            raise InvalidPuzzleError(
                "duplicate-cell", at, f"cell {list(cell)} stands twice on the board; expected once"
            )
        if cell not in covered:
            raise InvalidPuzzleError(
                "uncovered-cell", at, f"cell {list(cell)} lies in no region; expected exactly one"
            )
        board.add(cell)
    for i, region in enumerate(regions):
        for j, cell in enumerate(region.cells):
            if cell not in board:
                raise InvalidPuzzleError(
                    "cell-off-board",
                    place_of(place, f"regions[{i}].indices[{j}]"),
                    f"cell {list(cell)} is not among the board's cells",
                )


def _check_dominoes(dominoes: Sequence[Domino], cell_count: int, place: str = "") -> None:
    at = place_of(place, "dominoes")
    for i, domino in enumerate(dominoes):
        for half, pip in enumerate(domino):
            if not 0 <= pip <= MAX_PIP:
                raise InvalidPuzzleError(
                    "negative-pip" if pip < 0 else "pip-too-large",
                    f"{at}[{i}][{half}]",
                    f"expected pips from 0 to {MAX_PIP}, got {pip}",
                )
    if cell_count % 2:
        raise InvalidPuzzleError(
            "odd-cells",
            place_of(place, "regions"),
            f"the board has {plural(cell_count, 'cell')}; expected an even number, two for each "
            "domino",
        )
    if 2 * len(dominoes) != cell_count:
        raise InvalidPuzzleError(
            "domino-count",
            at,
            f"the board has {plural(cell_count, 'cell')} and {plural(len(dominoes), 'domino')}; "
            f"expected {plural(cell_count // 2, 'domino')}",
        )
