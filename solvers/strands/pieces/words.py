"""Find words on a board: every path of king's moves that spells one, as a mask of cells.

Method: article 001, 1-1 and article 004, Algorithm 1: depth-first search from every cell along
the trie, cut where no word begins like the path. A path's cells are a mask relative to its lowest
cell (bit 0), so that boards of any size work as long as a word spans fewer than 64 cells. Its
diagonal steps are masks of 2 x 2 blocks, each named by its lower right cell.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import (
    I32,
    I64,
    U64,
    Int,
    inner_kernel,
    kernel,
    search_kernel,
)
from nightgrid.solvers.kernel.machine import ONE, ZERO, is_stopped, popcount
from nightgrid.solvers.lexicon.lexicon import Trie

WINDOW = 64
"""Cells, from a path's lowest on, that a mask reaches."""
PATH_MAX = 64
TOP, BOTTOM, LEFT, RIGHT = 1, 2, 4, 8
STOP_STRIDE = 4096
"""Steps between two checks of the stop, upon which a kernel ends as if there were too many."""
STEPS_MAX = 1 << 27
"""Most steps along the letters of words on one board, some seconds: HAHAHA... has too many paths to
walk."""
WORD_TOO_WIDE, TOO_MANY_PATHS, FULL = -1, -2, -3
START, ROWS, STEPS = range(3)
FIRST_ROWS = 1 << 13
NO_LETTER = 255

Bytes = npt.NDArray[np.uint8]


WORD, LETTERS, FIRST, LAST, LOW, HIGH, SIDES = range(7)


class WordPaths(NamedTuple):
    """Paths that spell words."""

    masks: U64
    """uint64[n, 3]: cells, and the blocks of open diagonals, falling and rising (`mask_path`)."""
    numbers: I32
    """int32[n, 7]: word, letters, first, last, lowest and highest cell, sides touched."""


class Grid(NamedTuple):
    """The cells of a board, row by row."""

    letters: Bytes
    """uint8[cells]: codes of the lexicon, NO_LETTER if it lacks the letter."""
    near: I32
    """int32[cells, 8]: each cell's neighbours, -1 beyond the last."""
    rows: int
    columns: int
    stop: int = 0
    """Address of the stop flag (nightgrid.solvers.stop); 0 for none."""


@inner_kernel
def mask_path(
    path: I64, length: Int, rows: Int, columns: Int
) -> tuple[Int, Int, np.uint64, np.uint64, np.uint64, Int, bool]:
    """Convert a path of cells to masks.

    Returns (lowest cell, highest cell, cells, blocks of falling and of rising diagonals, sides
    touched, whether it fits). A diagonal step counts only if both other cells of the block are not
    on the path: only then can another word cross it, since a word may always cross itself.
    """
    low = path[0]
    high = path[0]
    for i in range(1, length):
        low = min(low, path[i])
        high = max(high, path[i])
    if high - low >= WINDOW:
        return low, high, ZERO, ZERO, ZERO, 0, False
    cells = np.uint64(0)
    sides = 0
    for i in range(length):
        cell = path[i]
        cells |= ONE << np.uint64(cell - low)
        if cell < columns:
            sides |= TOP
        if cell >= (rows - 1) * columns:
            sides |= BOTTOM
        if cell % columns == 0:
            sides |= LEFT
        if cell % columns == columns - 1:
            sides |= RIGHT
    falling, rising = ZERO, ZERO
    for i in range(1, length):
        a, b = min(path[i - 1], path[i]), max(path[i - 1], path[i])
        if b - a == columns + 1:
            one, other, corner = a + 1, b - 1, b
        elif b - a == columns - 1 and a // columns != b // columns:
            one, other, corner = a - 1, b + 1, b + 1
        else:
            continue
        if one >= low and (cells >> np.uint64(one - low)) & ONE:
            continue
        if other - low < WINDOW and (cells >> np.uint64(other - low)) & ONE:
            continue
        if corner - low >= WINDOW:
            return low, high, cells, falling, rising, sides, False
        if corner == b:
            falling |= ONE << np.uint64(corner - low)
        else:
            rising |= ONE << np.uint64(corner - low)
    return low, high, cells, falling, rising, sides, True


@inner_kernel
def spans(sides: Int) -> bool:
    """Return whether two opposite sides are among those touched."""
    return (sides & (TOP | BOTTOM)) == (TOP | BOTTOM) or (sides & (LEFT | RIGHT)) == (LEFT | RIGHT)


def on_board(masks: Any, low: Any) -> Any:
    """Shift masks that are relative to their lowest cells: cell c becomes bit c % 64."""
    by = (low & (WINDOW - 1)).astype(np.uint64)
    return (masks << by) | (masks >> (-by & np.uint64(WINDOW - 1)))


def are_spanning(sides: Any) -> Any:
    """Return where in an array two opposite sides are among those touched, as `spans` does."""
    down, right = TOP | BOTTOM, LEFT | RIGHT
    return ((sides & down) == down) | ((sides & right) == right)


