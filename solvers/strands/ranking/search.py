"""The covers with the highest scores under weighed terms: exact, like every `best(k)`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.kernel.compiling import I64
from nightgrid.solvers.stop import stopped_after
from nightgrid.solvers.strands.listing import ZONE_CELLS_MAX, ZONE_WORDS_MAX, best_first
from nightgrid.solvers.strands.pieces.pieces import Found
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.ranking.board import RULES, RankedBoard
from nightgrid.solvers.strands.ranking.compounds import NATS
from nightgrid.solvers.strands.ranking.weighed_terms import WeighedTerms
from nightgrid.solvers.strands.zones.engine import OWN_RANK, ZoneEngine

Piece = tuple[str, int]
"""("word", row of found.words) or ("compound", row of found.compounds)."""


ENDLESS = 1 << 62
NOT_RANKED = (
    "only boards of up to 63 cells with a known number of theme words are ranked; give theme_words"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A cover as its pieces, the spangram first, and its score in thousandths of a nat."""

    pieces: tuple[Piece, ...]
    score: int

    @property
    def spangram(self) -> Piece:
        """The piece that the cover has as its spangram."""
        return self.pieces[0]

    @property
    def theme(self) -> list[int]:
        """Rows of the theme words in `found.words`."""
        return [row for _, row in self.pieces[1:]]


class RoleEngine(ZoneEngine):
    """The search by spangrams and zones, with different scores of words as the spangram."""

    def __init__(self, puzzle: Puzzle, found: Found, spangram: I64, budget: Budget) -> None:
        """Take scores of theme words and compounds from `found`, and those of word spangrams."""
        super().__init__(puzzle, RULES, found, budget, exists=False)
        # Counting takes a cover once, by the least rank of its spangrams. Here each choice of the
        # spangram is a cover, since they score differently.
        self.model.spangrams.fields[:, OWN_RANK] = 0
        self._spangram = spangram

    def _score(self, member: int) -> int:
        kind = int(self.model.members[member])
        if kind >= 0:
            return int(self.found.compounds.score[kind])
        return int(self._spangram[-1 - kind])


@contextmanager
def timed(budget: Budget) -> Iterator[Budget]:
    """Yield a budget whose seconds are those of all searches and steps in the block together.

    Its stop is set when they are over, or when the budget's own stop is.
    """
    with stopped_after(budget.seconds, budget.stop) as stop:
        yield replace(budget, stop=stop)


def can_rank(puzzle: Puzzle) -> bool:
    """Return whether a board can be ranked: its number of theme words is known."""
    words = puzzle.theme_words
    return words is not None and (
        1 <= words <= ZONE_WORDS_MAX and puzzle.cell_count <= ZONE_CELLS_MAX
    )


def best_covers(
    board: RankedBoard, score: WeighedTerms, k: int, budget: Budget | None = None
) -> list[Scored]:
    """List the k covers of the highest scores; of equal ones the canonically first.

    Of a cover in which several words span, the one with which it scores highest is the spangram.
    Raises BudgetSpentError.
    """
    found, spangram = scored_pieces(board, score)
    engine = RoleEngine(board.puzzle, found, spangram, budget or Budget())
    indices, _, bests = engine.root_values(0, engine.root_size())
    kids: list[Any] = [(index, None) for index in indices]
    listed: dict[frozenset[Piece], Scored] = {}
    for value, pieces in best_first(engine, ENDLESS, bests, kids, 0):
        listed.setdefault(frozenset(pieces), Scored(pieces=tuple(pieces), score=value))
        if len(listed) == k:
            break
    return list(listed.values())


def scored_pieces(board: RankedBoard, score: WeighedTerms) -> tuple[Found, I64]:
    """Return pieces scored as theme words and compounds, and the scores of words as spangrams."""
    words, compounds = board.found.words, board.found.compounds
    found = Found(
        words=replace(words, score=_nats(board.theme, score.theme)),
        compounds=replace(compounds, score=_nats(board.compound, score.spangram)),
        codes=board.found.codes,
    )
    return found, _nats(board.spangram, score.spangram)


def _nats(terms: npt.NDArray[np.float32], weights: npt.NDArray[np.float64]) -> I64:
    return np.rint(NATS * (terms.astype(np.float64) @ weights)).astype(np.int64)
