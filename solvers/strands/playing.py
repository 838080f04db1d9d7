"""Continue a player's traced words: the pieces that still fit on the board."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.errors import IllegalMoveError
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.strands.paths import spell
from nightgrid.solvers.strands.pieces.pieces import Found, Pieces
from nightgrid.solvers.strands.puzzle import Cell, Puzzle
from nightgrid.solvers.strands.solution import Cover

Placed = tuple[str, frozenset[int]]
"""A word and its cells, as `row * columns + column`."""


def read_words(puzzle: Puzzle, moves: Sequence[Any]) -> list[Placed]:
    """Parse words given as paths, a list of [row, column] each.

    Raises IllegalMoveError for a path that leaves the board, jumps or uses a cell twice.
    """
    taken: set[Cell] = set()
    words: list[Placed] = []
    for i, move in enumerate(moves):
        try:
            path = [(r, c) for r, c in move]
            steps = zip(path, path[1:], strict=False)  # noqa: RUF007
            jumps = any(max(abs(a - c), abs(b - d)) != 1 for (a, b), (c, d) in steps)
            inside = all(r in range(puzzle.row_count) for r, _ in path) and all(
                c in range(puzzle.column_count) for _, c in path
            )
            twice = len({*path} - taken) < len(path)
        except (TypeError, ValueError):
            raise IllegalMoveError(i, "expected a list of [row, column]") from None
        if not path or jumps or not inside or twice:
            raise IllegalMoveError(i, "a word is a path of free letters that touch")
        taken.update(path)
        cells = frozenset(r * puzzle.column_count + c for r, c in path)
        words.append(("".join(puzzle.board[r][c] for r, c in path), cells))
    return words


def pieces_with(found: Found, placed: Sequence[Placed], lexicon: Lexicon) -> Found:
    """Keep the placed pieces, and those that share no cell with them.

    Every cover with these pieces has the placed words. Raises IllegalMoveError for a word that is
    not a piece of the board.
    """
    kept = {
        kind: _apart(pieces, [cell for _, cells in placed for cell in cells])
        for kind, pieces in (("word", found.words), ("compound", found.compounds))
    }
    for i, (word, cells) in enumerate(placed):
        piece = _piece_of(found, word, cells, lexicon)
        if piece is None:
            raise IllegalMoveError(i, f"{word} is not in the word list")
        kept[piece[0]][piece[1]] = True
    words, compounds = (np.flatnonzero(kept[kind]) for kind in ("word", "compound"))
    return replace(
        found,
        words=found.words.take(words),
        compounds=found.compounds.take(compounds),
        codes=found.codes[compounds],
    )


def _apart(pieces: Pieces, cells: Iterable[int]) -> npt.NDArray[np.bool_]:
    """Return which pieces touch none of the cells."""
    taken = sum(1 << cell for cell in cells)
    rows = zip(pieces.low.tolist(), pieces.cells.tolist(), strict=True)
    return np.array([not taken >> low & mask for low, mask in rows], np.bool_)


def _piece_of(
    found: Found, word: str, cells: frozenset[int], lexicon: Lexicon
) -> tuple[str, int] | None:
    low = min(cells)
    mask = sum(1 << (cell - low) for cell in cells)
    for kind, pieces in (("word", found.words), ("compound", found.compounds)):
        for row in np.flatnonzero(pieces.low == low).tolist():
            if int(pieces.cells[row]) == mask and spell((kind, row), found, lexicon) == word:
                return kind, row
    return None


def has_words(cover: Cover, placed: Sequence[Placed], columns: int) -> bool:
    """Return whether a cover with known paths has the placed words."""
    there = {(e.word, frozenset(r * columns + c for r, c in e.path)) for e in cover.entries}
    return all(entry.path for entry in cover.entries) and there.issuperset(placed)


def words_left(cover: Cover, placed: Sequence[Placed], columns: int) -> tuple[Any, ...]:
    """Return the paths of a cover's words that are not placed, the spangram last."""
    there = {cells for _, cells in placed}
    return tuple(
        [list(cell) for cell in entry.path]
        for entry in (*cover.theme_words, *cover.entries[: cover.spangram is not None])
        if frozenset(r * columns + c for r, c in entry.path) not in there
    )
