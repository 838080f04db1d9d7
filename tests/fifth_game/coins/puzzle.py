"""A purse and a total, validated on construction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nightgrid.solvers.canonical import canonical_json, digest
from nightgrid.solvers.errors import InvalidPuzzleError

COINS_MAX = 24
VALUE_MAX = 2**20

Choice = tuple[int, ...]
"""A solution: the places of the coins that are taken, from 0, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """Coins in order, and the total that some of them have to make."""

    coins: tuple[int, ...]
    total: int

    def __post_init__(self) -> None:
        if not 1 <= len(self.coins) <= COINS_MAX:
            raise InvalidPuzzleError("coin-count", "coins", f"expected 1 to {COINS_MAX} coins")
        for i, coin in enumerate(self.coins):
            if type(coin) is not int or not 1 <= coin <= VALUE_MAX:
                raise InvalidPuzzleError("coin", f"coins[{i}]", f"expected 1 to {VALUE_MAX:,}")
        if type(self.total) is not int or not 1 <= self.total <= sum(self.coins):
            raise InvalidPuzzleError("total", "total", f"expected 1 to {sum(self.coins):,}")

    @classmethod
    def from_json(cls, value: Any) -> Puzzle:
        if not isinstance(value, dict) or not isinstance(value.get("coins"), list):
            raise InvalidPuzzleError("no-puzzle", "", "expected an object with coins and total")
        return cls(coins=tuple(value["coins"]), total=value.get("total", 0))

    def to_json(self) -> dict[str, Any]:
        return {"coins": list(self.coins), "total": self.total}

    @property
    def puzzle_id(self) -> str:
        return digest("coins", canonical_json(self.to_json()))


def check_choice(puzzle: Puzzle, choice: Choice, most: int) -> bool:
    places = all(0 <= i < len(puzzle.coins) for i in choice) and sorted(set(choice)) == [*choice]
    return places and len(choice) <= most and sum(puzzle.coins[i] for i in choice) == puzzle.total
