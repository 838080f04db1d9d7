"""The ask `meant(k)` of Strands: the k covers most likely meant, with the evidence.

Models and the vocabulary are files, so this game is bound on the archive's floor
(nightgrid.archive.words.binding); `solvers/` does not know them. The ranker's name takes the place
of the solver's version: answers of other weights, or without the models, are other jobs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nightgrid.archive.games.strands.ranking.plugged import ranker_here
from nightgrid.solvers.algebra import (
    MEANT,
    Arrays,
    Ask,
    Budget,
    Outcome,
    SolutionStream,
    Statistics,
    Status,
)
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game, over_budget
from nightgrid.solvers.question import clued_subject
from nightgrid.solvers.reasons import BudgetSpentError, Reason, ReasonCode
from nightgrid.solvers.strands.columns import from_arrays, to_arrays
from nightgrid.solvers.strands.game import StrandsGame
from nightgrid.solvers.strands.pieces.pieces import TooManyPiecesError
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.ranking.board import RULES
from nightgrid.solvers.strands.ranking.covers import cover_of
from nightgrid.solvers.strands.ranking.search import NOT_RANKED, can_rank, timed
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.solution import cover_to_json
from nightgrid.solvers.strands.states.engine import reason_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from nightgrid.archive.games.strands.ranking.ranker import RankedCover, Ranker
    from nightgrid.solvers.strands.ranking.board import RankedBoard


SMALL, SMALL_CLUE = Puzzle(board=("HOTD", "GOGO", "CATS", "SCAT"), theme_words=2), "pets"
"""A small board for warming up."""
FEW_COVERS = Puzzle(board=("QZJX", "XJZQ", "QZJX", "XJZQ"), theme_words=2)
"""One without covers: strips are searched too (nightgrid.solvers.strands.ranking.strips)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CluedPuzzle(Puzzle):
    """A board with the clue that players see; its id is that of the board."""

    clue: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the canonical form of the board, with the clue."""
        value = Puzzle.to_json(self)
        return {**value, "clue": self.clue} if self.clue else value

    @property
    def puzzle_id(self) -> str:
        """Hash of the canonical form of the board."""
        return Puzzle(board=self.board, theme_words=self.theme_words).puzzle_id

    @classmethod
    def from_json(cls, value: object, place: str = "") -> CluedPuzzle:
        """Validate a JSON value as a board with its clue."""
        clue = value.get("clue") if isinstance(value, Mapping) else None
        return clued(Puzzle.from_json(value, place), clue if isinstance(clue, str) else None)


def clued(puzzle: Puzzle, clue: str | None) -> CluedPuzzle:
    """Add a clue to a board; an empty one counts as none."""
    return CluedPuzzle(board=puzzle.board, theme_words=puzzle.theme_words, clue=clue or None)


class MeantGame(Game[Puzzle, Mapping[str, Any]]):
    """Strands, bound to this machine's ranker.

    A solution is a cover as JSON with `components` of the spangram, `confidence`, `signals`, the
    contribution of each term of the search by word (`words`), both in nats, and the `clue`.
    """

    name = StrandsGame.name
    counts = ("meant",)
    streams = ()
    reasons = StrandsGame.reasons
    board_s = 1.0
    puzzle_from_json = staticmethod(CluedPuzzle.from_json)
    _ranker: Ranker | None = None

    def __init__(self, rules: str = "") -> None:
        """Look up the name of the ranker, without opening vocabulary or models.

        Raises PermanentError for rules other than the game's own.
        """
        bound = Rules.parse(rules)
        if bound.normal() != RULES:
            raise PermanentError("meant(K) only supports Strands' own rules; give no rules")
        super().__init__(bound)
        self.solver_version = ranker_here()

    def open(self) -> Ranker:
        """Open the ranker, once a process."""
        if self._ranker is None:
            from nightgrid.archive.games.strands.ranking.ranker import default_ranker

            self._ranker = default_ranker()
        return self._ranker

    def clued(self, puzzle: Puzzle, clue: str | None) -> CluedPuzzle:
        """Add the clue. Raises PermanentError for a board that cannot be ranked."""
        if not can_rank(puzzle):
            raise PermanentError(NOT_RANKED)
        return clued(puzzle, clue)

    def subject(self, puzzle: Puzzle) -> str:
        """Return the board's id with its clue."""
        return clued_subject(puzzle.puzzle_id, getattr(puzzle, "clue", None))

    def solution_to_json(self, solution: Mapping[str, Any]) -> dict[str, Any]:
        """Return a cover, which is a JSON value already."""
        return dict(solution)

    def solution_from_json(self, value: Any) -> Mapping[str, Any]:
        """Return a cover, which is a JSON value already."""
        return dict(value)

    def open_stream(self, *_: Any, **__: Any) -> SolutionStream[Mapping[str, Any]]:
        """Raise NotImplementedError: covers are ranked all at once."""
        raise NotImplementedError

    def solve_counted(
        self, puzzle: Puzzle, ask: Ask, part: Any, budget: Budget
    ) -> Outcome[Mapping[str, Any]]:
        """Rank the covers of a board; the seconds of the budget cover all steps together.

        `count` is the number of listed covers.
        """
        del part
        if not can_rank(puzzle):
            return Outcome(status=Status.INVALID, reason_code=ReasonCode.REFUSED, reason=NOT_RANKED)
        ranker = self.open()
        begun_ns = time.perf_counter_ns()
        try:
            with timed(budget) as own:
                found = _ranked(ranker, puzzle, getattr(puzzle, "clue", None), ask, own)
        except TooManyPiecesError as error:
            return over_budget(
                Reason(code=ReasonCode.CAPACITY, sentence=str(error)), _since(begun_ns)
            )
        except BudgetSpentError as error:
            return over_budget(reason_of(error), _since(begun_ns))
        return Outcome(
            status=Status.SOLVED if found else Status.UNSOLVABLE,
            count=len(found),
            solutions=tuple(found),
            statistics=_since(begun_ns),
        )

    def split(self, puzzle: Puzzle, ask: Ask, part: Any, into: int) -> list[Any]:  # noqa: ARG002
        """Divide nothing: covers are compared with one another."""
        return [part]

    def to_arrays(self, puzzles: Sequence[Puzzle]) -> dict[str, npt.NDArray[Any]]:
        """Encode boards as columns, with the column `clue`; "" for none."""
        clues = [getattr(puzzle, "clue", None) or "" for puzzle in puzzles]
        return {**to_arrays(puzzles), "clue": np.array(clues, np.str_)}

    def from_arrays(self, arrays: Arrays, row: int) -> CluedPuzzle:
        """Decode the board of one row, with its clue if the columns have one."""
        clue = str(arrays["clue"][row]) if "clue" in arrays else None
        return clued(from_arrays(arrays, row), clue)

    def warm(self) -> None:
        """Open the ranker, and load its kernels by ranking two small boards."""
        for board in (SMALL, FEW_COVERS):
            self.solve(clued(board, SMALL_CLUE), MEANT)


def _since(begun_ns: int) -> Statistics:
    return Statistics(kernel_ns=time.perf_counter_ns() - begun_ns)


def _ranked(
    ranker: Ranker, puzzle: Puzzle, clue: str | None, ask: Ask, budget: Budget
) -> list[dict[str, Any]]:
    """Rank the covers of a board, and return the likeliest as JSON values."""
    from nightgrid.archive.games.strands.ranking.ranker import go_on

    # Confidences are shares of all compared covers, however many are requested.
    board, covers = ranker.ranked(puzzle, clue, budget=budget)
    found = []
    for cover in covers[: ask.limit]:
        go_on(budget)
        found.append(_cover_json(ranker, board, cover, clue))
    return found


def _cover_json(
    ranker: Ranker, board: RankedBoard, one: RankedCover, clue: str | None
) -> dict[str, Any]:
    words = ranker.explain_words(board, one)
    return {
        **cover_to_json(cover_of(board, one.scored, ranker.vocabulary)),
        "components": list(one.components),
        "confidence": round(one.confidence, 6),
        "signals": _rounded(one.signals),
        "words": {word: _rounded(terms) for word, terms in words.items()},
        "clue": clue,
    }


def _rounded(nats: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in nats.items()}
