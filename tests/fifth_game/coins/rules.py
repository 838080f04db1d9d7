"""The rule of Coins that can be switched, and its one-line form."""

from __future__ import annotations

from dataclasses import dataclass

from nightgrid.solvers.errors import RuleError
from nightgrid.solvers.rule_line import read_rule_line, whole_number

from .puzzle import COINS_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    most: int = COINS_MAX
    """Most coins that may be taken."""

    def __post_init__(self) -> None:
        if not 1 <= self.most <= COINS_MAX:
            raise RuleError("most", f"is {self.most}; expected 1 to {COINS_MAX}")

    def __str__(self) -> str:
        return f"most={self.most}"

    @classmethod
    def parse(cls, text: str) -> Rules:
        values = read_rule_line(text, ["most"])
        return cls(**{name: whole_number(name, value) for name, value in values.items()})
