"""The rules of Letter Boxed that can be switched: which chains count, and their one-line form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nightgrid.solvers.errors import RuleError
from nightgrid.solvers.rule_line import read_rule_line, whole_number

CHAIN_WORDS_MAX = 1_000_000
MIN_LETTERS_MAX = 64

Chains = Literal["fewest-words", "fewest-letters"] | int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What counts as a solution, which is a chain of words that collects every letter."""

    chains: Chains = "fewest-words"
    """`fewest-words`: the chains with as few words as possible. `fewest-letters`: those with as few
    letters as possible, where the letter that two words share counts once (article 000,
    Theorem 7). A number N: every chain of at most N words."""
    min_letters: int = 3
    """Fewest letters of a word."""

    def __post_init__(self) -> None:
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
        if not 1 <= self.min_letters <= MIN_LETTERS_MAX:
            raise RuleError(
                "min_letters", f"is {self.min_letters}; expected 1 to {MIN_LETTERS_MAX}"
            )

    def __str__(self) -> str:
        return f"chains={self.chains} min_letters={self.min_letters}"

    @classmethod
    def parse(cls, text: str) -> Rules:
        """Read rules as `str(rules)` writes them; what is left out has its default.

        Raises PermanentError on an unknown name or value.
        """
        values = read_rule_line(text, ["chains", "min_letters"])
        default = cls()
        chains = values.get("chains", str(default.chains))
        least = whole_number("min_letters", values.get("min_letters", str(default.min_letters)))
        if chains.isdecimal() and len(chains) <= 9:
            return cls(chains=int(chains), min_letters=least)
        return cls(chains=chains, min_letters=least)  # type: ignore[arg-type]
