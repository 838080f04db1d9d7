"""Boards of Letter Boxed as columns: how the puzzles table stores them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import Arrays
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.plug import Dictionaries


def to_arrays(puzzles: Sequence[Puzzle]) -> dict[str, npt.NDArray[Any]]:
    """Lay boards out column-wise.

    `letter` holds each board's code points side by side, `side_size` how many stand on each side,
    `dictionary_id` names the board's own words ("" for none), `size` is the number of letters.
    """
    texts = ["".join(puzzle.sides) for puzzle in puzzles]
    sizes = np.array([len(text) for text in texts], np.int32)
    counts = [len(puzzle.sides) for puzzle in puzzles]
    return {
        "letter.values": np.array([ord(c) for text in texts for c in text], np.int32),
        "letter.offsets": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
        "side_size.values": np.array([len(s) for p in puzzles for s in p.sides], np.int32),
        "side_size.offsets": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        "dictionary_id": np.array([puzzle.dictionary_id for puzzle in puzzles], np.str_),
        "size": sizes,
    }


def from_arrays(arrays: Arrays, row: int, dictionaries: Dictionaries | None) -> Puzzle:
    """Rebuild the board of one row, with the words that `dictionaries` has for its dictionary.

    Raises PermanentError for a board with a dictionary when there are no dictionaries.
    """
    words: tuple[str, ...] | None = None
    name = str(arrays["dictionary_id"][row])
    if name:
        if dictionaries is None:
            raise PermanentError(
                f"the board of row {row} is played with dictionary {name}, which is not at hand"
            )
        words = dictionaries(name)
    return Puzzle(sides=sides_of(arrays, row), dictionary=words)


def sides_of(arrays: Arrays, row: int) -> tuple[str, ...]:
    """Rebuild the sides of one row's board.

    Raises InvalidPuzzleError where the sizes of its sides and its letters do not fit one another.
    """
    start, stop = arrays["letter.offsets"][row : row + 2]
    text = "".join(map(chr, arrays["letter.values"][start:stop]))
    first, last = arrays["side_size.offsets"][row : row + 2]
    total = int(arrays["side_size.values"][first:last].sum())
    if total != len(text):
        raise InvalidPuzzleError(
            "columns", "side_size", f"{total} letters on all sides; letter has {len(text)}"
        )
    cuts = np.concatenate([[0], np.cumsum(arrays["side_size.values"][first:last])]).tolist()
    return tuple(text[a:b] for a, b in pairwise(cuts))
