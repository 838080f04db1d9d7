"""A solution of Letter Boxed: a sequence of words, each starting where the previous one ended."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.lexicon.lexicon import DOUBT_PER_NAT


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Words that are played one after the other.

    Chains are equal if their words are: if a letter is on several sides, the same words may be
    played in several ways.
    """

    words: tuple[str, ...]
    doubt: int | None = field(default=None, compare=False)
    """Sum of the doubts of its words (see Lexicon); None if unknown."""

    @property
    def probability(self) -> float | None:
        """Probability that a game accepts all words; None if unknown."""
        return None if self.doubt is None else math.exp(-self.doubt / DOUBT_PER_NAT)

    @property
    def letters(self) -> int:
        """Number of letters: the letter that two words share counts once."""
        return sum(map(len, self.words)) - max(0, len(self.words) - 1)

    @property
    def order(self) -> tuple[int, int, int, tuple[str, ...]]:
        """Sort key of the canonical order: fewer words, less doubt, fewer letters, the alphabet."""
        return len(self.words), self.doubt or 0, self.letters, self.words


def chain_to_json(chain: Chain) -> dict[str, Any]:
    """Return a chain as a JSON value, with its probability if known."""
    value = {"words": list(chain.words), "letters": chain.letters}
    if chain.probability is not None:
        # Six digits, enough to restore the doubt.
        value["probability"] = float(f"{chain.probability:.6g}")
    return value


def chain_from_json(value: Any) -> Chain:
    """Parse a chain as returned by `chain_to_json`.

    Raises PermanentError for anything else.
    """
    words = value.get("words") if isinstance(value, dict) else None
    if not isinstance(words, list) or not words or not all(isinstance(w, str) and w for w in words):
        raise PermanentError("expected a chain: an object with `words`, a list of words")
    probability = value.get("probability")
    if probability is None:
        return Chain(words=tuple(words))
    if not isinstance(probability, float | int) or not 0 < probability <= 1:
        raise PermanentError("expected the probability of a chain: above 0, at most 1")
    return Chain(words=tuple(words), doubt=round(-DOUBT_PER_NAT * math.log(probability)))
