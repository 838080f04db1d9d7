"""The result of a reduction: a puzzle with its rules and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.registry import game

I = TypeVar("I")  # noqa: E741 - an instance of the problem that is reduced
P = TypeVar("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduced(Generic[I, P]):
    """A puzzle that is solvable if and only if its instance is."""

    game: str
    instance: I
    puzzle: P
    rules: str = ""
    """Its rules, in their one-line form; "" for a game without."""
    words: tuple[str, ...] = ()
    """Its words, unless the puzzle has its own."""

    def bind(self) -> Game[Any, Any]:
        """Look the game up, bound to the rules and to the words.

        Raises PermanentError for words with more than 64 different letters.
        """
        from nightgrid.solvers.lexicon.compile import compile_lexicon

        lexicon = compile_lexicon((word, 0) for word in self.words) if self.words else None
        return game(self.game, self.rules, lexicon)
