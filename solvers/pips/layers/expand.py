"""What can follow a state: the one step that counting and searching share.

A state is a key (see layout) at a layer: so many dominoes placed. `examine` rejects a state that
the pips left can no longer complete; `expand` lays every domino left on the first free cell in
every way that the forest of tilings and the regions allow.
"""

from __future__ import annotations

import numpy as np

from nightgrid.solvers.kernel.compiling import I64, U64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.machine import ONE, ZERO, popcount, trailing_zeros
from nightgrid.solvers.pips.layers import space as spaces
from nightgrid.solvers.pips.layers.board import EQUALS, GREATER, LESS, SUM, UNEQUAL, Board
from nightgrid.solvers.pips.layers.layout import bit_length
from nightgrid.solvers.pips.layers.space import Children, Space

ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined_kernel
def node_of(board: Board, keys: U64, at: Int, layer: Int) -> Int:
    """Read the node in the forest of tilings out of a key of this layer."""
    word = keys[at, board.node_word] >> np.uint64(board.node_shift)
    return board.layer[layer] + np.int64(word & np.uint64(board.node_mask))


@inlined_kernel
def type_mask(types: Int, word: Int) -> np.uint64:
    """Mask the bits of a key word that say which domino types are left."""
    here = types - 64 * word
    if here >= 64:
        return ALL_ONES
    if here <= 0:
        return ZERO
    return (ONE << np.uint64(here)) - ONE


@inlined_kernel
def progress(board: Board, keys: U64, at: Int, g: Int) -> Int:
    """Read a region's progress out of a key."""
    bits = board.field_bits[g]
    word = keys[at, board.field_word[g]] >> np.uint64(board.field_shift[g])
    return np.int64(word & ((ONE << np.uint64(bits)) - ONE))


@inlined_kernel
def started(board: Board, keys: U64, at: Int, g: Int, rest: Int) -> Int:
    """Read a region's progress, 0 for none or for a region of which every cell is free.

    An untouched region may share its bits with one that is about to be full.
    """
    if g < 0 or rest == board.size[g]:
        return 0
    return progress(board, keys, at, g)


