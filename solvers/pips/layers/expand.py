"""The successors of a state: the step that counting and searching share.

A state is a key (see layout) at a layer, its number of placed dominoes. `examine` rejects a state
that the remaining pips cannot complete; `expand` lays every remaining domino on the first free cell
in every way that the forest of tilings and the regions allow.
"""

from __future__ import annotations

import numpy as np

from nightgrid.solvers.kernel.compiling import I64, U64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.machine import ONE, ZERO, popcount, trailing_zeros
from nightgrid.solvers.pips.layers import space as spaces
from nightgrid.solvers.pips.layers.board import EQUALS, SUM, UNEQUAL, Board
from nightgrid.solvers.pips.layers.layout import bit_length
from nightgrid.solvers.pips.layers.space import Children, Space

FEW = 4
"""Halves of the same pips, of which there are rarely more left."""
ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined_kernel
def node_of(board: Board, keys: U64, at: Int, layer: Int) -> Int:
    """Read the node in the forest of tilings out of a key of this layer."""
    word = keys[at, board.node_word] >> np.uint64(board.node_shift)
    return board.layer[layer] + np.int64(word & np.uint64(board.node_mask))


@inlined_kernel
def type_mask(types: Int, word: Int) -> np.uint64:
    """Mask the bits of a key word for the remaining domino types."""
    here = types - 64 * word
    if here >= 64:
        return ALL_ONES
    if here <= 0:
        return ZERO
    return (ONE << np.uint64(here)) - ONE


@inlined_kernel
def started(board: Board, keys: U64, at: Int, g: Int, rest: Int) -> Int:
    """Read a region's progress; 0 for no region or an empty one.

    An empty region may share its bits with one that is about to be full.
    """
    if g < 0 or rest == board.size[g]:
        return 0
    word = keys[at, board.field_word[g]] >> np.uint64(board.field_shift[g])
    return np.int64(word & ((ONE << np.uint64(board.field_bits[g])) - ONE))


