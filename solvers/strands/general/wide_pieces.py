"""The pieces of any board: words of any length, walked letter by letter from each cell.

A word may wind through blocks in thousands of ways over the same cells (article 000, Theorem 20),
so walks that have reached the same cell over the same cells (and diagonals, if words must not
cross) with the same prefix are merged.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.stop import Stop
from nightgrid.solvers.strands.pieces import pieces as piece_tables
from nightgrid.solvers.strands.pieces.pieces import (
    Found,
    Pieces,
    TooManyPiecesError,
    TooWideError,
    least_of,
)
from nightgrid.solvers.strands.pieces.words import NO_LETTER, PATH_MAX, Grid
from nightgrid.solvers.strands.placing import touches_opposite_sides
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.score import score_words

STEPS_MAX = 1 << 22
"""Steps on one board, some ten seconds."""
STOP_STRIDE = 4096
"""Steps between two checks of the stop."""

_NO_COMPOUNDS = "rules without compound spangrams (compound_parts=1 or spangram=off)"

Walk = tuple[int, int, int, int, int]
"""Node of the trie, cell, and as masks the cells and the blocks of open diagonals, falling and
rising."""


def find_any_pieces(
    puzzle: Puzzle, rules: Rules, lexicon: Lexicon, stop: Stop | None = None
) -> Found:
    """Find every piece with masks of 64 bits where words are short and few enough, else wide.

    Raises TooManyPiecesError if there are too many, or if they would have to be wide although the
    rules allow compounds, which are only joined within 64 cells, and BudgetSpentError if it is
    stopped.
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


def find_wide_pieces(
    puzzle: Puzzle, rules: Rules, lexicon: Lexicon, stop: Stop | None = None
) -> Found:
    """Find every word that the rules allow on a board of any shape; no compounds.

    Raises TooManyPiecesError when there are too many walks, BudgetSpentError when it is stopped.
    """
    walked = _walk_words(piece_tables.grid_of(puzzle, rules, lexicon, stop), rules, lexicon, stop)
    order = sorted(walked)
    least = [least_of(walked[piece]) for piece in order]
    word = np.array([word for _, _, word in order], np.int64)
    columns = puzzle.column_count
    spans = [
        touches_opposite_sides([divmod(low + bit, columns) for bit in bits_of(cells)], puzzle)
        for low, cells, _ in order
    ]
    masks: Any = np.array([cells for _, cells, _ in order], object)
    blocks: Any = np.array([mask for masks in least for mask in masks], object)
    words = Pieces(
        low=np.array([low for low, _, _ in order], np.int32),
        cells=masks,
        word=word,
        score=score_words(lexicon, word),
        spans=np.array(spans, np.bool_),
        block_offsets=np.cumsum([0, *map(len, least)]).astype(np.int32),
        blocks=blocks,
    )
    return Found(words=words, compounds=piece_tables.no_pieces(), codes=np.empty((0, 2), np.uint64))


def bits_of(mask: int) -> list[int]:
    """List the bits that are set."""
    bits = []
    while mask:
        low = mask & -mask
        bits.append(low.bit_length() - 1)
        mask ^= low
    return bits


def _walk_words(
    grid: Grid, rules: Rules, lexicon: Lexicon, stop: Stop | None
) -> dict[tuple[int, int, int], set[int]]:
    """Walk all words: the sets of blocks by (lowest cell, cells, word), as in Pieces."""
    columns, letters = grid.columns, grid.letters.tolist()
    near = [[to for to in row if to >= 0] for row in grid.near.tolist()]
    children, first, words = (array.tolist() for array in lexicon.trie)
    longest = int(np.diff(lexicon.offsets).max())
    found: dict[tuple[int, int, int], set[int]] = {}
    steps = 0
    for start in range(len(letters)):
        # Masks begin with the first cell that a walk from here can reach.
        base = max(0, start // columns - longest) * columns
        walks: set[Walk] = {(0, -1, 0, 0, 0)}
        size = 0
        while walks:
            longer: set[Walk] = set()
            for node, at, cells, falling, rising in walks:
                if words[node] >= 0 and size >= rules.min_letters:
                    low = (cells & -cells).bit_length() - 1
                    blocks = 0 if rules.crossing else (falling | rising) >> low
                    piece = base + low, cells >> low, words[node]
                    found.setdefault(piece, set()).add(blocks)
                if not children[node]:
                    continue
                for to in near[at] if size else (start,):
                    bit = 1 << (to - base)
                    letter = letters[to]
                    if cells & bit or letter == NO_LETTER or not children[node] >> letter & 1:
                        continue
                    steps += 1
                    if steps % STOP_STRIDE == 0:
                        piece_tables.check_stop(stop)
                    if steps > STEPS_MAX:
                        raise TooManyPiecesError(piece_tables.MANY_PATHS)
                    child = first[node] + (children[node] & ((1 << letter) - 1)).bit_count()
                    strokes = (falling, rising)
                    if not rules.crossing:
                        strokes = _strokes_after(at, to, base, columns, cells | bit, strokes)
                    longer.add((child, to, cells | bit, *strokes))
            walks = longer
            size += 1
    piece_tables.check_stop(stop)
    return found


def _strokes_after(
    at: int, to: int, base: int, columns: int, cells: int, strokes: tuple[int, int]
) -> tuple[int, int]:
    """Return the blocks of open diagonals, falling and rising, after a step to a cell.

    A diagonal is open, and may be crossed, while both other cells of its block are unused.
    """
    falling, rising = strokes
    place = to - base
    falling &= ~((1 << (place + 1)) | (1 << (place + columns)))
    rising &= ~((1 << place) | (1 << (place + columns + 1)))
    one, other = sorted((at, to))
    across = other % columns - one % columns
    if at < 0 or one // columns == other // columns or not across:
        return falling, rising
    block = other - base + (across < 0)
    if across > 0 and not cells & (1 << (block - 1) | 1 << (block - columns)):
        falling |= 1 << block
    if across < 0 and not cells & (1 << block | 1 << (block - columns - 1)):
        rising |= 1 << block
    return falling, rising
