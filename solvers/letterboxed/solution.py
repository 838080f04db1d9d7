"""A solution of Letter Boxed: a sequence of words, each beginning where the one before ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nightgrid.solvers.errors import PermanentError


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Words that are played one after the other.

    Chains are told apart by their words alone: a board that has a letter on several sides may let
    the same words be played in several ways.
    """

    words: tuple[str, ...]

    @property
    def letters(self) -> int:
        """Letters played: the letter that two words share counts once."""
        return sum(map(len, self.words)) - max(0, len(self.words) - 1)

    @property
    def order(self) -> tuple[int, int, tuple[str, ...]]:
        """Sort key of the canonical order: fewer words, then fewer letters, then the alphabet."""
        return len(self.words), self.letters, self.words


def chain_to_json(chain: Chain) -> dict[str, Any]:
    """Write a chain as a JSON value."""
    return {"words": list(chain.words), "letters": chain.letters}


def chain_from_json(value: Any) -> Chain:
    """Read a chain as `chain_to_json` writes it.

    Raises PermanentError for anything else.
    """
    words = value.get("words") if isinstance(value, dict) else None
    if not isinstance(words, list) or not words or not all(isinstance(w, str) and w for w in words):
        raise PermanentError("expected a chain: an object with `words`, a list of words")
    return Chain(words=tuple(words))
