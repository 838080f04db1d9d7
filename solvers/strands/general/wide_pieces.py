"""The pieces of any board: words of any length, cells as lists instead of masks of 64.

The boards of article 000's reductions are wide, and their words may be as long as the board is
large (Flow Free, Theorem 20).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import I32, I64, U64
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.stop import Stop
from nightgrid.solvers.strands.general.walks import WALKED, WalkSpace, walk_words
from nightgrid.solvers.strands.pieces import pieces as piece_tables
from nightgrid.solvers.strands.pieces.pieces import Found, Pieces, TooManyPiecesError, TooWideError
from nightgrid.solvers.strands.pieces.words import PATH_MAX
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.score import score_words

WALKS_MAX = 1 << 21
"""Walks of one length from one cell that may be under way."""
WALK_NUMBERS = 1 << 26
"""Room for their cells, four bytes a number."""
STEPS_MAX = 1 << 25
"""Steps on one board, some seconds."""
PIECE_NUMBERS = 1 << 26
"""Room for the cells of all pieces found, four bytes a number."""
PIECES_MAX = 1 << 22

_NO_COMPOUNDS = "rules without compound spangrams (compound_parts=1 or spangram=off)"
_ONE = np.uint64(1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WidePieces:
    """Pieces in canonical order, each a run of `cells`: lowest cell, cells, word.

    Cells are compared as the masks of nightgrid.solvers.strands.pieces.pieces are: by the highest
    that differs.
    """

    low: I64
    cell_offsets: I64
    cells: I32
    """Ascending for each piece."""
    word: I64
    score: I64
    spans: npt.NDArray[np.bool_]
    set_offsets: I64
    """Least sets set_offsets[p]:set_offsets[p + 1] are those of piece p."""
    block_offsets: I64
    blocks: I32
    """Set s closes blocks[block_offsets[s]:block_offsets[s + 1]], ascending."""

    def __len__(self) -> int:
        return len(self.low)

    def cells_on(self, row: int) -> frozenset[int]:
        """List the cells of a piece."""
        start, stop = self.cell_offsets[row], self.cell_offsets[row + 1]
        return frozenset(self.cells[start:stop].tolist())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class WideFound:
    """Everything that may lie on a board, as nightgrid.solvers.strands.pieces.pieces.Found."""

    words: WidePieces
    compounds: WidePieces
    codes: U64


def find_wide_pieces(
    puzzle: Puzzle, rules: Rules, lexicon: Lexicon, stop: Stop | None = None
) -> WideFound:
    """Find every piece that the rules allow on a board of any shape.

    Words only, no compounds. Raises TooManyPiecesError when there are too many walks or pieces,
    BudgetSpentError when it is stopped.
    """
    space = WalkSpace(
        walks=np.empty((2, WALK_NUMBERS), np.int32),
        offsets=np.empty((2, WALKS_MAX + 1), np.int64),
        slots=np.zeros(4 * WALKS_MAX, np.int64),
        out=np.empty(PIECE_NUMBERS, np.int32),
        starts=np.empty(PIECES_MAX + 1, np.int64),
    )
    status, count = walk_words(
        lexicon.trie, piece_tables.grid_of(puzzle, rules, lexicon, stop), rules.min_letters,
        rules.crossing, space, STEPS_MAX,
    )  # fmt: skip
    piece_tables.check_stop(stop)
    out = space.out
    if status != WALKED:
        raise TooManyPiecesError(piece_tables.MANY_PATHS)
    starts = space.starts[:count].copy()
    heads = out[starts[:, None] + np.arange(3)].reshape(count, 3).astype(np.int64)
    bounds, places = piece_tables.ragged(starts + 3, heads[:, 1])
    cells = out[places]
    block_bounds, places = piece_tables.ragged(starts + 3 + heads[:, 1], heads[:, 2])
    words = _merged(
        puzzle, heads[:, 0], bounds, cells, block_bounds, out[places],
        score_words(lexicon, heads[:, 0]),
    )  # fmt: skip
    return WideFound(words=words, compounds=_none(), codes=np.empty((0, 2), np.uint64))


def find_any_pieces(
    puzzle: Puzzle, rules: Rules, lexicon: Lexicon, stop: Stop | None = None
) -> Found | WideFound:
    """Find every piece as masks where words are short enough and few enough, else as lists.

    Raises TooManyPiecesError when there are too many, or when they would have to be lists and the
    rules want compounds, which are run together within 64 cells only, and BudgetSpentError when it
    is stopped.
    """
    plain = rules.spangram == "off" or rules.compound_parts == 1
    if puzzle.cell_count <= PATH_MAX or np.diff(lexicon.offsets).max() <= PATH_MAX:
        try:
            return piece_tables.find_pieces(puzzle, rules, lexicon, stop)
        except TooWideError as error:
            if not plain:
                raise TooManyPiecesError(f"{error}, or {_NO_COMPOUNDS}") from error
    elif not plain:
        raise TooManyPiecesError(
            f"the word list has words of more than {PATH_MAX} letters; expected {_NO_COMPOUNDS}"
        )
    return find_wide_pieces(puzzle, rules, lexicon, stop)


def _none() -> WidePieces:
    zero, numbers = np.zeros(1, np.int64), np.empty(0, np.int64)
    return WidePieces(
        low=numbers, cell_offsets=zero, cells=np.empty(0, np.int32), word=numbers, score=numbers,
        spans=np.empty(0, np.bool_), set_offsets=zero, block_offsets=zero,
        blocks=np.empty(0, np.int32),
    )  # fmt: skip


def widened(found: Found) -> WideFound:
    """Write pieces that are masks as lists."""
    return WideFound(
        words=_widened(found.words), compounds=_widened(found.compounds), codes=found.codes
    )


def _widened(pieces: Pieces) -> WidePieces:
    low = pieces.low.astype(np.int64)
    cell_offsets, cells = _listed(pieces.cells, low)
    sets = np.diff(pieces.block_offsets)
    block_offsets, blocks = _listed(pieces.blocks, np.repeat(low, sets))
    return WidePieces(
        low=low, cell_offsets=cell_offsets, cells=cells, word=pieces.word, score=pieces.score,
        spans=pieces.spans, set_offsets=pieces.block_offsets.astype(np.int64),
        block_offsets=block_offsets, blocks=blocks,
    )  # fmt: skip


def _listed(masks: Any, low: Any) -> tuple[I64, I32]:
    """Write masks relative to `low` as (bounds, numbers)."""
    bits = np.unpackbits(
        np.ascontiguousarray(masks, np.dtype("<u8")).view(np.uint8).reshape(len(masks), 8),
        axis=1, bitorder="little",
    )  # fmt: skip
    row, bit = np.nonzero(bits)
    bounds = np.concatenate([[0], np.cumsum(bits.sum(axis=1, dtype=np.int64))]).astype(np.int64)
    return bounds, (low[row] + bit).astype(np.int32)


def _merged(
    puzzle: Puzzle, word: Any, bounds: Any, cells: Any, block_bounds: Any, blocks: Any, scores: Any
) -> WidePieces:  # fmt: skip
    """Sort walks canonically, and merge those of one word over the same cells."""
    if not len(word):
        return _none()
    low = cells[bounds[:-1]].astype(np.int64)
    columns = _compared(bounds, cells, low)
    order = np.lexsort((word, *columns, low))
    new = np.ones(len(order), np.bool_)
    new[1:] = False
    for column in (word, *columns, low):
        new[1:] |= column[order[1:]] != column[order[:-1]]
    heads = np.flatnonzero(new)
    rows = order[heads]
    cell_offsets, places = piece_tables.ragged(bounds[rows], np.diff(bounds)[rows])
    merged = cells[places]
    set_offsets, block_offsets, least = _least(order, heads, block_bounds, blocks)
    return WidePieces(
        low=low[rows],
        cell_offsets=cell_offsets,
        cells=merged,
        word=word[rows],
        score=np.maximum.reduceat(scores[order], heads),
        spans=_spans(puzzle, cell_offsets, merged),
        set_offsets=set_offsets,
        block_offsets=block_offsets,
        blocks=least,
    )


def _compared(bounds: Any, cells: Any, low: Any) -> list[U64]:
    """Write runs of cells as masks relative to the lowest, 64 bits a column, lowest bits first."""
    sizes = np.diff(bounds)
    ahead = cells - np.repeat(low, sizes)
    width = int(ahead.max()) // 64 + 1
    at = np.repeat(np.arange(len(sizes)), sizes) * width + ahead // 64
    first = np.flatnonzero(np.append(True, at[1:] != at[:-1]))
    masks = np.zeros(len(sizes) * width, np.uint64)
    masks[at[first]] = np.bitwise_or.reduceat(_ONE << (ahead % 64).astype(np.uint64), first)
    return list(masks.reshape(len(sizes), width).T)


def _spans(puzzle: Puzzle, bounds: Any, cells: Any) -> npt.NDArray[np.bool_]:
    r, c = np.divmod(cells, puzzle.column_count)
    heads = bounds[:-1]
    spans: npt.NDArray[np.bool_] = (
        (np.minimum.reduceat(r, heads) == 0)
        & (np.maximum.reduceat(r, heads) == puzzle.row_count - 1)
    ) | (
        (np.minimum.reduceat(c, heads) == 0)
        & (np.maximum.reduceat(c, heads) == puzzle.column_count - 1)
    )
    return spans


def _least(order: Any, heads: Any, bounds: Any, blocks: Any) -> tuple[Any, Any, Any]:
    """Keep of the sets of blocks of each piece those that contain no other, as integers ascend."""
    stops = np.append(heads[1:], len(order))
    sizes = np.diff(bounds)
    if not sizes.any():
        return np.arange(len(heads) + 1), np.zeros(len(heads) + 1, np.int64), blocks
    set_offsets, block_offsets, numbers = [0], [0], []
    for start, stop in zip(heads.tolist(), stops.tolist(), strict=True):
        masks = {
            sum(1 << b for b in blocks[bounds[row] : bounds[row + 1]].tolist())
            for row in order[start:stop].tolist()
        }
        for mask in piece_tables.least_of(masks):
            numbers += bits_of(mask)
            block_offsets.append(len(numbers))
        set_offsets.append(len(block_offsets) - 1)
    return (
        np.array(set_offsets, np.int64),
        np.array(block_offsets, np.int64),
        np.array(numbers, np.int32),
    )


def bits_of(mask: int) -> list[int]:
    """List the bits that are set."""
    bits = []
    while mask:
        low = mask & -mask
        bits.append(low.bit_length() - 1)
        mask ^= low
    return bits
