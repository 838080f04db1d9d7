"""The pieces of a board: each word on each set of cells, with the blocks its paths may cross.

A piece is a word and a set of cells. The paths that the word may take on them differ in the 2 x 2
blocks whose diagonal they use, and only the least sets of blocks matter: a piece that avoids a path
avoids one that uses fewer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.codes import OUT_OF_SECONDS
from nightgrid.solvers.kernel.compiling import I32, I64, U64
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.stop import Stop
from nightgrid.solvers.strands import score as scores
from nightgrid.solvers.strands.pieces import components as columns
from nightgrid.solvers.strands.pieces import words as word_paths
from nightgrid.solvers.strands.pieces.components import components_of, spelled_codes
from nightgrid.solvers.strands.pieces.compounds import (
    ANY_SCORE,
    BLOCKS,
    FULL,
    TOO_MANY,
    TOO_WIDE,
    JoinLimits,
    ScoreWeights,
    join_components,
)
from nightgrid.solvers.strands.pieces.words import Grid, WordPaths
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import COMPONENTS_MAX, Rules

COMPOUND_ROWS_MAX = 1 << 23
"""More rows of compounds than this are refused: 2^23 take 600 MB."""

JOINTS_MAX = 1 << 28
"""Components that are tried on one board, some seconds."""
WORD_ROWS_MAX = 1 << 22
"""Paths of words that one board may have: 2^22 take 120 MB."""
MANY_PATHS = (
    "the letters of this board can be walked along words in too many ways; expected a board of "
    "fewer equal letters, or a smaller word list"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pieces:
    """Pieces of one kind, sorted by lowest cell, cells, word: the canonical order.

    Cells and blocks are masks relative to the lowest cell (nightgrid.solvers.strands.pieces.words);
    on a board with wide words they are Python integers of any length.
    """

    low: I32
    cells: U64
    word: I64
    """Index in the lexicon; -1 for compounds."""
    score: I64
    spans: npt.NDArray[np.bool_]
    """Whether it touches two opposite sides."""
    block_offsets: I32
    blocks: U64
    """blocks[block_offsets[p]:block_offsets[p + 1]]: the least sets of blocks, ascending."""

    def __len__(self) -> int:
        return len(self.low)

    @property
    def wide(self) -> bool:
        """Whether masks may have more than 64 bits, which kernels do not support."""
        return self.cells.dtype == object

    def take(self, rows: Any) -> Pieces:
        """Select some pieces, in the order given."""
        offsets, places = reordered(self.block_offsets, rows)
        return Pieces(
            low=self.low[rows],
            cells=self.cells[rows],
            word=self.word[rows],
            score=self.score[rows],
            spans=self.spans[rows],
            block_offsets=offsets.astype(np.int32),
            blocks=self.blocks[places],
        )

    def cells_on(self, row: int) -> frozenset[int]:
        """List the cells of a piece."""
        mask, low = int(self.cells[row]), int(self.low[row])
        return frozenset(low + b for b in range(mask.bit_length()) if mask >> b & 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Found:
    """All pieces of a board."""

    words: Pieces
    compounds: Pieces
    codes: U64
    """uint64[compounds, 2]: each compound's letters
    (nightgrid.solvers.strands.pieces.compounds)."""


class TooManyPiecesError(Exception):
    """The board has more pieces than the solver has room for; says so in its reason."""


class TooWideError(TooManyPiecesError):
    """Words span more cells than a mask holds, or can be walked in too many ways one by one."""


def find_pieces(puzzle: Puzzle, rules: Rules, lexicon: Lexicon, stop: Stop | None = None) -> Found:
    """Find every piece that the rules allow on a board.

    Raises TooManyPiecesError if words span too many cells or there are too many compounds, and
    BudgetSpentError if it is stopped.
    """
    grid = grid_of(puzzle, rules, lexicon, stop)
    plain = rules.spangram == "off" or rules.compound_parts == 1
    paths = find_paths(lexicon, grid, rules.min_letters if plain else 1, stop)
    words = _words(paths, lexicon, rules)
    if plain:
        return Found(words=words, compounds=no_pieces(), codes=np.empty((0, 2), np.uint64))
    compounds, codes = _compounds(paths, lexicon, grid, rules, words)
    check_stop(stop)
    return Found(words=words, compounds=compounds, codes=codes)


def no_pieces() -> Pieces:
    """Return empty pieces."""
    return Pieces(
        low=np.empty(0, np.int32), cells=np.empty(0, np.uint64), word=np.empty(0, np.int64),
        score=np.empty(0, np.int64), spans=np.empty(0, np.bool_),
        block_offsets=np.zeros(1, np.int32), blocks=np.empty(0, np.uint64),
    )  # fmt: skip


def board_codes(puzzle: Puzzle, lexicon: Lexicon) -> npt.NDArray[np.uint8]:
    """Convert the board to the lexicon's letter codes."""
    points = np.array([ord(letter) for row in puzzle.board for letter in row], np.uint32)
    codes = np.searchsorted(lexicon.alphabet, points)
    codes[codes == len(lexicon.alphabet)] = 0
    known = lexicon.alphabet[codes] == points
    return np.where(known, codes, word_paths.NO_LETTER).astype(np.uint8)


