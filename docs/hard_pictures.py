"""Draw the pictures of docs/explanation/hard.md: `python docs/hard_pictures.py [NAME ...]`.

Each is a small instance, reduced, solved and drawn by nightgrid itself.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from nightgrid.service.cli.reduce import picture
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.reductions.catalogue import make, reduction

PICTURES = Path(__file__).resolve().parent / "pictures"

TWO_CLAUSES = "c order 1 2 3 4\nc sides + -\np cnf 4 2\n1 2 3 0\n2 3 4 0\n"
NESTED = "c order 1 2 3 4\nc sides + + -\np cnf 4 3\n1 3 4 0\n1 2 3 0\n2 3 4 0\n"

DRAWN: dict[str, tuple[str, str, dict[str, Any]]] = {
    "nae-letterboxed": ("nae-letterboxed", "p cnf 3 1\n1 2 3 0\n", {"padded": False}),
    "matching-letterboxed": (
        "matching-letterboxed",
        "p 3dm 3 5\n1 2 3\n2 1 1\n3 3 2\n1 1 2\n2 2 1\n",
        {},
    ),
    "more-sides": ("matching-letterboxed", "p 3dm 2 3\n1 2 1\n2 1 2\n1 1 1\n", {"sides": 5}),
    "planar-pips": ("planar-pips", NESTED, {}),
    "planar-pips-connected": ("planar-pips", TWO_CLAUSES, {"connected": True}),
    "sum-pips": ("sum-pips", "p subset-sum 5 15\n2 3 5 7 11\n", {}),
    "planar-strands": ("planar-strands", NESTED, {"diagonal": False}),
    "flow-strands": ("flow-strands", "BA..A\n...C.\n.D.D.\n...BC\n", {}),
    "blocks": ("flow-strands", "A.B\nA.B\n", {"blocks_size": 3, "diagonal": False}),
}
"""Picture, reduction, instance, variant."""


def draw(name: str) -> None:
    """Write one picture."""
    of, text, variant = DRAWN[name]
    chosen = reduction(of)
    instance = chosen.problem.read(text)
    made = make(chosen, instance, **variant)
    outcome = made.reduced.bind().solve(made.reduced.puzzle, Ask(kind="first"))
    (solution,) = outcome.solutions
    answer = chosen.problem.to_text(made.instance, made.solution_of(solution))
    path = PICTURES / f"hard-{name}.svg"
    path.write_text(picture(made, solution), encoding="utf-8")
    print(f"{path.name}: {' / '.join(answer.splitlines())}")


if __name__ == "__main__":
    for wanted in sys.argv[1:] or DRAWN:
        draw(wanted)
