"""What a reduction makes: a puzzle with the rules and words to play it by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.registry import game

I = TypeVar("I")  # noqa: E741 - an instance of the problem that is reduced
P = TypeVar("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduced(Generic[I, P]):
    """A puzzle that can be solved if and only if its instance can."""

    game: str
    instance: I
    puzzle: P
    rules: str = ""
    """The rules to play it by, in their one-line form; "" for a game without."""
    words: tuple[str, ...] = ()
    """The words to play it with, where the puzzle does not bring its own."""

    def bind(self) -> Game[Any, Any]:
        """Look the game up, bound to the rules and to the words.

        Raises PermanentError for words that make no lexicon: more than 64 different letters.
        """
        from nightgrid.solvers.lexicon.compile import compile_lexicon

        lexicon = compile_lexicon((word, 0) for word in self.words) if self.words else None
        return game(self.game, self.rules, lexicon)
