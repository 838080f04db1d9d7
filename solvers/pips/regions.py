"""The regions and dominoes of a Pips board: types, limits, and rules for both."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    """The constraint of a region on the pips on its cells."""

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
"""The region types by their code in columns and kernels."""
TARGETED = frozenset({RegionType.SUM, RegionType.LESS, RegionType.GREATER})


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Region:
    """Cells that share one constraint. `target` is None unless the type is sum, less or greater."""

    cells: tuple[Cell, ...]
    type: RegionType
    target: int | None = None


def holds(region: Region, pips: Sequence[int]) -> bool:
    """Return whether the pips on a region's cells satisfy it."""
    target = region.target if region.target is not None else 0
    match region.type:
        case RegionType.EMPTY:
            return True
        case RegionType.SUM:
            return sum(pips) == target
        case RegionType.LESS:
            return sum(pips) < target
        case RegionType.GREATER:
            return sum(pips) > target
        case RegionType.EQUALS:
            return len(set(pips)) <= 1
        case RegionType.UNEQUAL:
            return len(set(pips)) == len(pips)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRegion:
    """A region as far as it could be parsed: None replaces invalid values."""

    cells: Sequence[Cell | None]
    type: RegionType | None
    target: int | None
    is_targeted: bool
    """Whether type and target were parsed, and can be compared."""

    def sound(self) -> Region:
        """Return the region, once it is valid."""
        assert self.type is not None
        cells = tuple(cell for cell in self.cells if cell is not None)
        return Region(cells=cells, type=self.type, target=self.target)


def check_regions(
    regions: Sequence[Region | ReadRegion | None], place: str, faults: Faults
) -> None:
    """Collect the faults of regions and between them; None means an earlier fault."""
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
            if cell in seen or min(cell) < 0 or max(cell) > MAX_COORDINATE:
                faults.add(_wrong_cell(cell, i, f"{at}.indices[{j}]", seen))
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
) -> InvalidPuzzleError:
    """Describe the fault of a cell of a region; `seen` has the region of each earlier cell."""
    if min(cell) < 0 or max(cell) > MAX_COORDINATE:
        return InvalidPuzzleError(
            "coordinate-out-of-range",
            place,
            f"expected coordinates from 0 to {MAX_COORDINATE}, got {list(cell)}",
        )
    if seen[cell] == region:
        return InvalidPuzzleError(
            "duplicate-cell",
            place,
            f"cell {list(cell)} is in this region twice; expected once",
        )
    return InvalidPuzzleError(
        "region-overlap",
        place,
        f"cell {list(cell)} is already in regions[{seen[cell]}]; expected each cell in exactly "
        "one region",
    )


def _wrong_target(region: Region | ReadRegion, place: str) -> InvalidPuzzleError | None:
    """Return the fault of a region's target for its type, if any."""
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


def check_dominoes(dominoes: Sequence[Domino], cell_count: int, place: str = "") -> None:
    """Raise InvalidPuzzleError for a pip out of range, or dominoes that do not fill the cells."""
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
