"""Check a walk of Tiles by playing it, independently of all solvers."""

from __future__ import annotations

from nightgrid.solvers.tiles.puzzle import Puzzle
from nightgrid.solvers.tiles.rules import Rules
from nightgrid.solvers.tiles.solution import Walk


def check_walk(puzzle: Puzzle, walk: Walk, rules: Rules | None = None) -> None:
    """Play a walk and assert that it clears the board, by the rules given (default: forced)."""
    allowed = (rules or Rules(teleports="forced")).teleports
    assert walk.tiles, "a walk begins on a tile"
    left = [set(tile) for tile in puzzle.tiles]
    assert sorted(set(walk.teleports)) == list(walk.teleports), "teleports are to ascend"
    assert all(0 < move < len(walk.tiles) for move in walk.teleports), "the walk ends before it"
    for i, (previous, tile) in enumerate(zip(walk.tiles, walk.tiles[1:], strict=False), 1):
        assert tile != previous, "selected twice in a row"
        shared = left[previous] & left[tile]
        assert bool(shared) != (i in walk.teleports), "moves without shared features are teleports"
        if not shared:
            assert allowed != "no", "the rules allow none"
            assert allowed == "yes" or not left[previous], "breaks the combo"
        left[previous] -= shared
        left[tile] -= shared
    assert not any(left), "features are left"
