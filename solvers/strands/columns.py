"""Boards of Strands as columns, as in the puzzles table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import Arrays
from nightgrid.solvers.columns import list_column, list_of
from nightgrid.solvers.errors import InvalidPuzzleError
from nightgrid.solvers.sentences import plural
from nightgrid.solvers.strands.puzzle import Puzzle

UNKNOWN_WORDS = -1
"""Value of `theme_word_count` if the number of theme words is unknown."""


def to_arrays(puzzles: Sequence[Puzzle]) -> dict[str, npt.NDArray[Any]]:
    """Lay boards out column-wise.

    `letter` holds each board's code points row by row; `size` is the number of cells.
    """
    return {
        "row_count": np.array([puzzle.row_count for puzzle in puzzles], np.int32),
        "column_count": np.array([puzzle.column_count for puzzle in puzzles], np.int32),
        **list_column("letter", ([*map(ord, "".join(p.board))] for p in puzzles)),
        "theme_word_count": np.array(
            [UNKNOWN_WORDS if p.theme_words is None else p.theme_words for p in puzzles], np.int32
        ),
        "size": np.array([puzzle.cell_count for puzzle in puzzles], np.int32),
    }


def from_arrays(arrays: Arrays, row: int) -> Puzzle:
    """Decode the board of one row.

    Raises InvalidPuzzleError if the number of its letters does not match its rows and columns.
    """
    text = "".join(map(chr, list_of(arrays, "letter", row)))
    height, width = int(arrays["row_count"][row]), int(arrays["column_count"][row])
    if min(height, width) < 1 or height * width != len(text):
        raise InvalidPuzzleError(
            "columns", "letter", f"{plural(len(text), 'letter')}; expected {height} x {width}"
        )
    words = int(arrays["theme_word_count"][row])
    return Puzzle(
        board=tuple(text[i : i + width] for i in range(0, len(text), width)),
        theme_words=None if words == UNKNOWN_WORDS else words,
    )
