"""Find the words on a board that compounds may be run together from, each path once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nightgrid.solvers.kernel.compiling import I32, U64, Int, kernel, search_kernel
from nightgrid.solvers.kernel.machine import ONE, ZERO, is_stopped, popcount
from nightgrid.solvers.lexicon.lexicon import Trie
from nightgrid.solvers.strands.pieces.words import (
    BOTTOM,
    LEFT,
    NO_LETTER,
    RIGHT,
    STOP_STRIDE,
    TOP,
    Grid,
    longer,
)

CODE_BITS = 6
LETTERS_MAX = 21
"""Longest compound: its letters are kept in 126 bits, so that equal letters are found exactly."""
FIRST_COMPONENTS = 1 << 13


class Components(NamedTuple):
    """Paths that spell a component, the cheapest component first."""

    masks: U64
    """uint64[n, 5]: cells, falling and rising diagonals (see `diagonal`), the letters' code of
    CODE_BITS each in two halves. Cell c is bit c % 64, which is exact on boards of up to 64."""
    fields: I32
    """int32[n, 8]: cost, word, letters, first, last, lowest and highest cell, sides touched."""
    paths: I32
    """int32[n, LETTERS_MAX]: the cells in the order of the letters."""


CELLS, FALLING, RISING, CODE_HI, CODE_LO = range(5)
COST, WORD, LETTERS, FIRST, LAST, LOW, HIGH, SIDES = range(8)


@kernel
def cheapest_below(trie: Trie, costs: I32, no_component: Int) -> I32:
    """Find for every node of the trie the cost of the cheapest component at or below it.

    Children stand after their parents (nightgrid.solvers.lexicon.compile).
    """
    node_children, node_first, node_word = trie.children, trie.first, trie.word
    cheapest = np.empty(len(node_word), np.int32)
    for at in range(len(node_word) - 1, -1, -1):
        best = no_component
        if node_word[at] >= 0:
            best = min(best, costs[node_word[at]])
        first = node_first[at]
        for child in range(first, first + popcount(node_children[at])):
            best = min(best, cheapest[child])
        cheapest[at] = best
    return cheapest


@search_kernel
def diagonal(one: Int, other: Int, columns: Int, row_of: np.ndarray) -> tuple[Any, Any]:
    """Name the block of a step by its lower right cell, as bits: (falling, rising)."""
    a, b = min(one, other), max(one, other)
    if b - a == columns + 1:
        return ONE << np.uint64(b & 63), ZERO
    if b - a == columns - 1 and row_of[a] != row_of[b]:
        return ZERO, ONE << np.uint64((b + 1) & 63)
    return ZERO, ZERO


@kernel
def find_components(
    trie: Trie, costs: I32, cheapest: I32, grid: Grid, cost_max: Int, steps_max: Int
) -> tuple[bool, Components]:
    """Find every path that spells a component and leaves room for another in `cost_max`.

    `costs` are by word, `cheapest` by node of the trie (cheapest_below). Returns (whether all were
    found within `steps_max` steps, components).
    """
    node_children, node_first, node_word = trie.children, trie.first, trie.word
    board, near, rows, columns = grid.letters, grid.near, grid.rows, grid.columns
    cells = rows * columns
    touches = np.zeros(cells, np.int32)
    row_of = np.empty(cells, np.int32)
    for cell in range(cells):
        row, column = cell // columns, cell % columns
        row_of[cell] = row
        touches[cell] = (
            (TOP if row == 0 else 0)
            | (BOTTOM if row == rows - 1 else 0)
            | (LEFT if column == 0 else 0)
            | (RIGHT if column == columns - 1 else 0)
        )
    room = cost_max - cheapest[0]
    path = np.empty(LETTERS_MAX, np.int64)
    node = np.empty(LETTERS_MAX, np.int64)
    turn = np.empty(LETTERS_MAX, np.int64)
    masks = np.zeros((LETTERS_MAX + 1, 5), np.uint64)
    sides = np.zeros(LETTERS_MAX + 1, np.int32)
    on_path = np.zeros(cells, np.uint8)
    shift, carry = np.uint64(CODE_BITS), np.uint64(64 - CODE_BITS)
    found = 0
    steps: Int = 0
    kept = np.empty((FIRST_COMPONENTS, 5), np.uint64)
    fields = np.empty((FIRST_COMPONENTS, 8), np.int32)
    paths = np.empty((FIRST_COMPONENTS, LETTERS_MAX), np.int32)
    for start in range(cells):
        depth, to, at = -1, start, 0
        while True:
            # Step onto a cell, if the trie and the costs allow.
            if to >= 0 and not on_path[to] and board[to] != NO_LETTER:
                letter = np.uint64(board[to])
                children = node_children[at]
                if (children >> letter) & ONE:
                    child = node_first[at] + popcount(children & ((ONE << letter) - ONE))
                    if cheapest[child] <= room:
                        falling, rising = ZERO, ZERO
                        if depth >= 0:
                            falling, rising = diagonal(path[depth], to, columns, row_of)
                        depth += 1
                        steps += 1
                        if steps % STOP_STRIDE == 0 and is_stopped(grid.stop):
                            steps = steps_max + 1
                        path[depth], node[depth], turn[depth] = to, child, 0
                        on_path[to] = 1
                        for column in range(3):
                            masks[depth + 1, column] = masks[depth, column]
                        masks[depth + 1, CELLS] |= ONE << np.uint64(to & 63)
                        masks[depth + 1, FALLING] |= falling
                        masks[depth + 1, RISING] |= rising
                        hi, lo = masks[depth, CODE_HI], masks[depth, CODE_LO]
                        masks[depth + 1, CODE_HI] = (hi << shift) | (lo >> carry)
                        masks[depth + 1, CODE_LO] = (lo << shift) | letter
                        sides[depth + 1] = sides[depth] | touches[to]
                        word = node_word[child]
                        if word >= 0 and costs[word] <= room:
                            if found == len(kept):
                                kept, fields, paths = longer(kept), longer(fields), longer(paths)
                            for column in range(5):
                                kept[found, column] = masks[depth + 1, column]
                            fields[found, COST] = costs[word]
                            fields[found, WORD] = word
                            fields[found, LETTERS] = depth + 1
                            fields[found, FIRST] = start
                            fields[found, LAST] = to
                            low, high = start, start
                            for i in range(depth + 1):
                                paths[found, i] = path[i]
                                low, high = min(low, path[i]), max(high, path[i])
                            fields[found, LOW] = low
                            fields[found, HIGH] = high
                            fields[found, SIDES] = sides[depth + 1]
                            found += 1
            if depth < 0 or steps > steps_max:
                break
            # A component leaves a letter for another.
            while depth >= 0 and (turn[depth] == 8 or depth + 2 >= LETTERS_MAX):
                on_path[path[depth]] = 0
                depth -= 1
            if depth < 0:
                break
            at = node[depth]
            to = near[path[depth], turn[depth]]
            turn[depth] = 8 if to < 0 else turn[depth] + 1
    order = np.argsort(fields[:found, COST], kind="mergesort")
    components = Components(masks=kept[order], fields=fields[order], paths=paths[order])
    return bool(steps <= steps_max), components
