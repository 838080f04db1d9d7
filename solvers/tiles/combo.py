"""Clear a board in a single combo: the greedy walk of article 000, Theorem 4.

It moves from the current tile to any tile that shares a feature with it, or if nothing is left on
the current tile, by a forced teleport to any other with features left. By parity the walk gets
stuck nowhere else. A move deletes all that two tiles share, for which the features of the one with
fewer left are looked up on the other. Two tiles are compared at most once in the whole walk (after
that they share nothing), so the time is linear in the size of the board if the features of a tile
are bounded, and at most size^1.5 otherwise. Memory is linear.
"""

from __future__ import annotations

from nightgrid.solvers.tiles.model import Model
from nightgrid.solvers.tiles.solution import Walk


def combo(model: Model) -> Walk:
    """Build a walk of standard moves and forced teleports. The board has to be solvable."""
    left = [set(features) for features in model.tiles]
    # Features gone from a tile are dropped from the end of its list lazily.
    features = [list(tile) for tile in model.tiles]
    holders = [tiles[::-1] for tiles in model.holders]
    waiting = [tile for tile in reversed(range(len(left))) if left[tile]]
    now = waiting[-1] if waiting else 0
    walk = [now]
    teleports: list[int] = []
    while True:
        while waiting and not left[waiting[-1]]:
            waiting.pop()
        if not waiting:
            return Walk(tiles=tuple(walk), teleports=tuple(teleports))
        if not left[now]:
            teleports.append(len(walk))
            now = waiting[-1]
            walk.append(now)
        while features[now][-1] not in left[now]:
            features[now].pop()
        wanted = features[now][-1]
        near = holders[wanted]
        while wanted not in left[near[-1]]:
            near.pop()
        other = next(tile for tile in reversed(near) if tile != now and wanted in left[tile])
        shared = left[now] & left[other]
        left[now] -= shared
        left[other] -= shared
        now = other
        walk.append(now)
