"""Coins under the contract of nightgrid.solvers.algebra: ask, split, solve, merge.

A part is a list of choices for the first coins: [true, false] takes the first and not the second.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nightgrid.solvers.algebra import Arrays, Ask, Budget, Outcome, SolutionStream, Statistics
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.kernel.codes import OUT_OF_NODES, OUT_OF_SECONDS
from nightgrid.solvers.reasons import BudgetSpentError, Reason, ReasonCode

from .puzzle import Choice, Puzzle

ALL = Ask(kind="all")
CLOCK_STRIDE = 1024
"""Nodes between two clock checks."""


class CoinsGame(Game[Puzzle, Choice]):
    name = "coins"
    solver_version = "coins-1"
    reasons = (None, *(Reason(code=code) for code in (ReasonCode.NODES, ReasonCode.SECONDS)))
    counts = ("count",)
    parts_in_order = True
    puzzle_from_json = staticmethod(Puzzle.from_json)

    def solution_to_json(self, solution: Choice) -> list[int]:
        return list(solution)

    def solution_from_json(self, value: Any) -> Choice:
        return tuple(value)

    def split(self, puzzle: Puzzle, ask: Ask, part: Any, into: int) -> list[Any]:
        parts = [list(part or [])]
        while len(parts) < into and len(parts[0]) < len(puzzle.coins):
            parts = [[*part, taken] for part in parts for taken in (True, False)]
        return parts

    def solve_counted(self, puzzle: Puzzle, ask: Ask, part: Any, budget: Budget) -> Outcome[Choice]:
        stream = self.stream(puzzle, ALL, part, budget)
        count = sum(1 for _ in stream)
        return Outcome(
            status=stream.status,
            count=None if stream.reason_code is not None else count,
            statistics=stream.statistics,
            reason_code=stream.reason_code,
        )

    def open_stream(
        self, puzzle: Puzzle, part: Any, budget: Budget, limit: int | None, *, first: bool
    ) -> ChoiceStream:
        return ChoiceStream(puzzle, self.bound_rules.most, part or [], budget, limit, first=first)

    def solution_bytes(self, solution: Choice) -> int:
        return 56 + 8 * len(solution)

    def to_arrays(self, puzzles: Sequence[Puzzle]) -> dict[str, Any]:
        sizes = np.array([len(puzzle.coins) for puzzle in puzzles], np.int32)
        return {
            "coin.values": np.array([coin for p in puzzles for coin in p.coins], np.int32),
            "coin.offsets": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
            "total": np.array([puzzle.total for puzzle in puzzles], np.int64),
            "size": sizes,
        }

    def from_arrays(self, arrays: Arrays, row: int) -> Puzzle:
        start, stop = arrays["coin.offsets"][row : row + 2]
        coins = tuple(arrays["coin.values"][start:stop].tolist())
        return Puzzle(coins=coins, total=int(arrays["total"][row]))

    def cost_s(self, arrays: Arrays, ask: Ask) -> Any:
        return 1e-6 * np.exp2(np.minimum(arrays["size"], 20)).astype(np.float64)

    def warm(self) -> None:
        """Nothing is compiled."""


class ChoiceStream(SolutionStream[Choice]):
    """Solutions one by one, taking each coin before skipping it, until the budget is spent."""

    def __init__(
        self, puzzle: Puzzle, coins_max: int, part: list[bool], budget: Budget, limit: int | None,
        *, first: bool,
    ) -> None:  # fmt: skip
        self.limit, self.first = limit, first
        self._puzzle, self._coins_max, self._part = puzzle, coins_max, part
        self._budget = budget
        self._states = self._nodes = 0
        self._deadline = time.monotonic() + budget.seconds

    @property
    def statistics(self) -> Statistics:
        return Statistics(states=self._states, nodes=self._nodes)

    def found(self) -> Iterator[Choice]:
        for choice in self._choices(0, self._puzzle.total, ()):
            self._states += 1
            yield choice

    def _choices(self, at: int, left: int, taken: Choice) -> Iterator[Choice]:
        self._nodes += 1
        if self._nodes > self._budget.nodes:
            raise BudgetSpentError(OUT_OF_NODES)
        if self._nodes % CLOCK_STRIDE == 0 and time.monotonic() > self._deadline:
            raise BudgetSpentError(OUT_OF_SECONDS)
        coins = self._puzzle.coins
        if at == len(coins):
            if not left:
                yield taken
            return
        for take in (True, False) if at >= len(self._part) else (self._part[at],):
            if not take:
                yield from self._choices(at + 1, left, taken)
            elif coins[at] <= left and len(taken) < self._coins_max:
                yield from self._choices(at + 1, left - coins[at], (*taken, at))
