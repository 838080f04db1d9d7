"""Random boards of Tiles, in the form in which the game's page holds them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nightgrid.service.games.plug import Payload, Said, compact
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.tiles.generate import Form, generate, to_page

BOARDS_A_SEED = 2**32
"""Boards have seeds of their own: those of one --seed are no other's."""


def form_of(said: Said) -> Form:
    """Read what boards look like. Raises PermanentError for shapes that are no numbers."""
    given: dict[str, Any] = {name: said[name] for name in ("tiles", "layers") if name in said}
    if "shapes" in said:
        least, _, most = said["shapes"].partition("-")
        numbers = (least, most or least)
        if not all(n.isascii() and n.isdecimal() and len(n) <= 8 for n in numbers):
            raise PermanentError(
                f"--shapes is {said['shapes']!r:.40}; expected a number or two, such as 6-12"
            )
        given |= {"shapes_min": int(numbers[0]), "shapes_max": int(numbers[1])}
    return Form(**given)


def numbered_boards(form: Form, boards: int, seed: int) -> Iterator[Payload]:
    """Make boards named by their numbers."""
    for i in range(boards):
        board = generate(form, seed * BOARDS_A_SEED + i)
        yield Payload(f"{i + 1:0{len(str(boards))}}", compact(to_page(board)))
