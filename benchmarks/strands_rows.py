"""What the comparison engines of Strands work on: one row for each way to lay a piece.

Cells are masks of up to 64 bits, so boards have at most 64 cells. A piece with several least sets
of blocks (2 x 2 blocks whose diagonal it holds against other pieces) has a row for each, unless
crossing is allowed: then it has one. All engines obey the same rules through the same masks, which
the paper's own programs did not have: no two words cross, no word twice, one compound at most, a
spangram where one is wanted, a given number of words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.strands.pieces import Found, Pieces
from solvers.strands.puzzle import Cell, Puzzle
from solvers.strands.rules import Rules

CELLS_MAX = 64
ANY_NUMBER = -1
NONE, REQUIRED, ONE = range(3)
Identity = frozenset[tuple[int, frozenset[Cell]]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Rows by score, highest first (ties by cells and word), and the rules they have to obey."""

    cells: npt.NDArray[np.uint64]
    blocks: npt.NDArray[np.uint64]
    word: npt.NDArray[np.int64]
    """Equal for rows that spell the same; compounds count on after the lexicon's words."""
    score: npt.NDArray[np.int64]
    spans: npt.NDArray[np.bool_]
    compound: npt.NDArray[np.bool_]
    board: np.uint64
    """All cells."""
    column_count: int
    entries: int
    """How many pieces a cover has, ANY_NUMBER for any."""
    spangram: int
    """NONE, REQUIRED or ONE."""
    repeats: bool

    def __len__(self) -> int:
        return len(self.cells)

    def cells_of(self, row: int) -> frozenset[Cell]:
        """List the cells of a row."""
        mask = int(self.cells[row])
        return frozenset(
            divmod(bit, self.column_count) for bit in range(CELLS_MAX) if mask >> bit & 1
        )

    def identity(self, chosen: npt.NDArray[np.int64]) -> Identity:
        """Name a choice of rows by what makes it a cover: (word, cells)."""
        return frozenset((int(self.word[row]), self.cells_of(row)) for row in chosen)

    def obeys(self, chosen: npt.NDArray[np.int64]) -> bool:
        """Tell whether a choice of rows is a cover, from the rules and nothing else."""
        spanning = int(self.spans[chosen].sum())
        return (
            sum(int(mask).bit_count() for mask in self.cells[chosen])
            == int(np.bitwise_or.reduce(self.cells[chosen], initial=0)).bit_count()
            == int(self.board).bit_count()
            and sum(int(mask).bit_count() for mask in self.blocks[chosen])
            == int(np.bitwise_or.reduce(self.blocks[chosen], initial=0)).bit_count()
            and (self.repeats or len(set(self.word[chosen].tolist())) == len(chosen))
            and int(self.compound[chosen].sum()) <= 1
            and (self.spangram != REQUIRED or spanning >= 1)
            and (self.spangram != ONE or spanning == 1)
            and (self.entries in (ANY_NUMBER, len(chosen)))
        )


def rows_of(puzzle: Puzzle, rules: Rules, found: Found) -> Rows:
    """Lay the pieces of a board out as rows."""
    if puzzle.cell_count > CELLS_MAX:
        raise ValueError(f"{puzzle.cell_count} cells; the engines take at most {CELLS_MAX}")
    words, compounds = _laid(found.words), _laid(found.compounds)
    after = int(found.words.word.max(initial=-1)) + 1
    cells, blocks, score, spans = (
        np.concatenate([a, b]) for a, b in zip(words[1:], compounds[1:], strict=True)
    )
    word = np.concatenate([words[0], compounds[0] + after])
    compound = np.arange(len(word)) >= len(words[0])
    order = np.lexsort((blocks, word, cells, -score))
    given = rules.words == "given" and puzzle.theme_words is not None
    return Rows(
        cells=cells[order],
        blocks=blocks[order],
        word=word[order],
        score=score[order],
        spans=spans[order],
        compound=compound[order],
        board=np.uint64((1 << puzzle.cell_count) - 1),
        column_count=puzzle.column_count,
        entries=(puzzle.theme_words or 0) + (rules.spangram != "off") if given else ANY_NUMBER,
        spangram={"off": NONE, "required": REQUIRED, "one": ONE}[rules.spangram],
        repeats=rules.repeats,
    )


def _laid(pieces: Pieces) -> tuple[npt.NDArray[Any], ...]:
    """Move masks from their lowest cell to the board's first; repeat what has several sets."""
    sizes = np.diff(pieces.block_offsets)
    low = np.repeat(pieces.low, sizes).astype(np.uint64)
    return (
        np.repeat(pieces.word, sizes),
        np.repeat(pieces.cells, sizes) << low,
        pieces.blocks << low,
        np.repeat(pieces.score, sizes),
        np.repeat(pieces.spans, sizes),
    )