@search_kernel
def examine(space: Space, keys: U64, at: Int, node: Int) -> bool:
    """Count the pips left into board.supply, low and high; return whether they may suffice.

    The rules are the article's (002, "Pruning") over all open regions at once: enough equal pips
    for every equals region, enough distinct ones for unequal, and the smallest and largest sums
    that the pips left can give.
    """
    board, forest = space.board, space.forest
    values = board.values
    types = board.types
    for v in range(values):
        board.supply[v] = 0
        board.demand[v] = 0
    for w in range(len(space.width) // 2):
        left = keys[at, w] & type_mask(types, w)
        for v in range(values):
            board.supply[v] += popcount(left & board.has[v, w]) + popcount(
                left & board.double[v, w]
            )
    if board.multiples > 0:
        _add_extras(board, keys, at)
    most: Int = np.int64(0)
    for i in range(forest.nodes[node, spaces.OPEN], forest.nodes[node + 1, spaces.OPEN]):
        most = max(most, forest.opens[i, spaces.OPEN_REST])
    for e in range(forest.nodes[node, spaces.EDGE], forest.nodes[node + 1, spaces.EDGE]):
        most = max(most, forest.edges[e, spaces.REST_A], forest.edges[e, spaces.REST_B])
    _sum_extremes(board, values, most)
    for i in range(forest.nodes[node, spaces.OPEN], forest.nodes[node + 1, spaces.OPEN]):
        g = forest.opens[i, spaces.OPEN_REGION]
        rest = forest.opens[i, spaces.OPEN_REST]
        kind = board.kind[g]
        done = progress(board, keys, at, g)
        if kind == SUM:
            need = board.target[g] - done
            if need < board.low[rest] or need > board.high[rest]:
                return False
        elif kind == EQUALS:
            board.demand[done - 1] += rest
            if board.demand[done - 1] > board.supply[done - 1]:
                return False
        elif kind == LESS:
            if done + board.low[rest] >= board.target[g]:
                return False
        elif kind == GREATER:
            if done + board.high[rest] <= board.target[g]:
                return False
        else:
            fresh = 0
            for v in range(values):
                if board.supply[v] > 0 and not (done >> v) & 1:
                    fresh += 1
            if fresh < rest:
                return False
    return True


@search_kernel
def _add_extras(board: Board, keys: U64, at: Int) -> None:
    for t in range(board.types):
        if board.copies[t] > 1:
            extra = extra_copies(board, keys, at, t)
            b = board.index_sum[t]
            for v in range(board.values):
                if (board.has[v, t // 64] >> np.uint64(t % 64)) & ONE:
                    board.supply[v] += extra
                    if 2 * v == b:
                        board.supply[v] += extra


@search_kernel
def extra_copies(board: Board, keys: U64, at: Int, t: Int) -> Int:
    """Read how many copies of a domino type are left beyond the first; only for such types."""
    bits = bit_length(board.copies[t] - 1)
    word = keys[at, board.extra_word[t]] >> np.uint64(board.extra_shift[t])
    return np.int64(word & ((ONE << np.uint64(bits)) - ONE))


@search_kernel
def _sum_extremes(board: Board, values: Int, most: Int) -> None:
    # low[r], high[r]: sums of the r smallest and r largest pips left, for r up to `most`.
    board.low[0] = 0
    board.high[0] = 0
    r = 0
    for v in range(values):
        for _ in range(min(board.supply[v], most - r)):
            board.low[r + 1] = board.low[r] + board.pips[v]
            r += 1
        if r == most:
            break
    r = 0
    for v in range(values - 1, -1, -1):
        for _ in range(min(board.supply[v], most - r)):
            board.high[r + 1] = board.high[r] + board.pips[v]
            r += 1
        if r == most:
            break


@inlined_kernel
def _advance(board: Board, g: Int, done: Int, rest: Int, pip: Int, v: Int) -> Int:
    """Return a region's progress after `pip` (index v) with `rest` cells then free; -1 if dead.

    A region that is full, or satisfied whatever comes, has progress 0 or its canonical value.
    """
    kind = board.kind[g]
    if kind == SUM:
        done += pip
        need = board.target[g] - done
        if need < board.low[rest] or need > board.high[rest]:
            return -1
        return 0 if rest == 0 else done
    if kind == EQUALS:
        if done > 0:
            if done - 1 != v:
                return -1
        elif board.supply[v] <= rest:
            return -1
        return 0 if rest == 0 else v + 1
    if kind == LESS:
        done += pip
        if done + board.low[rest] >= board.target[g]:
            return -1
        # Satisfied for good: keep the least sum, which stands for all of them.
        return 0 if done + board.high[rest] < board.target[g] else done
    if kind == GREATER:
        done += pip
        if done + board.high[rest] <= board.target[g]:
            return -1
        if rest == 0:
            return 0
        return board.target[g] + 1 if done + board.low[rest] > board.target[g] else done
    if (done >> v) & 1:
        return -1
    return 0 if rest == 0 else done | (1 << v)


@inlined_kernel
def _advance_pair(board: Board, g: Int, done: Int, rest: Int, a: Int, b: Int) -> Int:
    # Both halves of a domino in one region, `rest` cells free afterwards.
    kind = board.kind[g]
    if kind == EQUALS:
        if a != b or board.supply[a] < rest + 2:
            return -1
        return _advance(board, g, done, rest, np.int64(0), a)
    if kind == UNEQUAL:
        if a == b or (done >> a) & 1:
            return -1
        return _advance(board, g, done | (1 << a), rest, np.int64(0), b)
    return _advance(board, g, done, rest, board.pips[a] + board.pips[b], b)


@inlined_kernel
def _field_clear(board: Board, g: Int) -> np.uint64:
    return ~(((ONE << np.uint64(board.field_bits[g])) - ONE) << np.uint64(board.field_shift[g]))


@search_kernel
def _allow(
    board: Board, g: Int, done: Int, rest: Int, at: Int, allow: I64, after: U64
) -> tuple[Int, Int]:
    # Which pips may lie on the cell at position `at`, and the region's progress in place. Only
    # what lies in the half-open range of indices that is returned is filled in.
    start: Int = 0
    stop = board.values
    if board.fixed[at] >= 0:
        start, stop = board.fixed[at], min(board.fixed[at] + 1, stop)
    if g < 0:
        for v in range(start, stop):
            allow[v] = board.supply[v] > 0
            after[v] = ZERO
        return start, stop
    kind = board.kind[g]
    rest -= 1
    if kind == SUM:
        need = board.target[g] - done
        while start < stop and board.pips[start] < need - board.high[rest]:
            start += 1
        while start < stop and board.pips[stop - 1] > need - board.low[rest]:
            stop -= 1
    elif kind == EQUALS and done > 0:
        start, stop = max(start, done - 1), min(stop, done)
    shift = np.uint64(board.field_shift[g])
    for v in range(start, stop):
        allow[v] = 0
        if board.supply[v] > 0:
            now = _advance(board, g, done, rest, board.pips[v], v)
            if now >= 0:
                allow[v] = 1
                after[v] = np.uint64(now) << shift
    return start, stop


@search_kernel
def expand(
    space: Space, keys: U64, at: Int, layer: Int, node: Int, into: Children, base: Int
) -> Int:
    """Write every child of an examined state from row `base` on; return how many there are.

    Order: partner, then pip on the first free cell, then the other pip, all ascending.
    """
    board, forest = space.board, space.forest
    width = len(space.width)
    children, moves = into.keys, into.moves
    count = base
    values = board.values
    types = board.types
    p = forest.nodes[node, spaces.POSITION]
    a = board.region[p]
    word_a = board.field_word[a] if a >= 0 else 0
    node_word = board.node_word
    node_shift = np.uint64(board.node_shift)
    node_clear = ~(np.uint64(board.node_mask) << node_shift)
    prepared = False
    start_a: Int = 0
    start_b: Int = 0
    stop_a = stop_b = values
    for e in range(forest.nodes[node, spaces.EDGE], forest.nodes[node + 1, spaces.EDGE]):
        q = forest.edges[e, spaces.PARTNER]
        b = board.region[q]
        pair = a >= 0 and a == b
        rest_a = forest.edges[e, spaces.REST_A]
        rest_b = forest.edges[e, spaces.REST_B]
        done_a = started(board, keys, at, a, rest_a)
        if pair:
            for v in range(values):
                board.allow_a[v] = board.supply[v] > 0 and (
                    board.fixed[p] < 0 or board.fixed[p] == v
                )
                board.allow_b[v] = board.fixed[q] < 0 or board.fixed[q] == v
            start_a, stop_a, start_b, stop_b = 0, values, 0, values
            prepared = False
        else:
            if not prepared:
                start_a, stop_a = _allow(board, a, done_a, rest_a, p, board.allow_a, board.next_a)
                prepared = True
            done_b = started(board, keys, at, b, rest_b)
            start_b, stop_b = _allow(board, b, done_b, rest_b, q, board.allow_b, board.next_b)
        word_b = board.field_word[b] if b >= 0 else 0
        child_node = np.uint64(forest.edges[e, spaces.CHILD] - board.layer[layer + 1]) << node_shift
        clear_a = _field_clear(board, a) if a >= 0 else ALL_ONES
        clear_b = _field_clear(board, b) if b >= 0 and not pair else ALL_ONES
        for x in range(start_a, stop_a):
            if not board.allow_a[x]:
                continue
            for w in range(width // 2):
                left = keys[at, w] & type_mask(types, w) & board.has[x, w]
                while left:
                    bit = left & (ZERO - left)
                    left ^= bit
                    t = 64 * w + trailing_zeros(bit)
                    y = board.index_sum[t] - x
                    if y < start_b or y >= stop_b or not board.allow_b[y]:
                        continue
                    if pair:
                        now = _advance_pair(board, a, done_a, rest_a - 2, x, y)
                        if now < 0:
                            continue
                        put_a = np.uint64(now) << np.uint64(board.field_shift[a])
                        put_b = ZERO
                    else:
                        put_a = board.next_a[x]
                        put_b = board.next_b[y]
                    for i in range(width):
                        children[count, i] = keys[at, i]
                    children[count, word_a] = (children[count, word_a] & clear_a) | put_a
                    children[count, word_b] = (children[count, word_b] & clear_b) | put_b
                    children[count, node_word] = (
                        children[count, node_word] & node_clear
                    ) | child_node
                    _take(board, children, count, t, w, bit)
                    moves[count, 0] = q
                    moves[count, 1] = x
                    moves[count, 2] = y
                    count += 1
    return count - base


@inlined_kernel
def _take(board: Board, children: U64, at: Int, t: Int, w: Int, bit: np.uint64) -> None:
    # The copies beyond the first go first, so that a type's bit says whether any is left.
    if board.copies[t] > 1 and extra_copies(board, children, at, t) > 0:
        children[at, board.extra_word[t]] -= ONE << np.uint64(board.extra_shift[t])
    else:
        children[at, w] ^= bit


@search_kernel
def write_root(board: Board, width: tuple[int, ...], keys: U64, at: Int) -> None:
    """Write the key of the empty board: every domino left, nothing filled."""
    types = board.types
    for i in range(len(width)):
        keys[at, i] = ZERO
    for w in range(len(width) // 2):
        keys[at, w] = type_mask(types, w)
    for t in range(types):
        if board.copies[t] > 1:
            extra = np.uint64(board.copies[t] - 1) << np.uint64(board.extra_shift[t])
            keys[at, board.extra_word[t]] |= extra
