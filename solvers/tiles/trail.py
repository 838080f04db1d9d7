"""Clear a board without a teleport where any two tiles share at most one feature.

Article 000, Theorem 24: such a walk is a Eulerian trail of the structure graph that starts and ends
on tiles. It exists if the features hang together, every feature stands on an even number of tiles,
and at most two tiles have an odd number of features; Hierholzer's algorithm builds it. Linear time
and memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel.compiling import I32, I64, Bools, Int, search_kernel
from nightgrid.solvers.tiles.model import Model
from nightgrid.solvers.tiles.solution import Walk


def shares_several(model: Model) -> bool:
    """Return whether two tiles share more than one feature: a cycle of length four in the graph.

    Chiba and Nishizeki's search with vertices ranked by degree: linear where the features of a
    tile are bounded, size^1.5 at most.
    """
    tiles, features = model.tile_count, model.feature_count
    degree = np.concatenate([np.diff(model.start), np.diff(model.feature_start)])
    rank = np.empty(tiles + features, np.int64)
    rank[np.argsort(degree, kind="stable")] = np.arange(tiles + features)
    of_tile, of_feature = rank[:tiles].copy(), rank[tiles:].copy()
    by_tile, by_feature = (model.start, model.feature), (model.feature_start, model.holder)
    # From the vertex of the cycle that ranks highest, both paths of two edges reach the other.
    return bool(
        _meets_twice(*by_tile, *by_feature, of_tile, of_feature, np.full(tiles, -1))
        or _meets_twice(*by_feature, *by_tile, of_feature, of_tile, np.full(features, -1))
    )


def euler_trail(model: Model) -> Walk | None:
    """Build a walk without teleports from a Eulerian trail, or return None if there is none.

    Any two tiles of the board may share at most one feature.
    """
    sizes = np.diff(model.start)
    odd = np.flatnonzero(sizes & 1)
    if not model.solvable or len(odd) > 2:
        return None
    full = np.flatnonzero(sizes)
    begin = int(odd[0]) if len(odd) else int(full[0]) if len(full) else 0
    edges = len(model.feature)
    space = _TrailSpace(
        edge=np.empty(edges, np.int64),
        fill=model.feature_start[:-1].copy(),
        used=np.zeros(edges, np.bool_),
        tile_next=model.start[:-1].copy(),
        feature_next=model.feature_start[:-1].copy(),
        stack=np.empty(edges + 1, np.int64),
    )
    walk = np.empty(edges // 2 + 1, np.int32)
    length = _hierholzer(model, space, walk, begin)
    return Walk(tiles=tuple(walk.tolist())) if length == len(walk) else None


@search_kernel
def _meets_twice(
    here: I64, neighbour: I32, there: I64, back: I32, rank: I64, other_rank: I64, seen: I64
) -> bool:
    """Return whether two paths of two edges lead from a vertex of one side to a lower one of it.

    The neighbours of v are neighbour[here[v]:here[v + 1]], theirs are in `back` by `there`.
    """
    for v in range(len(here) - 1):
        for i in range(here[v], here[v + 1]):
            middle = neighbour[i]
            if other_rank[middle] > rank[v]:
                continue
            for j in range(there[middle], there[middle + 1]):
                end = back[j]
                if rank[end] < rank[v]:
                    if seen[end] == v:
                        return True
                    seen[end] = v
    return False


class _TrailSpace(NamedTuple):
    """What Hierholzer's algorithm works with."""

    edge: I64
    """int64[edges]: edge[j] joins holder[j] to its feature."""
    fill: I64
    """int64[features]: where the next edge of each feature goes; at first where they begin."""
    used: Bools
    """bool[edges], False: the edges of the trail."""
    tile_next: I64
    feature_next: I64
    """int64[tiles], int64[features]: the edge to look at next; at first where they begin."""
    stack: I64
    """int64[edges + 1]: tiles, and features written as -1 - f."""


@search_kernel
def _hierholzer(model: Model, space: _TrailSpace, walk: I32, begin: Int) -> Int:
    """Write the tiles of a trail from `begin`; return their number, fewer if not all is reached.

    Edge i joins the tile in whose list feature[i] stands to that feature.
    """
    start, feature = model.start, model.feature
    feature_start, holder = model.feature_start, model.holder
    edge, fill, used, stack = space.edge, space.fill, space.used, space.stack
    tile_next, feature_next = space.tile_next, space.feature_next
    for t in range(len(start) - 1):
        for i in range(start[t], start[t + 1]):
            edge[fill[feature[i]]] = i
            fill[feature[i]] += 1
    stack[0] = begin
    height, length = 1, 0
    while height:
        v = stack[height - 1]
        if v >= 0:
            i = tile_next[v]
            while i < start[v + 1] and used[i]:
                i += 1
            tile_next[v] = i
            if i < start[v + 1]:
                used[i] = True
                stack[height] = -1 - feature[i]
                height += 1
                continue
            walk[length] = v
            length += 1
        else:
            f = -1 - v
            j = feature_next[f]
            while j < feature_start[f + 1] and used[edge[j]]:
                j += 1
            feature_next[f] = j
            if j < feature_start[f + 1]:
                used[edge[j]] = True
                stack[height] = holder[j]
                height += 1
                continue
        height -= 1
    return length