def grid_of(puzzle: Puzzle, rules: Rules, lexicon: Lexicon, stop: Stop | None = None) -> Grid:
    """Convert the cells of a board for kernels."""
    rows, columns = puzzle.row_count, puzzle.column_count
    near = word_paths.neighbours(rows, columns, diagonal=rules.diagonal)
    address = 0 if stop is None else stop.address
    return Grid(board_codes(puzzle, lexicon), near, rows, columns, address)


def check_stop(stop: Stop | None) -> None:
    """Raise BudgetSpentError if a search for pieces was stopped: its kernels do not report it."""
    if stop is not None and stop.reason_code is not None:
        raise BudgetSpentError(OUT_OF_SECONDS)


def find_paths(
    lexicon: Lexicon, grid: Grid, min_letters: int, stop: Stop | None = None
) -> WordPaths:
    """Find every path that spells a word of at least so many letters; raises as `find_pieces`."""
    found, masks, numbers = word_paths.find_words(
        lexicon.trie, grid, min_letters, word_paths.STEPS_MAX, WORD_ROWS_MAX
    )
    check_stop(stop)
    if found == word_paths.WORD_TOO_WIDE:
        raise TooWideError(_too_wide(grid))
    if found == word_paths.TOO_MANY_PATHS:
        raise TooWideError(MANY_PATHS)
    return WordPaths(masks, numbers)


def _words(paths: WordPaths, lexicon: Lexicon, rules: Rules) -> Pieces:
    long = paths.numbers[:, word_paths.LETTERS] >= rules.min_letters
    numbers, (cells, falling, rising) = paths.numbers[long], paths.masks[long].T
    word = numbers[:, word_paths.WORD].astype(np.int64)
    blocks = np.zeros_like(falling) if rules.crossing else falling | rising
    pieces, rows = _merged(
        numbers[:, word_paths.LOW], cells, [word], blocks, scores.score_words(lexicon, word)
    )
    spans = word_paths.are_spanning(numbers[rows, word_paths.SIDES])
    return replace(pieces, word=word[rows], spans=spans)


def _compounds(
    paths: WordPaths, lexicon: Lexicon, grid: Grid, rules: Rules, words: Pieces
) -> tuple[Pieces, U64]:
    costs, weights = scored_components(lexicon, rules)
    spelled = spelled_codes(lexicon, np.unique(words.word[words.spans]))
    found, masks, numbers = join_components(
        components_of(paths, lexicon, costs, rules.compound_centibels),
        weights,
        grid,
        JoinLimits(
            min_letters=rules.min_letters,
            components_max=rules.compound_parts,
            cost_max=rules.compound_centibels,
            crossing=rules.crossing,
            rows_max=COMPOUND_ROWS_MAX,
            steps_max=JOINTS_MAX,
            score_min=ANY_SCORE,
        ),
    )
    if found == TOO_WIDE:
        raise TooManyPiecesError(_too_wide(grid))
    if found in (TOO_MANY, FULL):
        raise TooManyPiecesError(
            f"more than {COMPOUND_ROWS_MAX:,} compound spangrams, or {JOINTS_MAX:,} ways to join "
            "their parts; expected rules with fewer parts or a lower limit on their cost"
        )
    return merge_rows(masks[:found], numbers[:found], spelled)


def merge_rows(masks: U64, numbers: I64, spelled: U64) -> tuple[Pieces, U64]:
    """Merge rows of `join_components` into pieces and their codes, except those of words.

    `spelled`: codes of the words, as of `spelled_codes`.
    """
    codes = np.ascontiguousarray(masks[:, (columns.CODE_HI, columns.CODE_LO)])
    # Few rows share a half of their code with a word; bytes of both halves sort slowly.
    perhaps = _holds(spelled[:, 1], codes[:, 1])
    words = spelled[_holds(codes[perhaps, 1], spelled[:, 1])]
    new = ~perhaps
    new[perhaps] = ~np.isin(codes[perhaps].view("S16"), words.view("S16")).ravel()
    low, cells, high, lower, blocks, scores = (
        column[new]
        for column in (
            numbers[:, 0], masks[:, columns.CELLS], codes[:, 0], codes[:, 1],
            masks[:, BLOCKS], numbers[:, 1],
        )
    )  # fmt: skip
    pieces, rows = _merged(low, cells, (high, lower), blocks, scores)
    return pieces, np.stack([high[rows], lower[rows]], axis=1)


