"""How what is left to collect is packed: a field for every letter of every side, many in a word."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.letterboxed.model import Model

SIDE_BITS = 8
"""The first word of a way of playing: letters left above, the side in these bits."""
NO_FIELD = -1


class Fields(NamedTuple):
    """Where each letter of each side is counted. Every field has a spare bit above it.

    With the spare bits set, one subtraction compares all fields of a word: none is larger if
    every spare bit stays.
    """

    word: npt.NDArray[np.int32]
    """int32[sides, letters]: word of the field, counted from 1; NO_FIELD where a letter is not."""
    shift: npt.NDArray[np.uint64]
    mask: npt.NDArray[np.uint64]
    """uint64[sides, letters]: lowest bit of the field, and its bits when shifted down."""
    spare: npt.NDArray[np.uint64]
    """uint64[words + 1]: the spare bits of each word; word 0 is the side and the letters left."""
    full: npt.NDArray[np.uint64]
    """uint64[words + 1]: everything left, on side 0."""
    stands: npt.NDArray[np.int32]
    """int32[sides of all letters]: the sides on which each letter stands, letter by letter."""
    stands_at: npt.NDArray[np.int32]
    """int32[letters + 1]: where each letter's sides begin."""


def fields_of(model: Model) -> Fields:
    """Lay out the fields of a board."""
    sides, letters = model.sides.shape
    word = np.full((sides, letters), NO_FIELD, np.int32)
    shift = np.zeros((sides, letters), np.uint64)
    mask = np.zeros((sides, letters), np.uint64)
    spare: list[int] = [0]
    full: list[int] = [int(model.sides.sum()) << SIDE_BITS]
    used = 64
    for side in range(sides):
        for letter in range(letters):
            times = int(model.sides[side, letter])
            if not times:
                continue
            width = times.bit_length()
            if used + width + 1 > 64:
                spare.append(0)
                full.append(0)
                used = 0
            word[side, letter] = len(spare) - 1
            shift[side, letter] = used
            mask[side, letter] = (1 << width) - 1
            full[-1] |= times << used
            spare[-1] |= 1 << (used + width)
            used += width + 1
    stands = [np.flatnonzero(model.sides[:, letter]) for letter in range(letters)]
    return Fields(
        word=word,
        shift=shift,
        mask=mask,
        spare=np.array(spare, np.uint64),
        full=np.array(full, np.uint64),
        stands=np.concatenate(stands).astype(np.int32),
        stands_at=np.concatenate([[0], np.cumsum([len(s) for s in stands])]).astype(np.int32),
    )
