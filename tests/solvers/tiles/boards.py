"""Random small boards of Tiles: any sizes of tiles, features on even and odd numbers of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from nightgrid.solvers.tiles.puzzle import Puzzle

TILES_MAX = 6
RULES = ("yes", "forced", "no")


@st.composite
def boards(draw: Any, *, tiles_max: int = TILES_MAX, odd: bool = False) -> Puzzle:
    """Boards with every feature on an even number of tiles; with `odd`, not always."""
    count = draw(st.integers(1, tiles_max))
    most = draw(st.sampled_from((2, 3, 3, 4, 6)))
    tiles: list[set[str]] = [set() for _ in range(count)]
    for feature in "ABCDEFG"[: draw(st.integers(0, 7))]:
        room = [tile for tile in tiles if len(tile) < most]
        chosen = draw(st.permutations(room))[: draw(st.integers(0, len(room)))]
        if len(chosen) % 2 and not (odd and draw(st.booleans())):
            chosen.pop()
        for tile in chosen:
            tile.add(feature)
    return Puzzle(tiles=tuple(map(tuple, tiles)))


@st.composite
def sparse(draw: Any) -> Puzzle:
    """Boards on which any two tiles share at most one feature; some can be cleared in a trail."""
    tiles: list[set[str]] = [set() for _ in range(draw(st.integers(1, 7)))]
    for feature in "ABCDEF"[: draw(st.integers(0, 6))]:
        free = list(range(len(tiles)))
        chosen: list[int] = []
        for tile in draw(st.permutations(free)):
            if all(not tiles[tile] & tiles[other] for other in chosen):
                chosen.append(tile)
        wanted = draw(st.sampled_from((2, 2, 4)))
        if len(chosen) >= wanted:
            for tile in chosen[:wanted]:
                tiles[tile].add(feature)
    return Puzzle(tiles=tuple(map(tuple, tiles)))


def renamed(puzzle: Puzzle, order: Sequence[int]) -> Puzzle:
    """Lay the tiles in another order and call every feature by another name."""
    return Puzzle(
        tiles=tuple(tuple(f"{feature}\u00e9" for feature in puzzle.tiles[i]) for i in order)
    )
