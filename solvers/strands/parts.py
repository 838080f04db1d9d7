"""Parts of a Strands job: choices from the root of the search, and a range for the next."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from nightgrid.solvers.game_contract import even_parts

Part = dict[str, Any]
"""{"under": choices from the root, "from": first child, "to": past the last}."""


def part_range(part: Part | None) -> tuple[list[int], int, int | None]:
    """Unpack a part: choices from the root, first child, past the last (None: all)."""
    if part is None:
        return [], 0, None
    return list(part["under"]), part["from"], part["to"]


def walk(engine: Any, under: list[int]) -> tuple[list[tuple[str, int]], Any, int]:
    """Follow choices from the root; return the pieces placed, the state and the score so far."""
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
    """Divide a job or a part by its spangrams, or a single spangram by its first words.

    Later parts of a whole job have fewer spangrams, since these cost more.
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
        # The first spangrams cost least. On the ten slowest published boards, the larger of two
        # such parts took 0.52 to 0.66 of the whole.
        many = min(into, stop)
        cuts = sorted({round(stop * math.sqrt(i / many)) for i in range(many + 1)})
        return [{"under": [], "from": a, "to": b} for a, b in pairwise(cuts)]
    return even_parts(range(start, stop), into, under=under)


def _size(engine: Any, under: list[int]) -> int:
    if not under:
        return int(engine.root_size())
    return len(engine.children(walk(engine, under)[1]))
