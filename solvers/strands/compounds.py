"""Find compounds on a board: words run together along one path that touches two opposite sides.

The search walks the trie of part words and begins again at its root where a part ends. A
compound's parts may cost only so much together (solvers.lexicon.parts), so a branch is cut where
even the cheapest word below the trie's node costs too much. The same letters may be cut into
words in several ways; that is one compound, of the cheapest cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.bits import popcount
from solvers.compiling import kernel
from solvers.strands.words import NO_LETTER, PATH_MAX, mask_path, spans

CODE_BITS = 6
LETTERS_MAX = 21
"""Longest compound: its letters are kept in 126 bits, so that equal letters are found exactly."""
TOO_MANY, TOO_WIDE = -1, -2

_ONE = np.uint64(1)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_2 = np.uint64(0xBF58476D1CE4E5B9)


@kernel
def cheapest_below(
    node_children: np.ndarray, node_first: np.ndarray, node_word: np.ndarray, costs: np.ndarray,
    no_part: int, cheapest: np.ndarray,
) -> None:  # fmt: skip
    """Write for every node of the trie the cost of the cheapest part at or below it.

    Children stand after their parents (solvers.lexicon.compile).
    """
    for at in range(len(node_word) - 1, -1, -1):
        best = no_part
        if node_word[at] >= 0:
            best = min(best, costs[node_word[at]])
        first = node_first[at]
        for child in range(first, first + popcount(node_children[at])):
            best = min(best, cheapest[child])
        cheapest[at] = best


@kernel
def _slot(mask: np.uint64, low: int, hi: np.uint64, lo: np.uint64, size: int) -> Any:
    h = (mask ^ (hi * _MIX)) * _MIX_2
    h ^= h >> np.uint64(29)
    h = (h ^ lo ^ np.uint64(low)) * _MIX
    h ^= h >> np.uint64(32)
    return np.int64(h & np.uint64(size - 1))


@kernel
def find_compounds(
    node_children: np.ndarray, node_first: np.ndarray, node_word: np.ndarray, costs: np.ndarray,
    cheapest: np.ndarray, board: np.ndarray, near: np.ndarray, rows: int, columns: int,
    min_letters: int, parts_max: int, cost_max: int, masks: np.ndarray, numbers: np.ndarray,
    index: np.ndarray,
) -> int:  # fmt: skip
    """Write every compound of 2 to `parts_max` parts, once for each of its masks of blocks.

    Row i of `masks` (uint64[n, 4]) gets cells, blocks and the letters' 126-bit code, of `numbers`
    (int32[n, 3]) the cost, lowest cell and letters. Rows of one compound on the same cells share
    the first three of their four masks but for the blocks; the cost of each row is its own path's
    cheapest. `index` (int32, a power of two) is scratch, all -1. Returns the number of rows, or
    TOO_MANY or TOO_WIDE.
    """
    cells = rows * columns
    path = np.empty(PATH_MAX, np.int64)
    node = np.empty(PATH_MAX, np.int64)
    whole = np.empty(PATH_MAX, np.int64)
    part = np.empty(PATH_MAX, np.int64)
    spent = np.empty(PATH_MAX, np.int64)
    turn = np.empty(PATH_MAX, np.int64)
    code_hi = np.zeros(PATH_MAX + 1, np.uint64)
    code_lo = np.zeros(PATH_MAX + 1, np.uint64)
    on_path = np.zeros(cells, np.uint8)
    shift = np.uint64(CODE_BITS)
    carry = np.uint64(64 - CODE_BITS)
    found = 0
    size = len(index)
    root = np.int64(0)
    for start in range(cells):
        if board[start] == NO_LETTER:
            continue
        letter = np.uint64(board[start])
        if not (node_children[root] >> letter) & _ONE:
            continue
        depth = 0
        path[0] = start
        node[0] = node_first[root] + popcount(node_children[root] & ((_ONE << letter) - _ONE))
        whole[0] = node[0]
        part[0] = 0
        spent[0] = 0
        turn[0] = -1
        code_hi[1] = 0
        # A leading one tells codes of different lengths apart.
        code_lo[1] = (_ONE << shift) | letter
        on_path[start] = 1
        while depth >= 0:
            at = node[depth]
            cell = path[depth]
            ends = node_word[at] >= 0 and spent[depth] + costs[node_word[at]] <= cost_max
            if turn[depth] < 0:
                turn[depth] = 0
                # A word of the lexicon is a word, however it may be cut.
                is_word = whole[depth] >= 0 and node_word[whole[depth]] >= 0
                if ends and part[depth] > 0 and depth + 1 >= min_letters and not is_word:
                    low, mask, blocks, sides, fits = mask_path(path, depth + 1, rows, columns)
                    if spans(sides):
                        if not fits:
                            return TOO_WIDE
                        cost = spent[depth] + costs[node_word[at]]
                        hi, lo = code_hi[depth + 1], code_lo[depth + 1]
                        slot = _slot(mask ^ (blocks * _MIX_2), low, hi, lo, size)
                        while True:
                            row = index[slot]
                            if row < 0:
                                if 2 * found >= size or found >= len(masks):
                                    return TOO_MANY
                                index[slot] = found
                                masks[found, 0] = mask
                                masks[found, 1] = blocks
                                masks[found, 2] = hi
                                masks[found, 3] = lo
                                numbers[found, 0] = cost
                                numbers[found, 1] = low
                                numbers[found, 2] = depth + 1
                                found += 1
                                break
                            if (
                                masks[row, 0] == mask
                                and masks[row, 1] == blocks
                                and masks[row, 2] == hi
                                and masks[row, 3] == lo
                                and numbers[row, 1] == low
                            ):
                                numbers[row, 0] = min(numbers[row, 0], cost)
                                break
                            slot = (slot + 1) & (size - 1)
            # Turns 0-7 go on with the part, turns 8-15 begin the next one.
            step = -1
            begins = False
            children = node_children[at]
            if depth + 1 < LETTERS_MAX:
                while turn[depth] < 16:
                    begins = turn[depth] >= 8
                    if begins and not (ends and part[depth] + 1 < parts_max):
                        turn[depth] = 16
                        break
                    to = near[cell, turn[depth] & 7]
                    turn[depth] += 1
                    if to < 0:
                        turn[depth] = 8 if not begins else 16
                        continue
                    if on_path[to] or board[to] == NO_LETTER:
                        continue
                    letter = np.uint64(board[to])
                    if begins:
                        if (node_children[root] >> letter) & _ONE:
                            child = node_first[root] + popcount(
                                node_children[root] & ((_ONE << letter) - _ONE)
                            )
                            if spent[depth] + costs[node_word[at]] + cheapest[child] <= cost_max:
                                step = to
                                node[depth + 1] = child
                                part[depth + 1] = part[depth] + 1
                                spent[depth + 1] = spent[depth] + costs[node_word[at]]
                                break
                    elif (children >> letter) & _ONE:
                        child = node_first[at] + popcount(children & ((_ONE << letter) - _ONE))
                        # The first part leaves room for a second.
                        room = cheapest[root] if part[depth] == 0 else 0
                        if spent[depth] + cheapest[child] + room <= cost_max:
                            step = to
                            node[depth + 1] = child
                            part[depth + 1] = part[depth]
                            spent[depth + 1] = spent[depth]
                            break
            if step < 0:
                on_path[cell] = 0
                depth -= 1
                continue
            letter = np.uint64(board[step])
            above = whole[depth]
            depth += 1
            path[depth] = step
            turn[depth] = -1
            on_path[step] = 1
            whole[depth] = -1
            if above >= 0 and (node_children[above] >> letter) & _ONE:
                whole[depth] = node_first[above] + popcount(
                    node_children[above] & ((_ONE << letter) - _ONE)
                )
            code_hi[depth + 1] = (code_hi[depth] << shift) | (code_lo[depth] >> carry)
            code_lo[depth + 1] = (code_lo[depth] << shift) | letter
    return found