def _holds(values: U64, asked: U64) -> npt.NDArray[np.bool_]:
    """Return which of some numbers, none of which is 0, are among the values."""
    known = np.sort(values)
    held: npt.NDArray[np.bool_] = np.append(known, 0)[np.searchsorted(known, asked)] == asked
    return held


def scored_components(lexicon: Lexicon, rules: Rules) -> tuple[I32, ScoreWeights]:
    """Price every word as a component: its cost and its score."""
    return _scored(lexicon, rules.part_centizipf)


@lru_cache(maxsize=8)
def _scored(lexicon: Lexicon, part_centizipf: int) -> tuple[I32, ScoreWeights]:
    weights = ScoreWeights(
        components=scores.score_components(lexicon),
        phrase_offsets=lexicon.phrase_offsets,
        phrase_second=lexicon.phrase_second,
        phrases=scores.score_phrases(lexicon),
        counts=scores.score_counts(lexicon, COMPONENTS_MAX),
    )
    return scores.component_costs(lexicon, part_centizipf).astype(np.int32), weights


def _too_wide(grid: Grid) -> str:
    return (
        f"a word on this board of {grid.rows} x {grid.columns} spans more than 64 cells, row by "
        "row; expected narrower boards or shorter words"
    )


def _merged(
    low: Any, cells: Any, names: Any, blocks: Any, scores: Any
) -> tuple[Pieces, npt.NDArray[np.intp]]:
    """Merge paths with the same letters, given by the columns `names`, on the same cells.

    Returns spanning pieces that are not words, in canonical order, and a row of each.
    """
    order = order_of(low, cells, *names, blocks)
    blocks = blocks[order]
    new = np.zeros(len(order), np.bool_)
    new[:1] = True
    for column in (low, cells, *names):
        sorted_column = column[order]
        new[1:] |= sorted_column[1:] != sorted_column[:-1]
    heads = np.flatnonzero(new)
    # Keep the sets of blocks of a piece that contain no other.
    keep = new.copy()
    keep[1:] |= blocks[1:] != blocks[:-1]
    before = np.append(0, np.cumsum(keep))
    bounds = np.append(heads, len(order))
    for piece in np.flatnonzero(np.diff(before[bounds]) > 1):
        own = slice(bounds[piece], bounds[piece + 1])
        least = least_of(blocks[own][keep[own]].tolist())
        keep[own] &= np.isin(blocks[own], np.array(least, np.uint64))
    rows = order[heads]
    pieces = Pieces(
        low=low[rows].astype(np.int32),
        cells=cells[rows],
        word=np.full(len(rows), -1),
        score=np.maximum.reduceat(scores[order], heads) if len(rows) else scores,
        spans=np.ones(len(rows), np.bool_),
        block_offsets=np.append(0, np.cumsum(keep))[bounds].astype(np.int32),
        blocks=blocks[keep],
    )
    return pieces, rows


def order_of(small: Any, masks: U64, *others: Any) -> npt.NDArray[np.intp]:
    """Sort by small numbers, then by masks, then by the others.

    np.lexsort gives the same order in twice the time: it has no vector instructions, which sort a
    single key. Only ties are sorted by all keys.
    """
    room = 64 - int(small.max(initial=0)).bit_length()
    excess = max(0, int(masks.max(initial=0)).bit_length() - room)
    key = small.astype(np.uint64) << np.uint64(room) | masks >> np.uint64(excess)
    order = np.argsort(key)
    same = np.diff(key[order]) == 0
    ties = np.zeros(len(order), np.bool_)
    ties[1:] = same
    ties[:-1] |= same
    own = order[ties]
    keys = (*(other[own] for other in reversed(others)), masks[own], small[own])
    order[ties] = own[np.lexsort(keys)]
    return order


def least_of(masks: Iterable[int]) -> list[int]:
    """Keep the masks that contain no other, ascending."""
    least: list[int] = []
    # Ascending: a set comes after every set that it contains.
    for mask in sorted(masks):
        if not any(known & mask == known for known in least):
            least.append(mask)
    return least


def ragged(starts: Any, sizes: Any) -> tuple[I64, I64]:
    """Return the places of runs that begin at `starts`: the bounds of runs, and the places."""
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.repeat(np.asarray(starts, np.int64) - bounds[:-1], sizes) + np.arange(bounds[-1])
    return bounds, places


def reordered(offsets: Any, order: Any) -> tuple[I64, I64]:
    """Reorder a ragged array: its new offsets and the old positions of its values."""
    return ragged(offsets[:-1][order], np.diff(offsets)[order])
