"""Solutions that need no file of their own: they stand in the result row of their job."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from nightgrid.solvers.algebra import Ask, Budget, Outcome
from nightgrid.solvers.base_game import over_budget
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.chunks.result_rows import Row, listed_row
from nightgrid.workers.chunks.solution_texts import Texts, take
from nightgrid.workers.settings import Settings


class InlineSolutions:
    """Answers `all` for rows of which each has few solutions, and all together not too many."""

    def __init__(
        self, game: Game[Any, Any], limit: int | None, budget: Budget, settings: Settings
    ) -> None:
        self._game, self._limit, self._budget = game, limit, budget
        self._settings = settings
        self._left = settings.tuning.listing_chunk_bytes

    def row(self, head: Row, puzzle: Any, part: Any) -> Row:
        """Make the PARTS row of a job or part: over budget if it has too many solutions."""
        taken = take(
            self._game,
            puzzle,
            part,
            self._budget,
            limit=self._limit,
            rows=self._settings.tuning.listing_rows,
            text_bytes=min(self._settings.tuning.listing_row_bytes, self._left),
        )
        self._left -= taken.text_bytes if taken.is_whole else 0
        return inline_row(head, taken)


def solve_inline(
    game: Game[Any, Any], puzzle: Any, ask: Ask, budget: Budget, settings: Settings
) -> Outcome[Any]:
    """Answer `all` for a board with few solutions; over budget where it has too many for a row."""
    taken = take(
        game,
        puzzle,
        None,
        budget,
        limit=ask.limit,
        rows=settings.tuning.listing_rows,
        text_bytes=settings.tuning.listing_row_bytes,
    )
    if taken.outcome.reason_code is None and not taken.is_whole:
        return _too_many(taken)
    values = (game.solution_from_json(json.loads(text)) for text in taken.texts)
    return replace(taken.outcome, solutions=tuple(values))


def solve_whole(
    game: Game[Any, Any], puzzle: Any, ask: Ask, budget: Budget, settings: Settings
) -> Outcome[Any]:
    """Answer a job in one piece, as a result row holds it."""
    if ask.kind == "all":
        return solve_inline(game, puzzle, ask, budget, settings)
    return game.solve(puzzle, ask, None, budget)


def inline_row(head: Row, taken: Texts) -> Row:
    """Make the PARTS row of solutions that stand in the row itself, if they are not too many."""
    if taken.outcome.reason_code is not None:
        return listed_row(head, taken.outcome)
    if taken.is_whole:
        return listed_row(head, taken.outcome, solutions=f"[{','.join(taken.texts)}]")
    return listed_row(head, _too_many(taken))


def _too_many(taken: Texts) -> Outcome[Any]:
    sentence = f"{len(taken.texts):,} solutions and more: too many for one row"
    reason = Reason(code=ReasonCode.SOLUTION_BYTES, sentence=sentence)
    return over_budget(reason, taken.outcome.statistics)
