"""The switchable rules of Letter Boxed, and their one-line form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nightgrid.solvers.errors import RuleError
from nightgrid.solvers.rule_line import RuleLine

CHAIN_WORDS_MAX = 1_000_000
MIN_LETTERS_MAX = 64

Chains = Literal["fewest-words", "fewest-letters"] | int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules(RuleLine):
    """Which of the chains that collect every letter are solutions."""

    chains: Chains = "fewest-words"
    """`fewest-words`: the chains with as few words as possible. `fewest-letters`: those with as few
    letters as possible, where the letter that two words share counts once (article 000,
    Theorem 7). A number N: every chain of at most N words."""
    min_letters: int = 3
    """Fewest letters of a word."""

    def __post_init__(self) -> None:
        if isinstance(self.chains, str) and self.chains.isdecimal() and len(self.chains) <= 9:
            object.__setattr__(self, "chains", int(self.chains))
        if isinstance(self.chains, int):
            if not 1 <= self.chains <= CHAIN_WORDS_MAX:
                raise RuleError(
                    "chains",
                    f"is {self.chains}; expected 1 to {CHAIN_WORDS_MAX} words, fewest-words or"
                    " fewest-letters",
                )
        elif self.chains not in ("fewest-words", "fewest-letters"):
            raise RuleError(
                "chains",
                f"is {self.chains!r}; expected fewest-words, fewest-letters or the most words that"
                " a chain may have",
            )
        self.check_number("min_letters", 1, MIN_LETTERS_MAX)
