"""A solution of Pips: which domino lies on which two cells."""

from __future__ import annotations

import json
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
    """Write a solution as [cell, cell, pips, pips] for each tile."""
    return [[list(p.cell_a), list(p.cell_b), p.pip_a, p.pip_b] for p in solution]


def solution_from_json(value: Any) -> Solution:
    """Read a solution as `solution_to_json` writes it."""
    return tuple(
        Placement(cell_a=(a[0], a[1]), cell_b=(b[0], b[1]), pip_a=x, pip_b=y)
        for a, b, x, y in value
    )


class SolutionTexts:
    """Writes solutions as JSON texts, and each placement object of theirs once.

    The solutions of a stream share their placements; to write them all takes most of the time.
    """

    KEPT = 65_536
    """Placements whose texts are kept at most."""

    def __init__(self) -> None:
        # By identity: to compare placements takes longer than to write them.
        self._texts: dict[int, tuple[Placement, str]] = {}

    def text(self, solution: Solution) -> str:
        """Write what `solution_to_json` says of a solution, without spaces."""
        known = self._texts
        try:
            return f"[{','.join([known[id(p)][1] for p in solution])}]"
        except KeyError:
            if len(known) + len(solution) > self.KEPT:
                known = self._texts = {}
        values = solution_to_json(solution)
        texts = [json.dumps(value, separators=(",", ":")) for value in values]
        # Who knows a placement holds it, so that no other is of its identity.
        known.update({id(p): (p, text) for p, text in zip(solution, texts, strict=True)})
        return f"[{','.join(texts)}]"
