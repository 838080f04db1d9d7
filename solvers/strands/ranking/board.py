"""The pieces of a board with their terms, which are weighed before covers are searched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import I64, U64
from nightgrid.solvers.stop import Stop
from nightgrid.solvers.strands.pieces.pieces import (
    Found,
    Pieces,
    check_stop,
    find_pieces,
    grid_of,
    ragged,
)
from nightgrid.solvers.strands.pieces.words import Grid
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.ranking import terms
from nightgrid.solvers.strands.ranking.compounds import KEPT, LIMITS, find_compounds, pair_scores
from nightgrid.solvers.strands.ranking.geometry import Texts, shapes_of
from nightgrid.solvers.strands.ranking.strips import STRIPS_KEPT, find_strips
from nightgrid.solvers.strands.ranking.terms import F32
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary
from nightgrid.solvers.strands.rules import Rules

RULES = Rules()
"""Covers are ranked under the game's own rules."""
WITH_STRIPS = len(LIMITS) + 1
"""Added to the tier of a board on which strips are searched too."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class RankedBoard:
    """The pieces of one board, found once, and their terms as theme words and as spangrams."""

    puzzle: Puzzle
    found: Found
    theme: F32
    """float32[words, THEME_TERMS]."""
    spangram: F32
    """float32[words, SPANGRAM_TERMS]; undefined for words that do not span."""
    compound: F32
    """float32[compounds, SPANGRAM_TERMS]."""
    tier: int
    """Which limits on compounds were used (nightgrid.solvers.strands.ranking.compounds.LIMITS),
    plus WITH_STRIPS if the compounds include strips."""

    def with_meaning(self, meaning: F32) -> RankedBoard:
        """Set the models' terms of words: float32[words, terms.MEANING]."""
        theme, spangram = self.theme.copy(), self.spangram.copy()
        for table, names, prefix in (
            (theme, terms.THEME_TERMS, ""),
            (spangram, terms.SPANGRAM_TERMS, "spangram_"),
        ):
            at = names.index(prefix + terms.MEANING[0])
            table[:, at : at + len(terms.MEANING)] = meaning
        return replace(self, theme=theme, spangram=spangram)


def ranked_board(
    puzzle: Puzzle, vocabulary: Vocabulary, stop: Stop | None = None, kept: int = KEPT
) -> RankedBoard:
    """Find the pieces of a board, with `kept` compounds, and their terms without those of models.

    Raises TooManyPiecesError, and BudgetSpentError if it is stopped.
    """
    lexicon = vocabulary.lexicon
    words = find_pieces(puzzle, replace(RULES, compound_parts=1), lexicon, stop).words
    grid = grid_of(puzzle, RULES, lexicon, stop)
    compounds, codes, tier = find_compounds(vocabulary, grid, RULES, words, kept, stop)
    # An incomplete list must not pass for a complete one.
    check_stop(stop)
    sizes = np.diff(lexicon.offsets)[words.word]
    offsets, places = ragged(lexicon.offsets[words.word], sizes)
    shapes = shapes_of(
        words.low, words.cells, Texts(np.ascontiguousarray(lexicon.letters[places]), offsets), grid
    )
    sides, across = _sides(words, grid)
    none = np.zeros((len(words), len(terms.MEANING)), np.float32)
    texts = _texts(codes)
    compound_shapes = shapes_of(compounds.low, compounds.cells, texts, grid)
    compound_sides, compound_across = _sides(compounds, grid)
    return RankedBoard(
        puzzle=puzzle,
        found=Found(words=words, compounds=compounds, codes=codes),
        theme=terms.theme_terms(vocabulary, words, shapes, sides, none),
        spangram=terms.spangram_terms(
            vocabulary, words, shapes, sides, none, _pair_scores(vocabulary), across
        ),
        compound=terms.compound_terms(
            compounds, np.diff(texts.offsets), compound_shapes, compound_sides, compound_across
        ),
        tier=tier,
    )


