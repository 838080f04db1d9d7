"""Continue a player's selected tiles: the rest of the board, from the last of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nightgrid.solvers.errors import IllegalMoveError
from nightgrid.solvers.tiles.puzzle import Puzzle
from nightgrid.solvers.tiles.rules import Teleports


def play_tiles(puzzle: Puzzle, moves: Sequence[Any], teleports: Teleports) -> Puzzle:
    """Return the board after a player's selections. Raises IllegalMoveError for one not allowed."""
    left = [set(tile) for tile in puzzle.tiles]
    for i, tile in enumerate(moves):
        if type(tile) is not int or not 0 <= tile < len(left):
            raise IllegalMoveError(i, f"expected a tile from 0 to {len(left) - 1}")
        if not i:
            continue
        before = moves[i - 1]
        if tile == before:
            raise IllegalMoveError(i, "a tile is not selected twice in a row")
        shared = left[before] & left[tile]
        if not shared and (teleports == "no" or (teleports == "forced" and left[before])):
            raise IllegalMoveError(i, "it shares nothing with the tile before")
        left[before] -= shared
        left[tile] -= shared
    return Puzzle(tiles=tuple(tuple(sorted(tile)) for tile in left))