@kernel
def longer(rows: np.ndarray) -> np.ndarray:
    """Copy an array into one of twice the rows."""
    more = np.empty((2 * len(rows), rows.shape[1]), rows.dtype)
    # Numba compiles the assignment of a slice for seconds.
    for i in range(len(rows)):
        for j in range(rows.shape[1]):
            more[i, j] = rows[i, j]
    return more


def twice_the_rows(*arrays: Any) -> Any:
    """Copy arrays into arrays of twice the rows."""
    return [np.concatenate([array, np.empty_like(array)]) for array in arrays]


def find_words(
    trie: Trie, grid: Grid, min_letters: int, steps_max: int, rows_max: int
) -> tuple[Int, U64, I32]:
    """Find every path of at least `min_letters` cells that spells a word: (n, masks, numbers).

    Masks and numbers are those of WordPaths. n is WORD_TOO_WIDE if a path spans too many cells,
    TOO_MANY_PATHS beyond `rows_max` paths or `steps_max` steps, or if the search was stopped.
    """
    rows = min(FIRST_ROWS, rows_max)
    masks, numbers = np.empty((rows, 3), np.uint64), np.empty((rows, 7), np.int32)
    path, node, turn = (np.empty(PATH_MAX, np.int64) for _ in range(3))
    on_path = np.zeros(len(grid.letters), np.uint8)
    begun = np.zeros(3, np.int64)
    while True:
        found = _walk_words(
            trie, grid, min_letters, steps_max, path, node, turn, on_path, masks, numbers, begun
        )
        if found != FULL:
            return found, masks[: max(0, found)], numbers[: max(0, found)]
        if len(masks) >= rows_max:
            return TOO_MANY_PATHS, masks, numbers
        masks, numbers = twice_the_rows(masks, numbers)
        on_path[:] = 0


@search_kernel
def _walk_words(
    trie: Trie, grid: Grid, min_letters: Int, steps_max: Int, path: I64, node: I64, turn: I64,
    on_path: Bytes, masks: U64, numbers: I32, begun: I64,
) -> Int:  # fmt: skip
    """Write the words that begin on one cell after the other; return as `find_words`, or FULL.

    `begun` (int64[3]: START, ROWS, STEPS) has the number of cells done, and their cost: after FULL,
    the search continues from there with more rows.
    """
    node_children, node_first, node_word = trie.children, trie.first, trie.word
    board, near, rows, columns = grid.letters, grid.near, grid.rows, grid.columns
    steps, found = begun[STEPS], begun[ROWS]
    for start in range(begun[START], rows * columns):
        begun[START], begun[ROWS], begun[STEPS] = start, found, steps
        letter = np.uint64(board[start])
        if board[start] == NO_LETTER or not (node_children[0] >> letter) & ONE:
            continue
        depth = 0
        path[0] = start
        node[0] = node_first[0] + popcount(node_children[0] & ((ONE << letter) - ONE))
        turn[0] = -1
        on_path[start] = 1
        while depth >= 0:
            at = node[depth]
            if turn[depth] < 0:
                turn[depth] = 0
                if node_word[at] >= 0 and depth + 1 >= min_letters:
                    low, high, mask, falling, rising, sides, fits = mask_path(
                        path, depth + 1, rows, columns
                    )
                    if not fits:
                        return WORD_TOO_WIDE
                    if found == len(masks):
                        return FULL
                    masks[found, 0], masks[found, 1], masks[found, 2] = mask, falling, rising
                    numbers[found, WORD] = node_word[at]
                    numbers[found, LETTERS] = depth + 1
                    numbers[found, FIRST], numbers[found, LAST] = start, path[depth]
                    numbers[found, LOW], numbers[found, HIGH] = low, high
                    numbers[found, SIDES] = sides
                    found += 1
            children = node_children[at]
            cell = path[depth]
            step = np.int64(-1)
            if children != ZERO and depth + 1 < PATH_MAX:
                while turn[depth] < 8:
                    to = np.int64(near[cell, turn[depth]])
                    turn[depth] += 1
                    if to < 0:
                        turn[depth] = 8
                        break
                    if on_path[to] or board[to] == NO_LETTER:
                        continue
                    if (children >> np.uint64(board[to])) & ONE:
                        step = to
                        break
            if step < 0:
                on_path[cell] = 0
                depth -= 1
                continue
            steps += 1
            if steps > steps_max or (steps % STOP_STRIDE == 0 and is_stopped(grid.stop)):
                return TOO_MANY_PATHS
            letter = np.uint64(board[step])
            depth += 1
            path[depth] = step
            node[depth] = node_first[at] + popcount(children & ((ONE << letter) - ONE))
            turn[depth] = -1
            on_path[step] = 1
    return found


def neighbours(rows: int, columns: int, *, diagonal: bool) -> np.ndarray:
    """List each cell's neighbours: int32[cells, 8], -1 beyond the last."""
    near = np.full((rows * columns, 8), -1, np.int32)
    for r in range(rows):
        for c in range(columns):
            around = [
                (r + i) * columns + c + j
                for i in (-1, 0, 1)
                for j in (-1, 0, 1)
                if (i or j)
                and (diagonal or not (i and j))
                and 0 <= r + i < rows
                and 0 <= c + j < columns
            ]
            near[r * columns + c, : len(around)] = around
    return near
