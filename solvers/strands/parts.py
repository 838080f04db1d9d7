"""Parts of a Strands job: choices from the root of the search, and a range for the next."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from nightgrid.solvers.game_contract import even_parts

Part = dict[str, Any]
"""{"under": choices from the root, "from": first child, "to": behind the last}."""

FIRST_WORK = 0.4
"""What the first spangram of a board costs, over the mean of all: the halves of three of the
slowest published boards, cut at the middle, took 28 to 38 % of the time and the rest."""


def part_range(part: Part | None) -> tuple[list[int], int, int | None]:
    """Take a part apart: choices from the root, first child, behind the last (None: all)."""
    if part is None:
        return [], 0, None
    return list(part["under"]), part["from"], part["to"]


def walk(engine: Any, under: list[int]) -> tuple[list[tuple[str, int]], Any, int]:
    """Follow choices from the root: the pieces placed, the state reached, the score so far."""
    pieces: list[tuple[str, int]] = []
    state, score = None, 0
    for depth, choice in enumerate(under):
        piece, value, state = (
            engine.root_child(choice) if depth == 0 else engine.children(state)[choice]
        )
        pieces.append(piece)
        score += value
    return pieces, state, score


def divide(engine: Any, part: Part | None, into: int) -> list[Part]:
    """Divide a job or a part by its spangrams, and what is one spangram by its first words.

    Of a whole job later parts have fewer spangrams: theirs cost more.
    """
    under, start, stop = part_range(part)
    while True:
        size = _size(engine, under)
        stop = size if stop is None else min(stop, size)
        if stop - start != 1:
            break
        under, start, stop = [*under, start], 0, None
        if not _size(engine, under):
            under, start, stop = under[:-1], under[-1], under[-1] + 1
            break
    if part is None and not under and stop:
        many = min(into, stop)
        cuts = sorted({round(stop * _cut_at(i / many)) for i in range(many + 1)})
        return [{"under": [], "from": a, "to": b} for a, b in pairwise(cuts)]
    return even_parts(range(start, stop), into, under=under)


def _cut_at(share: float) -> float:
    """Return the share of the spangrams before which this share of the work lies, about.

    Work a spangram grows from FIRST_WORK to 2 - FIRST_WORK, so it is a quadratic equation.
    """
    growth = 1.0 - FIRST_WORK
    return (math.sqrt(FIRST_WORK**2 + 4.0 * growth * share) - FIRST_WORK) / (2.0 * growth)


def _size(engine: Any, under: list[int]) -> int:
    if not under:
        return int(engine.root_size())
    return len(engine.children(walk(engine, under)[1]))
