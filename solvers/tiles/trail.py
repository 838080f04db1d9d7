"""Clear a board without a teleport where any two tiles share at most one feature.

Article 000, Theorem 24: such a walk is a Eulerian trail of the structure graph that starts and ends
on tiles. It exists if the graph is connected, every feature is on an even number of tiles, and at
most two tiles have an odd number of features; Hierholzer's algorithm builds it. Linear time and
memory.
"""

from __future__ import annotations

from nightgrid.solvers.tiles.model import Model
from nightgrid.solvers.tiles.solution import Walk


def shares_several(model: Model) -> bool:
    """Return whether two tiles share more than one feature: a cycle of length four in the graph.

    Chiba and Nishizeki's search with vertices ranked by degree: linear where the features of a
    tile are bounded, size^1.5 at most.
    """
    count = len(model.tiles)
    near = [[count + f for f in features] for features in model.tiles] + model.holders
    rank = [0] * len(near)
    for place, vertex in enumerate(sorted(range(len(near)), key=lambda v: len(near[v]))):
        rank[vertex] = place
    # From the vertex of the cycle that ranks highest, both paths of two edges reach the other.
    seen = [-1] * len(near)
    for vertex, middles in enumerate(near):
        for middle in middles:
            if rank[middle] > rank[vertex]:
                continue
            for end in near[middle]:
                if rank[end] < rank[vertex]:
                    if seen[end] == vertex:
                        return True
                    seen[end] = vertex
    return False


def euler_trail(model: Model) -> Walk | None:
    """Build a walk without teleports from a Eulerian trail, or return None if there is none.

    Any two tiles of the board may share at most one feature.
    """
    odd = [tile for tile, features in enumerate(model.tiles) if len(features) % 2]
    if not model.solvable or len(odd) > 2:
        return None
    full = (tile for tile, features in enumerate(model.tiles) if features)
    features = [tile[::-1] for tile in model.tiles]
    holders = [tiles[::-1] for tiles in model.holders]
    used: set[tuple[int, int]] = set()
    walk: list[int] = []
    # Tiles, and features written as -1 - f.
    stack = [odd[0] if odd else next(full, 0)]
    while stack:
        here = stack[-1]
        near = features[here] if here >= 0 else holders[-1 - here]
        while near:
            there = near.pop()
            edge = (here, there) if here >= 0 else (there, -1 - here)
            if edge not in used:
                used.add(edge)
                stack.append(-1 - there if here >= 0 else there)
                break
        else:
            stack.pop()
            if here >= 0:
                walk.append(here)
    return Walk(tiles=tuple(walk)) if len(walk) == model.size // 2 + 1 else None
