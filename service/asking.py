"""Turn a puzzle, an ask, rules and words into a question, for all interfaces alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nightgrid.service.options.game_rules import GameRules
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.question import Question, question_of
from nightgrid.solvers.registry import check_ask, game_plug

if TYPE_CHECKING:
    from nightgrid.solvers.game_contract import Game
    from nightgrid.solvers.lexicon.lexicon import Lexicon


COMMAND_LINE = "nightgrid"
"""Client name of the command line at a service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question about one puzzle, and the game bound to its rules and words."""

    puzzle: Any
    """The game's own value."""
    bound: Game[Any, Any]
    question: Question
    puzzle_id: str
    job_id: str

    @property
    def ask(self) -> Ask:
        """The kind of answer."""
        return self.question.ask


def ask_about(
    game: str,
    puzzle: Any,
    ask: Ask | None,
    rules: GameRules,
    clue: str | None = None,
    words: Lexicon | None = None,
) -> Asked:
    """Build a question about a puzzle; without an ask, the game's usual one.

    Raises PermanentError for an ask, rules or words that the game does not have.
    """
    wanted = ask or game_plug(game).usual_ask
    check_ask(wanted, game)
    puzzle, bound = rules.bind(game, puzzle, wanted, clue, words)
    question = question_of(bound, wanted)
    return Asked(
        puzzle=puzzle,
        bound=bound,
        question=question,
        puzzle_id=bound.puzzle_id(puzzle),
        job_id=question.job_id(bound.subject(puzzle)),
    )
