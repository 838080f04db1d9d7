"""Strips: spangrams in no list, whose letters read as English from one side to another.

They are searched if theme words leave few covers. The worth of a strip is the price of its letters
(nightgrid.solvers.strands.ranking.letter_model) plus LETTER for each: English costs more than that
a letter, so a long strip is worth less than a short one, but the difference is smaller. A floor
falls until enough strips reach it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from nightgrid.solvers.kernel.compiling import I32, U64
from nightgrid.solvers.strands.pieces.components import spelled_codes
from nightgrid.solvers.strands.pieces.pieces import Found, Pieces
from nightgrid.solvers.strands.pieces.words import Grid
from nightgrid.solvers.strands.ranking.compounds import NATS, best_of
from nightgrid.solvers.strands.ranking.letter_model import letter_prices
from nightgrid.solvers.strands.ranking.strip_paths import (
    KNOWN,
    NEVER,
    StripLimits,
    most_to_come,
    walk_strips,
)
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary
from nightgrid.solvers.strands.rules import Rules

STRIPS_KEPT = 60_000
"""Strips of a board that are searched, the most valuable ones."""
STRIP_LETTERS_MIN, STRIP_LETTERS_MAX = 6, 17
"""Letters of spangrams on published boards."""
LETTER = NATS
"""Worth of a letter: with one nat most early boards have their spangram among the best strips."""
FLOOR_STEP = 3 * NATS // 2
"""How far the floor falls at a time: about three times as many strips reach it."""
STRIP_ROWS_MAX = 1 << 19
"""Paths of strips in memory."""
STRIP_STEPS_MAX = 1 << 26
"""Steps of one walk, about a second; beyond them the previous floor is used."""


def find_strips(
    vocabulary: Vocabulary, grid: Grid, rules: Rules, found: Found, kept: int = STRIPS_KEPT
) -> tuple[Pieces, U64]:
    """Find the `kept` most valuable strips of a board: pieces and codes, like those of compounds.

    Texts of words or compounds on the board are left out. If finding more takes too many steps or
    too much memory there are fewer, but all that are worth a floor. A stopped search finds fewer,
    too.
    """
    prices = _strip_prices(vocabulary)
    most = most_to_come(prices, grid, STRIP_LETTERS_MAX - KNOWN)
    words = np.unique(found.words.word[found.words.spans])
    known = np.concatenate([spelled_codes(vocabulary.lexicon, words), found.codes])
    walked = np.empty((0, 5), np.uint64), np.empty((0, 2), np.int64)
    best = int(most.max())
    floor, step, before, more = best + KNOWN * LETTER, FLOOR_STEP, 0, best > NEVER
    while more:
        floor -= step
        limits = StripLimits(
            letters_min=STRIP_LETTERS_MIN, letters_max=STRIP_LETTERS_MAX, floor=floor,
            rows_max=STRIP_ROWS_MAX, steps_max=STRIP_STEPS_MAX, crossing=rules.crossing,
        )  # fmt: skip
        rows, masks, numbers, more = walk_strips(prices, most, grid, limits)
        if rows < 0:
            break
        walked = masks, numbers
        if rows >= kept:
            # Several rows may be one strip.
            pieces, codes = best_of(*walked, known, kept)
            if len(pieces) == kept:
                return pieces, codes
        # If hardly any strip is left, as on a small board, a few steps find the last.
        step = 2 * step if before and 2 * rows < 3 * before else FLOOR_STEP
        before = rows
    return best_of(*walked, known, kept)


@lru_cache(maxsize=2)
def _strip_prices(vocabulary: Vocabulary) -> I32:
    """Price letters as `letter_prices` does, and add LETTER to each but the end."""
    prices = letter_prices(vocabulary).copy()
    prices[..., :-1] += LETTER
    return prices
