"""The bucket of a state, chosen so that few states are reached from several buckets.

The step from one layer to the next fills the first free cell and a neighbour, and changes only the
regions of these two. So two states that lead to the same state agree in the progress of every other
open region, and their nodes in the forest of tilings lead to a common node. Both together are the
state's class: different classes lead to different states. A bucket's number begins with bits of the
class; if a layer has few classes, they are divided by bits for the last few domino types, which a
step seldom changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel.compiling import I64, U64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.hash_table import hash_row
from nightgrid.solvers.pips.layers import space as spaces
from nightgrid.solvers.pips.layers.expand import node_of
from nightgrid.solvers.pips.layers.space import Space, Work

CLASS_BITS = 4
TYPE_BITS = 6
BUCKETS = 1 << (CLASS_BITS + TYPE_BITS)
_ONE = np.uint64(1)
_32 = np.uint64(32)
_MIX_A = np.uint64(0x9E3779B97F4A7C15)
_MIX_B = np.uint64(0xD6E8FEB86659FD93)


class Buckets(NamedTuple):
    """The data of a board that kernels need to compute its states' buckets."""

    group: I64
    """int64[nodes]: the first node of its layer with which a node shares a child, directly or
    through others."""
    kept: U64
    """uint64[nodes, words]: the progress that no step from a node of its group changes."""
    word: Int
    """The key word with the last domino types,"""
    shift: Int
    """the place in it of the last few,"""
    bits: Int
    """and their number."""

    @classmethod
    def of(cls, work: Work) -> Buckets:
        """Compute them for a board with tilings and layout."""
        board = work.boards[0]
        nodes = int(board["layer"][board["dominoes"] + 1])
        types = int(board["types"])
        word = (types - 1) // 64
        bits = min(types - 64 * word, TYPE_BITS)
        buckets = cls(
            group=np.empty(nodes, np.int64),
            kept=np.empty((nodes, len(work.width)), np.uint64),
            word=word,
            shift=types - 64 * word - bits,
            bits=bits,
        )
        _separate(work, buckets, np.empty(nodes, np.int64))
        return buckets


@search_kernel
def _separate(work: Work, into: Buckets, parent: I64) -> None:
    # Find the groups of nodes and their constant fields; parent, int64[nodes], is scratch.
    space = Space(work.boards[0], work.forest, work.width)
    board, forest = space.board, space.forest
    group, kept = into.group, into.kept
    words = kept.shape[1]
    parent[:] = -1
    for layer in range(board.dominoes + 1):
        start, stop = board.layer[layer], board.layer[layer + 1]
        for node in range(start, stop):
            group[node] = node
            _keep(space, node, kept)
            for e in range(forest.nodes[node, spaces.EDGE], forest.nodes[node + 1, spaces.EDGE]):
                child = forest.edges[e, spaces.CHILD]
                if parent[child] < 0:
                    parent[child] = node
                    continue
                a, b = _first(group, parent[child]), _first(group, node)
                group[max(a, b)] = min(a, b)
        for node in range(start, stop):
            first = _first(group, node)
            for w in range(words):
                kept[first, w] &= kept[node, w]
        for node in range(start, stop):
            group[node] = _first(group, node)
            for w in range(words):
                kept[node, w] = kept[group[node], w]


@search_kernel
def _first(group: I64, node: Int) -> Int:
    while group[node] != node:
        node = group[node]
    return node


@search_kernel
def _keep(space: Space, node: Int, kept: U64) -> None:
    board, forest = space.board, space.forest
    for w in range(len(space.width)):
        kept[node, w] = np.uint64(0)
    here = board.region[forest.nodes[node, spaces.POSITION]]
    for i in range(forest.nodes[node, spaces.OPEN], forest.nodes[node + 1, spaces.OPEN]):
        g = forest.opens[i, spaces.OPEN_REGION]
        touched = g == here or forest.opens[i, spaces.OPEN_REST] == board.size[g]
        for e in range(forest.nodes[node, spaces.EDGE], forest.nodes[node + 1, spaces.EDGE]):
            touched |= g == board.region[forest.edges[e, spaces.PARTNER]]
        if not touched:
            ones = (_ONE << np.uint64(board.field_bits[g])) - _ONE
            kept[node, board.field_word[g]] |= ones << np.uint64(board.field_shift[g])


@inlined_kernel
def bucket_of(space: Space, buckets: Buckets, layer: Int, keys: U64, at: Int) -> Int:
    """Return the bucket of a state in this layer."""
    node = node_of(space.board, keys, at, layer)
    h = np.uint64(buckets.group[node]) * _MIX_A
    for w in range(len(space.width)):
        h = (h ^ (h >> _32) ^ (keys[at, w] & buckets.kept[node, w])) * _MIX_B
    h = (h ^ (h >> _32)) * _MIX_A
    bucket = np.int64(h >> np.uint64(64 - CLASS_BITS))
    bits = buckets.bits
    last_types = keys[at, buckets.word] >> np.uint64(buckets.shift)
    bucket = (bucket << bits) | np.int64(last_types & ((_ONE << np.uint64(bits)) - _ONE))
    if bits < TYPE_BITS:
        # Bits that indexes do not use for slots, since those are equal within a bucket.
        rest = (hash_row(space.width, keys, at) & np.uint64(0xFFFFFFFF)) * _MIX_A
        bucket = (bucket << (TYPE_BITS - bits)) | np.int64(rest >> np.uint64(64 - TYPE_BITS + bits))
    return bucket


@search_kernel
def sort_by_bucket(
    work: Work, buckets: Buckets, layer: Int, rows: U64, heads: I64, ends: I64
) -> None:
    """Sort states of a layer by bucket, in place.

    heads and ends, int64[BUCKETS], are scratch; at the end, ends has the end of each bucket.
    """
    space = Space(work.boards[0], work.forest, work.width)
    ends[:] = 0
    for r in range(len(rows)):
        ends[bucket_of(space, buckets, layer, rows, r)] += 1
    begin = np.int64(0)
    for b in range(len(ends)):
        heads[b] = begin
        begin += ends[b]
        ends[b] = begin
    for b in range(len(ends)):
        while heads[b] < ends[b]:
            here = heads[b]
            right = bucket_of(space, buckets, layer, rows, here)
            # Swap it with the state in its own bucket.
            there = heads[right]
            heads[right] += 1
            if there != here:
                for i in range(rows.shape[1]):
                    rows[here, i], rows[there, i] = rows[there, i], rows[here, i]
