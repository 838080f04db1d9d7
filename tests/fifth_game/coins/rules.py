"""The switchable rule of Coins, and its one-line form."""

from __future__ import annotations

from dataclasses import dataclass

from nightgrid.solvers.rule_line import RuleLine

from .puzzle import COINS_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules(RuleLine):
    most: int = COINS_MAX
    """Most coins that may be taken."""

    def __post_init__(self) -> None:
        self.check_number("most", 1, COINS_MAX)
