"""The rules of Tiles that can be switched, and their one-line form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nightgrid.solvers.errors import RuleError
from nightgrid.solvers.rule_line import read_rule_line

Teleports = Literal["yes", "forced", "no"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Which walks count as a solution."""

    teleports: Teleports = "yes"
    """`yes`: the player may move to a tile that shares nothing with the previous one at any time;
    that is the game itself. `forced`: only from a tile on which nothing is left, so that the whole
    board is one unbroken combo. `no`: never (article 000, Theorem 24)."""

    def __post_init__(self) -> None:
        if self.teleports not in ("yes", "forced", "no"):
            raise RuleError("teleports", f"is {self.teleports!r}; expected yes, forced or no")

    def __str__(self) -> str:
        return f"teleports={self.teleports}"

    @classmethod
    def parse(cls, text: str) -> Rules:
        """Read rules as `str(rules)` writes them; what is left out has its default.

        Raises PermanentError on an unknown name or value.
        """
        values = read_rule_line(text, ["teleports"])
        return cls(**values)  # type: ignore[arg-type]