@search_kernel
def examine(space: Space, keys: U64, at: Int, node: Int) -> bool:
    """Sort the remaining pips into board.spare and low; return whether they may complete a state.

    Halves that known cells take, the last of a sum and those of a started equals region, are set
    apart first. The others must allow for each region by itself, and for all sums together: the
    article's rules (002, "Pruning"), for the whole board at once.
    """
    board, nodes, opens = space.board, space.forest.nodes, space.forest.opens
    values, pips, low, spare = board.values, board.pips, board.low, board.spare
    low[0] = 0
    for v in range(values):
        spare[v] = 0
    for w in range(len(space.width) // 2):
        left = keys[at, w] & type_mask(board.types, w)
        for v in range(values):
            spare[v] += popcount(left & board.has[v, w]) + popcount(left & board.double[v, w])
    if board.multiples > 0:
        for t in range(board.types):
            if board.copies[t] > 1:
                extra = extra_copies(board, keys, at, t)
                spare[board.low_half[t]] += extra
                spare[board.index_sum[t] - board.low_half[t]] += extra
    known, stop = nodes[node, spaces.KNOWN], nodes[node + 1, spaces.OPEN]
    for i in range(nodes[node, spaces.OPEN], known):
        g, rest = opens[i, spaces.OPEN_REGION], opens[i, spaces.OPEN_REST]
        done = started(board, keys, at, g, rest)
        one: Int = done - 1
        if board.kind[g] == SUM:
            # Pips are mostly 0 to 6, their own indices.
            need = board.target[g] - done
            one = min(need, values - 1)
            while one > 0 and pips[one] > need:
                one -= 1
            if pips[one] != need:
                return False
        spare[one] -= rest
        if spare[one] < 0:
            return False
    halves: Int = np.int64(0)
    total: Int = np.int64(0)
    for v in range(values):
        # A loop of constant length is faster; what it writes too much is overwritten.
        for r in range(1, FEW + 1):
            low[halves + r] = total + r * pips[v]
        for r in range(FEW + 1, spare[v] + 1):
            low[halves + r] = total + r * pips[v]
        halves += spare[v]
        total += spare[v] * pips[v]
    board.spares = halves
    # Least and greatest sums of the regions together, and the exact ones among them.
    least: Int = np.int64(0)
    greatest: Int = np.int64(0)
    exact: Int = np.int64(0)
    loose: Int = halves
    exact_cells: Int = np.int64(0)
    for i in range(known, stop):
        g, rest = opens[i, spaces.OPEN_REGION], opens[i, spaces.OPEN_REST]
        loose -= rest
        done = started(board, keys, at, g, rest)
        floor, ceiling = low[rest], total - low[halves - rest]
        kind = board.kind[g]
        if kind in (EQUALS, UNEQUAL):
            ways = 0
            for v in range(values):
                if kind == EQUALS:
                    ways += rest if spare[v] >= rest else 0
                elif spare[v] > 0 and not (done >> v) & 1:
                    ways += 1
            if ways < rest:
                return False
        else:
            bottom, top = board.least[g] - done, board.most[g] - done
            if bottom > ceiling or top < floor:
                return False
            if bottom == top:
                exact += top
                exact_cells += rest
            floor, ceiling = max(floor, bottom), min(ceiling, top)
        least += floor
        greatest += ceiling
    return (
        least + low[loose] <= total <= greatest + total - low[halves - loose]
        and low[exact_cells] <= exact <= total - low[halves - exact_cells]
    )


@search_kernel
def extra_copies(board: Board, keys: U64, at: Int, t: Int) -> Int:
    """Read how many copies beyond the first are left of a domino type with copies."""
    bits = bit_length(board.copies[t] - 1)
    word = keys[at, board.extra_word[t]] >> np.uint64(board.extra_shift[t])
    return np.int64(word & ((ONE << np.uint64(bits)) - ONE))


@inlined_kernel
def _advance(board: Board, g: Int, done: Int, rest: Int, v: Int) -> Int:
    """Return a region's progress after pips of index v, with `rest` cells left; -1 if broken.

    A full or finally satisfied region has progress 0 or its canonical value.
    """
    kind, spare = board.kind[g], board.spare[v]
    if kind == EQUALS:
        if done != v + 1 and (done > 0 or spare <= rest):
            return -1
        return 0 if rest == 0 else v + 1
    if kind == UNEQUAL:
        if spare == 0 or (done >> v) & 1:
            return -1
        return 0 if rest == 0 else done | (1 << v)
    done += board.pips[v]
    bottom, top = board.least[g] - done, board.most[g] - done
    floor = board.low[rest]
    ceiling = board.low[board.spares] - board.low[board.spares - rest]
    if bottom > ceiling or top < floor or (rest > 0 and spare == 0):
        return -1
    if rest == 0:
        return 0
    # Satisfied for good: one sum stands for all of them.
    return board.least[g] if kind != SUM and bottom <= floor and ceiling <= top else done


@search_kernel
def _allow(board: Board, g: Int, done: Int, rest: Int, at: Int, after: I64) -> None:
    # The region's progress after each of the pips on the cell at position `at`, -1 if they are not
    # allowed there. Of the region, `rest` cells are free before.
    fixed = board.fixed[at]
    for v in range(board.values):
        if fixed >= 0 and fixed != v:
            after[v] = -1
        elif g < 0:
            after[v] = 0 if board.spare[v] > 0 else -1
        else:
            after[v] = _advance(board, g, done, rest - 1, v)


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
    base_key = board.base_key
    p = forest.nodes[node, spaces.POSITION]
    a = board.region[p]
    begin, end = forest.nodes[node, spaces.EDGE], forest.nodes[node + 1, spaces.EDGE]
    for e in range(begin, end):
        q = forest.edges[e, spaces.PARTNER]
        b = board.region[q]
        pair = a >= 0 and a == b
        rest_a, rest_b = forest.edges[e, spaces.REST_A], forest.edges[e, spaces.REST_B]
        if e == begin:
            _allow(board, a, started(board, keys, at, a, rest_a), rest_a, p, board.next_a)
        if not pair:
            _allow(board, b, started(board, keys, at, b, rest_b), rest_b, q, board.next_b)
        for i in range(width):
            base_key[i] = keys[at, i]
        word_a, shift_a = _clear_field(board, a)
        word_b, shift_b = _clear_field(board, b)
        child_node = forest.edges[e, spaces.CHILD] - board.layer[layer + 1]
        shift = np.uint64(board.node_shift)
        base_key[board.node_word] &= ~(np.uint64(board.node_mask) << shift)
        base_key[board.node_word] |= np.uint64(child_node) << shift
        for x in range(board.values):
            if board.next_a[x] < 0:
                continue
            put_a = np.uint64(board.next_a[x]) << shift_a
            if pair:
                _allow(board, b, board.next_a[x], rest_a - 1, q, board.next_b)
                put_a = ZERO
            for w in range(width // 2):
                left = keys[at, w] & type_mask(board.types, w) & board.has[x, w]
                while left:
                    bit = left & (ZERO - left)
                    left ^= bit
                    t = 64 * w + trailing_zeros(bit)
                    y = board.index_sum[t] - x
                    if board.next_b[y] < 0:
                        continue
                    for i in range(width):
                        children[count, i] = base_key[i]
                    children[count, word_a] |= put_a
                    children[count, word_b] |= np.uint64(board.next_b[y]) << shift_b
                    _take(board, children, count, t, w, bit)
                    moves[count, 0] = q
                    moves[count, 1] = x
                    moves[count, 2] = y
                    count += 1
    return count - base


@inlined_kernel
def _clear_field(board: Board, g: Int) -> tuple[Int, np.uint64]:
    if g < 0:
        return 0, ZERO
    word, shift = board.field_word[g], np.uint64(board.field_shift[g])
    board.base_key[word] &= ~(((ONE << np.uint64(board.field_bits[g])) - ONE) << shift)
    return word, shift


@inlined_kernel
def _take(board: Board, children: U64, at: Int, t: Int, w: Int, bit: np.uint64) -> None:
    # Copies beyond the first are used first, so that a type's bit says whether any is left.
    if board.copies[t] > 1 and extra_copies(board, children, at, t) > 0:
        children[at, board.extra_word[t]] -= ONE << np.uint64(board.extra_shift[t])
    else:
        children[at, w] ^= bit


@search_kernel
def write_root(board: Board, width: tuple[int, ...], keys: U64, at: Int) -> None:
    """Write the key of the empty board: every domino left, no cell filled."""
    types = board.types
    for i in range(len(width)):
        keys[at, i] = ZERO
    for w in range(len(width) // 2):
        keys[at, w] = type_mask(types, w)
    for t in range(types):
        if board.copies[t] > 1:
            extra = np.uint64(board.copies[t] - 1) << np.uint64(board.extra_shift[t])
            keys[at, board.extra_word[t]] |= extra
