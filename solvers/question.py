"""A question: everything an answer depends on besides the puzzle.

It identifies jobs, runs and cost models, and is written the same way everywhere: in the files of a
run, in on-demand messages, and as columns of results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.canonical import canonical_json, digest
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question about puzzles of one game."""

    game: str
    """Name of the game."""
    rules: str
    """The rules in normal form, in one line: settings that others make irrelevant have their
    default. "" for a game without switchable rules."""
    lexicon_id: str
    """The id of its lexicon; "" for none, or a board's own words."""
    ask: Ask
    solver_version: str

    def job_id(self, subject: str) -> str:
        """Return the id of the job that asks this about a puzzle, given its `Game.subject`."""
        return digest(subject, *self.job_fields)

    @property
    def job_fields(self) -> tuple[str, ...]:
        """The fields that, with its puzzle, identify a job, in this order."""
        return str(self.ask), self.rules, self.lexicon_id, self.solver_version

    def run_id(self, budget: Budget, jobs: tuple[str, ...]) -> str:
        """Return the id of a run of jobs within a budget; `jobs` identifies their set."""
        limits = canonical_json(budget.limits)
        fields = (self.game, self.rules, self.lexicon_id, str(self.ask), limits)
        # "1" stands for a setting of earlier versions, so that their runs are still found.
        return digest("run", *fields, "1", *jobs)

    def corpus_run_id(self, budget: Budget, corpus_id: str) -> str:
        """Return the id of a run of all jobs of a corpus within a budget."""
        limits = {"nodes": budget.nodes, "bytes": budget.table_bytes, "seconds": budget.seconds}
        return digest("count", corpus_id, *self.job_fields, canonical_json(limits))

    def to_json(self) -> dict[str, str]:
        """Return it as JSON, with the names of the columns of results."""
        return {
            "game": self.game,
            "ask": str(self.ask),
            "rules": self.rules,
            "lexicon_id": self.lexicon_id,
            "solver_version": self.solver_version,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Question:
        """Parse the output of `to_json`, ignoring other keys.

        Rules stay as they are written, since files are named after them: an earlier version may
        have written a line that is not in normal form. Raises PermanentError for a field that is
        missing or not a text.
        """
        for name in QUESTION_FIELDS:
            if not isinstance(value.get(name), str):
                raise PermanentError(f"{name} is {value.get(name)!r:.60}; expected a text")
        fields = {name: value[name] for name in QUESTION_FIELDS}
        return cls(**{**fields, "ask": Ask.parse(fields["ask"])})


def clued_subject(puzzle_id: str, clue: str | None) -> str:
    """Return the subject of a question whose answer also depends on the clue."""
    return digest("clued", puzzle_id, clue) if clue else puzzle_id


QUESTION_FIELDS: tuple[str, ...] = ("game", "ask", "rules", "lexicon_id", "solver_version")
"""Names of the fields in JSON, and of their columns in results."""


def question_of(game: Game[Any, Any], ask: Ask) -> Question:
    """Return a question about a game as it is bound."""
    return Question(
        game=game.name,
        rules=game.rules,
        lexicon_id=game.lexicon_id,
        ask=ask,
        solver_version=game.solver_version,
    )
