"""Which bucket a state falls into: chosen so that few states are reached from several buckets.

The step from one layer to the next fills the first free cell and a neighbour of it, and changes
nothing but the regions of these two. So two states that lead to the same state agree in the
progress of every other open region, and their nodes in the forest of tilings lead to a common
node. Both together are the state's class: what different classes lead to is different. A bucket's
number begins with bits of the class; where a layer has few classes, bits that say which of the last
few domino types are left divide them, and which of these a step takes away is seldom the question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.compiling import inlined_kernel, search_kernel
from solvers.pips.board import (
    CHILD,
    EDGE,
    OPEN,
    OPEN_REGION,
    PARTNER,
    POSITION,
    Forest,
)
from solvers.pips.count import hash_key
from solvers.pips.expand import node_of

CLASS_BITS = 4
TYPE_BITS = 6
BUCKETS = 1 << (CLASS_BITS + TYPE_BITS)
_ONE = np.uint64(1)
_32 = np.uint64(32)
_MIX_A = np.uint64(0x9E3779B97F4A7C15)
_MIX_B = np.uint64(0xD6E8FEB86659FD93)


@dataclass(frozen=True, slots=True, kw_only=True)
class Buckets:
    """What the kernels need to know of a board to tell its states' buckets."""

    group: npt.NDArray[np.int64]
    """By node: the first node of its layer with which it shares a child, directly or through
    others."""
    kept: npt.NDArray[np.uint64]
    """By node and key word: the progress that no step from a node of its group changes."""
    word: int
    """The key word with the last domino types,"""
    shift: int
    """the place in it of the last few,"""
    bits: int
    """and their number."""

    @classmethod
    def of(cls, board: Any, forest: Forest, words: tuple[int, ...]) -> Buckets:
        """Take up a board whose tilings and layout are in place."""
        nodes = int(board["layer"][board["dominoes"] + 1])
        group = np.empty(nodes, np.int64)
        kept = np.empty((nodes, len(words)), np.uint64)
        separate(board, forest, words, group, kept, np.empty(nodes, np.int64))
        types = int(board["types"])
        word = (types - 1) // 64
        bits = min(types - 64 * word, TYPE_BITS)
        return cls(group=group, kept=kept, word=word, shift=types - 64 * word - bits, bits=bits)


@search_kernel
def separate(board: Any, forest: Forest, words: Any, group: Any, kept: Any, parent: Any) -> None:
    """Find the groups of nodes and what they keep: see Buckets. `parent` (nodes,) is scratch."""
    parent[:] = -1
    for layer in range(board.dominoes + 1):
        start, stop = board.layer[layer], board.layer[layer + 1]
        for node in range(start, stop):
            group[node] = node
            _keep(board, forest, words, node, kept)
            for e in range(forest.nodes[node, EDGE], forest.nodes[node + 1, EDGE]):
                child = forest.edges[e, CHILD]
                if parent[child] < 0:
                    parent[child] = node
                    continue
                a, b = _first(group, parent[child]), _first(group, node)
                group[max(a, b)] = min(a, b)
        for node in range(start, stop):
            first = _first(group, node)
            for w in range(len(words)):
                kept[first, w] &= kept[node, w]
        for node in range(start, stop):
            group[node] = _first(group, node)
            for w in range(len(words)):
                kept[node, w] = kept[group[node], w]


@search_kernel
def _first(group: Any, node: int) -> int:
    while group[node] != node:
        node = group[node]
    return node


@search_kernel
def _keep(board: Any, forest: Forest, words: Any, node: int, kept: Any) -> None:
    for w in range(len(words)):
        kept[node, w] = np.uint64(0)
    here = board.region[forest.nodes[node, POSITION]]
    for i in range(forest.nodes[node, OPEN], forest.nodes[node + 1, OPEN]):
        g = forest.opens[i, OPEN_REGION]
        touched = g == here
        for e in range(forest.nodes[node, EDGE], forest.nodes[node + 1, EDGE]):
            touched |= g == board.region[forest.edges[e, PARTNER]]
        if not touched:
            ones = (_ONE << np.uint64(board.field_bits[g])) - _ONE
            kept[node, board.field_word[g]] |= ones << np.uint64(board.field_shift[g])


@inlined_kernel
def bucket_of(
    board: Any, words: Any, group: Any, kept: Any, word: int, shift: int, bits: int, layer: int,
    keys: Any, at: int,
) -> np.int64:  # fmt: skip
    """Tell the bucket of a state in this layer."""
    node = node_of(board, keys, at, layer)
    h = np.uint64(group[node]) * _MIX_A
    for w in range(len(words)):
        h = (h ^ (h >> _32) ^ (keys[at, w] & kept[node, w])) * _MIX_B
    h = (h ^ (h >> _32)) * _MIX_A
    bucket = np.int64(h >> np.uint64(64 - CLASS_BITS))
    types = np.int64((keys[at, word] >> np.uint64(shift)) & ((_ONE << np.uint64(bits)) - _ONE))
    bucket = (bucket << bits) | types
    if bits < TYPE_BITS:
        # Other bits than those by which an index finds its slots: those are alike in a bucket.
        rest = (hash_key(words, keys, at) & np.uint64(0xFFFFFFFF)) * _MIX_A
        bucket = (bucket << (TYPE_BITS - bits)) | np.int64(rest >> np.uint64(64 - TYPE_BITS + bits))
    return bucket


@search_kernel
def sort_by_bucket(
    board: Any, words: Any, group: Any, kept: Any, word: int, shift: int, bits: int, layer: int,
    rows: Any, heads: Any, ends: Any,
) -> None:  # fmt: skip
    """Sort states of a layer by bucket, in place.

    heads and ends (BUCKETS,) int64 are scratch; in the end, ends tells where each bucket ends.
    """
    ends[:] = 0
    for r in range(len(rows)):
        ends[bucket_of(board, words, group, kept, word, shift, bits, layer, rows, r)] += 1
    begin = np.int64(0)
    for b in range(len(ends)):
        heads[b] = begin
        begin += ends[b]
        ends[b] = begin
    for b in range(len(ends)):
        while heads[b] < ends[b]:
            here = heads[b]
            right = bucket_of(board, words, group, kept, word, shift, bits, layer, rows, here)
            # Into its own bucket, and what lay there comes here.
            there = heads[right]
            heads[right] += 1
            if there != here:
                for i in range(rows.shape[1]):
                    rows[here, i], rows[there, i] = rows[there, i], rows[here, i]
