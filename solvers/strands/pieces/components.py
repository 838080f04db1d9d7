"""The paths on a board from which compounds may be joined."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nightgrid.solvers.kernel.compiling import I32, U64
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.strands.pieces import words as word_paths
from nightgrid.solvers.strands.pieces.words import WordPaths

CODE_BITS = 6
LETTERS_MAX = 21
"""Longest compound: its letters are kept in 126 bits, so that equal letters are found exactly."""


class Components(NamedTuple):
    """Paths that spell a component, the cheapest component first."""

    masks: U64
    """uint64[n, 5]: cells, falling and rising diagonals, the letters' code of CODE_BITS each in two
    halves. Cell c is bit c % 64, which is exact on boards of up to 64."""
    fields: I32
    """int32[n, 8]: cost, word, letters, first, last, lowest and highest cell, sides touched."""


CELLS, FALLING, RISING, CODE_HI, CODE_LO = range(5)
COST, WORD, LETTERS, FIRST, LAST, LOW, HIGH, SIDES = range(8)


def components_of(paths: WordPaths, lexicon: Lexicon, costs: I32, cost_max: int) -> Components:
    """Choose the paths that spell a component and leave room for another in `cost_max`.

    `costs` are by word (nightgrid.solvers.strands.score.component_costs).
    """
    word = paths.numbers[:, word_paths.WORD]
    rows = np.flatnonzero(
        (costs[word] <= cost_max - costs.min())
        & (paths.numbers[:, word_paths.LETTERS] < LETTERS_MAX)
    )
    rows = rows[np.argsort(costs[word[rows]], kind="stable")]
    numbers, word = paths.numbers[rows], word[rows]
    masks = word_paths.on_board(paths.masks[rows], numbers[:, word_paths.LOW, None])
    return Components(
        masks=np.concatenate([masks, spelled_codes(lexicon, word, begun=0)], axis=1),
        fields=np.concatenate([costs[word][:, None], numbers], axis=1).astype(np.int32),
    )


def spelled_codes(lexicon: Lexicon, words: Any, begun: int = 1) -> U64:
    """Encode words like compounds; those longer than a compound are left out.

    A compound's code has `begun` with a leading one, which tells codes of different lengths apart.
    """
    starts, stops = lexicon.offsets[words], lexicon.offsets[np.asarray(words) + 1]
    short = stops - starts <= LETTERS_MAX
    starts, stops = starts[short], stops[short]
    six = np.uint64(CODE_BITS)
    high, low = np.zeros(len(starts), np.uint64), np.full(len(starts), begun, np.uint64)
    for i in range(LETTERS_MAX):
        goes_on = starts + i < stops
        letter = lexicon.letters[np.where(goes_on, starts + i, 0)].astype(np.uint64)
        high = np.where(goes_on, (high << six) | (low >> (np.uint64(64) - six)), high)
        low = np.where(goes_on, (low << six) | letter, low)
    return np.stack([high, low], axis=1)
