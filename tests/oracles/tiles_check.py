"""Check a walk by playing it, independently of all solvers."""

from __future__ import annotations

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.tiles.puzzle import Puzzle
from nightgrid.solvers.tiles.rules import Rules
from nightgrid.solvers.tiles.solution import Walk


def check_walk(puzzle: Puzzle, walk: Walk, rules: Rules | None = None) -> None:
    """Play a walk and check that it clears the board, by the rules given (default: forced).

    Raises PermanentError for the first error: a tile that is not on the board or is selected twice
    in a row, an unmarked teleport, a mark on another move, a teleport that the rules forbid, or
    features left at the end.
    """
    allowed = (rules or Rules(teleports="forced")).teleports
    left = [set(tile) for tile in puzzle.tiles]
    marked = set(walk.teleports)
    if sorted(marked) != list(walk.teleports):
        raise PermanentError("the teleports of a walk are expected to ascend")
    if not walk.tiles:
        raise PermanentError("a walk begins on a tile; this one has none")
    previous = -1
    for i, tile in enumerate(walk.tiles):
        if not 0 <= tile < len(left):
            raise PermanentError(f"selection {i}: there is no tile {tile}")
        if tile == previous:
            raise PermanentError(f"selection {i}: tile {tile} is selected twice in a row")
        shared = left[previous] & left[tile] if i else set()
        if (i > 0 and not shared) != (i in marked):
            what = "is not marked as a teleport" if i not in marked else "is marked as a teleport"
            raise PermanentError(
                f"selection {i}: tiles {previous} and {tile} share {len(shared)} features, and "
                f"the move {what}"
            )
        if i in marked:
            if allowed == "no":
                raise PermanentError(f"selection {i}: a teleport, and the rules allow none")
            if allowed == "forced" and left[previous]:
                raise PermanentError(
                    f"selection {i}: a teleport from tile {previous}, on which "
                    f"{len(left[previous])} features are left, breaks the combo"
                )
        left[previous] -= shared
        left[tile] -= shared
        previous = tile
    if marked and max(marked) >= len(walk.tiles):
        raise PermanentError(f"teleport {max(marked)}: the walk ends before it")
    for tile, features in enumerate(left):
        if features:
            raise PermanentError(
                f"{len(features)} features are left on tile {tile}, such as {min(features)!r}"
            )