def with_strips(
    board: RankedBoard, vocabulary: Vocabulary, stop: Stop | None = None, kept: int = STRIPS_KEPT
) -> RankedBoard:
    """Add the best strips to the compounds of a board: spangrams that are no known text.

    Raises BudgetSpentError when it is stopped.
    """
    found = board.found
    grid = grid_of(board.puzzle, RULES, vocabulary.lexicon, stop)
    strips, codes = find_strips(vocabulary, grid, RULES, found, kept)
    check_stop(stop)
    texts = _texts(codes)
    shapes = shapes_of(strips.low, strips.cells, texts, grid)
    sides, across = _sides(strips, grid)
    table = terms.strip_terms(strips, np.diff(texts.offsets), shapes, sides, across)
    compounds, codes, order = _together(found.compounds, found.codes, strips, codes)
    return replace(
        board,
        found=replace(found, compounds=compounds, codes=codes),
        compound=np.concatenate([board.compound, table])[order],
        tier=board.tier + WITH_STRIPS,
    )


def _together(one: Pieces, codes: U64, other: Pieces, more: U64) -> tuple[Pieces, U64, I64]:
    """Join two lists of compounds: pieces and codes in canonical order, and their old places."""
    both = Pieces(
        low=np.concatenate([one.low, other.low]), cells=np.concatenate([one.cells, other.cells]),
        word=np.concatenate([one.word, other.word]), score=np.concatenate([one.score, other.score]),
        spans=np.concatenate([one.spans, other.spans]),
        block_offsets=np.concatenate(
            [one.block_offsets, one.block_offsets[-1] + other.block_offsets[1:]]
        ),
        blocks=np.concatenate([one.blocks, other.blocks]),
    )  # fmt: skip
    codes = np.concatenate([codes, more])
    order = np.lexsort((codes[:, 1], codes[:, 0], both.cells, both.low))
    return both.take(order), np.ascontiguousarray(codes[order]), order


@lru_cache(maxsize=4)
def _pair_scores(vocabulary: Vocabulary) -> I64:
    return pair_scores(vocabulary)


def _sides(pieces: Pieces, grid: Grid) -> tuple[F32, npt.NDArray[np.bool_]]:
    """Count the sides that pieces touch, and return which of them reach from left to right."""
    size = grid.rows * grid.columns
    cell = np.arange(size)
    touched = []
    for on_side in (
        cell // grid.columns == 0,
        cell // grid.columns == grid.rows - 1,
        cell % grid.columns == 0,
        cell % grid.columns == grid.columns - 1,
    ):
        touched.append(_meets(pieces, on_side))
    return np.sum(touched, axis=0).astype(np.float32), touched[2] & touched[3]


def _meets(pieces: Pieces, cells: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which pieces have one of the cells."""
    bits = np.append(cells, np.zeros(64, np.bool_))
    windows = np.zeros(len(cells), np.uint64)
    for low in range(len(cells)):
        chosen = np.flatnonzero(bits[low : low + 64]).astype(np.uint64)
        windows[low] = np.bitwise_or.reduce(np.uint64(1) << chosen) if len(chosen) else 0
    met: npt.NDArray[np.bool_] = (pieces.cells & windows[pieces.low]) != 0
    return met


def _texts(codes: Any) -> Texts:
    """Convert the codes of compounds to their letters."""
    letters = np.zeros((len(codes), 21), np.uint8)
    hi, lo = codes[:, 0].copy(), codes[:, 1].copy()
    lengths = np.zeros(len(codes), np.int64)
    six, mask = np.uint64(6), np.uint64(63)
    for i in range(21):
        going = (hi > 0) | (lo > 1)
        letters[:, i] = lo & mask
        lo = np.where(going, (lo >> six) | (hi << np.uint64(58)), lo)
        hi = np.where(going, hi >> six, hi)
        lengths += going
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    places = np.repeat(np.arange(len(codes)) * 21 + lengths - 1, lengths) - (
        np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    )
    return Texts(np.ascontiguousarray(letters.ravel()[places]), offsets)
