"""The switchable rules of Tiles, and their one-line form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nightgrid.solvers.rule_line import RuleLine

Teleports = Literal["yes", "forced", "no"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules(RuleLine):
    """Which walks count as a solution."""

    teleports: Teleports = "yes"
    """`yes`: the player may move to a tile that shares nothing with the previous one at any time;
    that is the game itself. `forced`: only from a tile on which nothing is left, so that the whole
    board is one unbroken combo. `no`: never (article 000, Theorem 24)."""

    def __post_init__(self) -> None:
        self.check_word("teleports", "yes", "forced", "no")
