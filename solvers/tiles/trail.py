"""Clear a board without a teleport where any two tiles share at most one feature.

Article 000, Theorem 24: such a walk is a Eulerian trail of the structure graph that starts and ends
on tiles. It exists if the features hang together, every feature stands on an even number of tiles,
and at most two tiles have an odd number of features; Hierholzer's algorithm builds it. Linear time
and memory.
"""

from __future__ import annotations

import numpy as np

from solvers.compiling import search_kernel
from solvers.tiles.model import Model
from solvers.tiles.solution import Walk


def shares_several(model: Model) -> bool:
    """Tell whether two tiles share more than one feature: a cycle of length four in the graph.

    Chiba and Nishizeki's search with vertices ranked by degree: linear where the features of a
    tile are bounded, size^1.5 at most.
    """
    tiles, features = model.tile_count, model.feature_count
    degree = np.concatenate([np.diff(model.start), np.diff(model.feature_start)])
    rank = np.empty(tiles + features, np.int64)
    rank[np.argsort(degree, kind="stable")] = np.arange(tiles + features)
    seen = np.full(max(tiles, features), -1, np.int64)
    return bool(
        _has_four_cycle(model.start, model.feature, model.feature_start, model.holder, rank, seen)
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
    used = np.zeros(edges, np.bool_)
    edge = np.empty(edges, np.int64)
    fill = model.feature_start[:-1].copy()
    tile_next, feature_next = model.start[:-1].copy(), model.feature_start[:-1].copy()
    stack, walk = np.empty(edges + 1, np.int64), np.empty(edges // 2 + 1, np.int32)
    length = _hierholzer(
        model.start, model.feature, model.feature_start, model.holder, edge, fill, used, tile_next,
        feature_next, stack, walk, begin,
    )  # fmt: skip
    return Walk(tiles=tuple(walk.tolist())) if length == len(walk) else None


@search_kernel
def _has_four_cycle(
    start: np.ndarray, feature: np.ndarray, feature_start: np.ndarray, holder: np.ndarray,
    rank: np.ndarray, seen: np.ndarray,
) -> bool:  # fmt: skip
    # From the vertex of the cycle that ranks highest, both paths of two edges reach the other.
    tiles = len(start) - 1
    for t in range(tiles):
        for i in range(start[t], start[t + 1]):
            f = feature[i]
            if rank[tiles + f] > rank[t]:
                continue
            for j in range(feature_start[f], feature_start[f + 1]):
                u = holder[j]
                if rank[u] < rank[t]:
                    if seen[u] == t:
                        return True
                    seen[u] = t
    for i in range(len(seen)):
        seen[i] = -1
    for f in range(len(feature_start) - 1):
        for i in range(feature_start[f], feature_start[f + 1]):
            t = holder[i]
            if rank[t] > rank[tiles + f]:
                continue
            for j in range(start[t], start[t + 1]):
                g = feature[j]
                if rank[tiles + g] < rank[tiles + f]:
                    if seen[g] == f:
                        return True
                    seen[g] = f
    return False


@search_kernel
def _hierholzer(
    start: np.ndarray, feature: np.ndarray, feature_start: np.ndarray, holder: np.ndarray,
    edge: np.ndarray, fill: np.ndarray, used: np.ndarray, tile_next: np.ndarray,
    feature_next: np.ndarray, stack: np.ndarray, walk: np.ndarray, begin: int,
) -> int:  # fmt: skip
    """Write the tiles of a trail from `begin`; return their number, fewer if not all is reached.

    Edge i joins the tile in whose list feature[i] stands to that feature; edge[j] is that of
    holder[j]. On the stack features are written as -1 - f.
    """
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
