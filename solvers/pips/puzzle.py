"""The Pips puzzle: a board of cells in regions, and the dominoes that must tile it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nightgrid.solvers.canonical import canonical_json, digest
from nightgrid.solvers.errors import Faults, InvalidPuzzleError, place_of
from nightgrid.solvers.pips.regions import (
    MAX_CELLS,
    MAX_COORDINATE,
    MAX_PIP,
    MAX_TARGET,
    REGION_TYPES,
    Cell,
    Domino,
    ReadRegion,
    Region,
    RegionType,
    check_dominoes,
    check_regions,
)


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
        check_regions(self.regions, "", faults)
        faults.check()
        check_dominoes(self.dominoes, sum(len(region.cells) for region in self.regions))
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
        """Return the canonical form, with the key names of the published payload."""
        return {
            "game": "pips",
            "dominoes": [list(domino) for domino in self.dominoes],
            "regions": [_region_to_json(region) for region in self.regions],
        }

    @classmethod
    def from_json(cls, value: object, place: str = "") -> Puzzle:
        """Validate a JSON value with `dominoes`, `regions` and optionally `cells`.

        `place` is the path of the value in its document and starts every place that an error names.
        `cells` (a list of [row, column]) states the board apart from the regions; a cell of it that
        no region holds is an error. Other keys are ignored.
        """
        obj = _object(value, place)
        faults = Faults()
        dominoes: list[Domino | None] = []
        regions: list[ReadRegion | None] = []
        with faults:
            dominoes = faults.each(_items(obj, "dominoes", place, MAX_CELLS // 2), _domino)
        with faults:
            of_regions = _items(obj, "regions", place, MAX_CELLS)
            regions = faults.each(of_regions, lambda item, at: _read_region(item, at, faults))
        check_regions(regions, place, faults)
        faults.check()
        # Faults of the whole are reported once its parts are valid.
        sound = [region.sound() for region in regions if region is not None]
        if obj.get("cells") is not None:
            _check_cover(obj, sound, place)
        pairs = [domino for domino in dominoes if domino is not None]
        check_dominoes(pairs, sum(len(region.cells) for region in sound), place)
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
    """Describe a value of unknown size in an error, without flooding the message."""
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
    if isinstance(value, list) and len(value) == 2:
        a, b = value
        if type(a) is type(b) is int and 0 <= a <= most and 0 <= b <= most:
            return a, b
    if not isinstance(value, list) or len(value) != 2:
        raise InvalidPuzzleError(
            f"bad-{what}", place, f"expected a {what} as two integers, got {_shown(value)}"
        )
    number = "pip" if what == "domino" else "coordinate"
    return (
        _integer(value[0], f"{place}[0]", number, most),
        _integer(value[1], f"{place}[1]", number, most),
    )


def _domino(value: object, place: str) -> Domino:
    return _pair(value, place, "domino", MAX_PIP)


def _cell(value: object, place: str) -> Cell:
    return _pair(value, place, "cell", MAX_COORDINATE)


def _read_region(value: object, place: str, faults: Faults) -> ReadRegion:
    obj = _object(value, place)
    cells: Sequence[Cell | None] = (None,)
    kind = target = None
    with faults:
        cells = faults.each(_items(obj, "indices", place, MAX_CELLS), _cell)
    name = obj.get("type")
    try:
        kind = RegionType(name)  # type: ignore[arg-type]
    except ValueError:
        seen = f"got {_shown(name)}" if "type" in obj else "but 'type' is missing"
        expected = f"expected one of {', '.join(REGION_TYPES)}, {seen}"
        faults.add(InvalidPuzzleError("unknown-region-type", place_of(place, "type"), expected))
    is_targeted = kind is not None
    if obj.get("target") is not None:
        is_targeted = False
        with faults:
            target = _integer(obj["target"], place_of(place, "target"), "target", MAX_TARGET)
            is_targeted = kind is not None
    return ReadRegion(cells=cells, type=kind, target=target, is_targeted=is_targeted)


def _check_cover(obj: Mapping[str, Any], regions: Sequence[Region], place: str) -> None:
    covered = {cell for region in regions for cell in region.cells}
    board: set[Cell] = set()
    for at, item in _items(obj, "cells", place, MAX_CELLS):
        cell = _pair(item, at, "cell", MAX_COORDINATE)
        if cell in board:
            raise InvalidPuzzleError(
                "duplicate-cell", at, f"cell {list(cell)} is on the board twice; expected once"
            )
        if cell not in covered:
            raise InvalidPuzzleError(
                "uncovered-cell", at, f"cell {list(cell)} is in no region; expected exactly one"
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
