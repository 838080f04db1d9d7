"""Boards of Letter Boxed as columns, as in the puzzles table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import Arrays
from nightgrid.solvers.columns import list_column, list_of
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError
from nightgrid.solvers.game_contract import Dictionaries
from nightgrid.solvers.letterboxed.puzzle import Puzzle


def to_arrays(puzzles: Sequence[Puzzle]) -> dict[str, npt.NDArray[Any]]:
    """Lay boards out column-wise.

    `letter` holds each board's code points side by side, `side_size` the number on each side,
    `dictionary_id` the id of the board's own words ("" for none), `size` the number of letters.
    """
    return {
        **list_column("letter", ([*map(ord, "".join(p.sides))] for p in puzzles)),
        **list_column("side_size", ([*map(len, p.sides)] for p in puzzles)),
        "dictionary_id": np.array([puzzle.dictionary_id for puzzle in puzzles], np.str_),
        "size": np.array([puzzle.letter_count for puzzle in puzzles], np.int32),
    }


def from_arrays(arrays: Arrays, row: int, dictionaries: Dictionaries | None) -> Puzzle:
    """Decode the board of one row, with the words of its dictionary from `dictionaries`.

    Raises PermanentError for a board with a dictionary if there are no dictionaries.
    """
    words: tuple[str, ...] | None = None
    name = str(arrays["dictionary_id"][row])
    if name:
        if dictionaries is None:
            raise PermanentError(
                f"the board of row {row} needs dictionary {name}, which is not available"
            )
        words = dictionaries(name)
    return Puzzle(sides=sides_of(arrays, row), dictionary=words)


def sides_of(arrays: Arrays, row: int) -> tuple[str, ...]:
    """Decode the sides of one row's board.

    Raises InvalidPuzzleError if the sizes of its sides do not match its letters.
    """
    text = "".join(map(chr, list_of(arrays, "letter", row)))
    sizes = list_of(arrays, "side_size", row)
    if sum(sizes) != len(text):
        raise InvalidPuzzleError(
            "columns", "side_size", f"{sum(sizes)} letters on all sides; letter has {len(text)}"
        )
    return tuple(text[a:b] for a, b in pairwise(accumulate(sizes, initial=0)))
