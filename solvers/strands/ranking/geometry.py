"""The shape of words on a board: the path of a piece that a maker would have drawn.

Of all paths that spell a word on its cells, the one that crosses itself least, and of those the one
with the fewest diagonal steps and turns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel.compiling import I32, I64, U64, Int, kernel
from nightgrid.solvers.kernel.machine import ONE
from nightgrid.solvers.strands.pieces.words import Grid

CROSSINGS, DIAGONALS, TURNS, EDGES = range(4)
"""Columns of shapes: crossings of the path with itself, diagonal steps, changes of direction, and
steps along the border."""
SHAPE_COLUMNS = 4
TRIED_MAX = 20_000
"""Steps that are tried on a piece before the best path so far is taken: words such as BANANAS on a
block of equal letters have too many paths."""
CELLS_MAX = 64


class Texts(NamedTuple):
    """The letters of pieces, one after the other."""

    letters: np.ndarray
    """uint8: codes of the lexicon."""
    offsets: I64


@kernel
def shapes_of(low: I32, cells: U64, texts: Texts, grid: Grid) -> I32:
    """Find the shape of each piece's best path: int32[pieces, SHAPE_COLUMNS].

    Pieces are given by their lowest cell, the mask of their cells from there on, and their letters.
    """
    pieces, size, columns = len(low), grid.rows * grid.columns, grid.columns
    shapes = np.zeros((pieces, SHAPE_COLUMNS), np.int32)
    inside = np.zeros(size, np.uint8)
    strokes = np.zeros((2, size + columns + 2), np.uint8)
    path = np.empty(CELLS_MAX, np.int64)
    turn = np.empty(CELLS_MAX, np.int64)
    sums = np.zeros((CELLS_MAX + 1, SHAPE_COLUMNS), np.int64)
    for p in range(pieces):
        word, start = texts.offsets[p], low[p]
        length = texts.offsets[p + 1] - word
        for bit in range(CELLS_MAX):
            if (cells[p] >> np.uint64(bit)) & ONE:
                inside[start + bit] = 1
        best: Int = np.int64(1) << 40
        tried = np.int64(0)
        for first in range(start, min(size, start + CELLS_MAX)):
            if not inside[first] or grid.letters[first] != texts.letters[word]:
                continue
            depth = 0
            path[0], turn[0] = first, 0
            inside[first] = 0
            while depth >= 0:
                if depth + 1 == length:
                    value = _value(sums[depth])
                    if value < best:
                        best = value
                        for column in range(SHAPE_COLUMNS):
                            shapes[p, column] = sums[depth, column]
                    turn[depth] = 8
                to = np.int64(-1)
                while turn[depth] < 8 and tried < TRIED_MAX:
                    to = np.int64(grid.near[path[depth], turn[depth]])
                    turn[depth] += 1
                    if to < 0:
                        turn[depth] = 8
                        break
                    tried += 1
                    if inside[to] and grid.letters[to] == texts.letters[word + depth + 1]:
                        _step(path, depth, to, sums, strokes, columns, grid.rows)
                        if _value(sums[depth + 1]) < best:
                            break
                        _lift(path[depth], to, strokes, columns)
                    to = np.int64(-1)
                if to >= 0:
                    depth += 1
                    path[depth], turn[depth] = to, 0
                    inside[to] = 0
                    continue
                inside[path[depth]] = 1
                depth -= 1
                if depth >= 0:
                    _lift(path[depth], path[depth + 1], strokes, columns)
        for bit in range(CELLS_MAX):
            if (cells[p] >> np.uint64(bit)) & ONE:
                inside[start + bit] = 0
    return shapes


@kernel
def _value(sums: I64) -> Int:
    """Order shapes: fewer crossings, then fewer diagonal steps and turns."""
    return sums[CROSSINGS] * 10_000 + 10 * (sums[DIAGONALS] + sums[TURNS])


@kernel
def _stroke(one: Int, other: Int, columns: Int) -> tuple[Int, Int]:
    """Return which diagonal a step is (-1: none), and its block's lower right cell."""
    a, b = min(one, other), max(one, other)
    step = b - a
    if step == columns + 1 and b % columns == a % columns + 1:
        return np.int64(0), np.int64(b)
    if step == columns - 1 and a % columns == b % columns + 1:
        return np.int64(1), np.int64(b + 1)
    return np.int64(-1), np.int64(0)


@kernel
def _step(
    path: I64, depth: Int, to: Int, sums: I64, strokes: np.ndarray, columns: Int, rows: Int
) -> None:
    """Add a step to the shape of the path so far."""
    at = path[depth]
    for column in range(SHAPE_COLUMNS):
        sums[depth + 1, column] = sums[depth, column]
    way, block = _stroke(at, to, columns)
    if way >= 0:
        sums[depth + 1, DIAGONALS] += 1
        strokes[way, block] += 1
        if strokes[1 - way, block]:
            sums[depth + 1, CROSSINGS] += 1
    if depth > 0 and at - path[depth - 1] != to - at:
        sums[depth + 1, TURNS] += 1
    r, c = at // columns, at % columns
    s, d = to // columns, to % columns
    if (r == s and (r == 0 or r == rows - 1)) or (c == d and (c == 0 or c == columns - 1)):
        sums[depth + 1, EDGES] += 1


@kernel
def _lift(at: Int, to: Int, strokes: np.ndarray, columns: Int) -> None:
    """Undo the last step."""
    way, block = _stroke(at, to, columns)
    if way >= 0:
        strokes[way, block] -= 1
