"""The layout of keys: every field's place in the few words of a state's key."""

from __future__ import annotations

from nightgrid.solvers.kernel.compiling import I64, Int, search_kernel
from nightgrid.solvers.pips.layers.board import EMPTY, EQUALS, GREATER, LESS, SUM, Board

WORD_BITS = 64


@search_kernel
def bit_length(value: Int) -> Int:
    """Count the bits that hold 0 to value."""
    bits = 0
    while value > 0:
        value >>= 1
        bits += 1
    return bits


@search_kernel
def progress_bits(board: Board, g: Int) -> Int:
    """Count the bits that a region's progress needs: none if it is never partly filled.

    sum and less keep the sum so far, greater the same up to just above its target, equals the
    index of its pip plus one, unequal the set of its pips.
    """
    kind, size, values = board.kind[g], board.size[g], board.values
    if kind == EMPTY or size == 1:
        return 0
    largest = board.pips[values - 1]
    if kind == GREATER:
        return bit_length(min(board.least[g], size * largest + 1))
    if kind in (SUM, LESS):
        return bit_length(min(board.most[g], (size - 1) * largest))
    if kind == EQUALS:
        return bit_length(values)
    return values if values < WORD_BITS - 1 else WORD_BITS + 1


@search_kernel
def lay_out(board: Board, width: tuple[int, ...]) -> bool:
    """Lay out fields in keys of len(width) words; return whether they fit.

    Needs the cell order's `first` and `last` positions and the layers of the tilings.
    """
    count = len(width)
    types = board.types
    if types > WORD_BITS * (count // 2):
        return False
    used = board.used
    for w in range(count):
        used[w] = min(max(types - WORD_BITS * w, 0), WORD_BITS)
    for t in range(types):
        if board.copies[t] > 1:
            bits = bit_length(board.copies[t] - 1)
            word = _word_with_room(used, count, bits)
            if word < 0:
                return False
            board.extra_word[t] = word
            board.extra_shift[t] = used[word]
            used[word] += bits
    widest = 1
    for k in range(board.dominoes + 1):
        widest = max(widest, board.layer[k + 1] - board.layer[k])
    bits = bit_length(widest - 1)
    word = _word_with_room(used, count, bits)
    if word < 0:
        return False
    board.node_mask = (1 << bits) - 1
    board.node_word = word
    # A field of no bits in a full word must still be shifted by less than a word.
    board.node_shift = used[word] if bits > 0 else 0
    used[word] += bits
    for g in range(board.regions):
        board.field_bits[g] = progress_bits(board, g)
        if board.field_bits[g] > 0 and not _share(board, used, count, g):
            return False
    return True


@search_kernel
def _word_with_room(used: I64, count: Int, bits: Int) -> Int:
    for w in range(count - 1, -1, -1):
        if used[w] + bits <= WORD_BITS:
            return w
    return -1


@search_kernel
def _share(board: Board, used: I64, count: Int, g: Int) -> bool:
    # Lowest place in any word that is clear of every earlier field alive at the same time.
    bits = board.field_bits[g]
    best_word, best_shift = -1, WORD_BITS
    for w in range(count - 1, -1, -1):
        shift = used[w]
        moved = True
        while moved and shift + bits <= WORD_BITS:
            moved = False
            for h in range(g):
                if (
                    board.field_bits[h] > 0
                    and board.field_word[h] == w
                    and board.first[h] < board.last[g]
                    and board.first[g] < board.last[h]
                    and shift < board.field_shift[h] + board.field_bits[h]
                    and board.field_shift[h] < shift + bits
                ):
                    shift = board.field_shift[h] + board.field_bits[h]
                    moved = True
        if shift + bits <= WORD_BITS and shift < best_shift:
            best_word, best_shift = w, shift
    if best_word < 0:
        return False
    board.field_word[g] = best_word
    board.field_shift[g] = best_shift
    return True
