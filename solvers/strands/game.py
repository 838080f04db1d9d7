"""Strands behind the contract of solvers.algebra: ask, split, solve, merge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.algebra import Arrays, Ask, Budget, Outcome, SolutionStream
from solvers.lexicon.lexicon import Lexicon
from solvers.strands.columns import from_arrays, to_arrays
from solvers.strands.cover import Cover, cover_from_json, cover_to_json
from solvers.strands.puzzle import Puzzle
from solvers.strands.rules import Rules

Part = dict[str, Any]


class StrandsGame:
    """The room of Strands: see solvers.algebra.Game."""

    name = "strands"
    solver_version = "strands-1"
    reasons: tuple[str, ...] = ("",)

    def __init__(self, rules: Rules, lexicon: Lexicon | None) -> None:
        self.bound_rules = rules
        self.lexicon = lexicon
        self.rules = str(rules)
        self.lexicon_id = "" if lexicon is None else lexicon.lexicon_id

    def puzzle_from_json(self, value: object) -> Puzzle:
        """Validate a JSON value into a puzzle, or raise InvalidPuzzleError."""
        return Puzzle.from_json(value)

    def puzzle_to_json(self, puzzle: Puzzle) -> dict[str, Any]:
        """Write a puzzle in its canonical form."""
        return puzzle.to_json()

    def puzzle_id(self, puzzle: Puzzle) -> str:
        """Hash the canonical form."""
        return puzzle.puzzle_id

    def solution_to_json(self, solution: Cover) -> dict[str, Any]:
        """Write a cover as a JSON value."""
        return cover_to_json(solution)

    def solution_from_json(self, value: Any) -> Cover:
        """Read a cover as `solution_to_json` writes it."""
        return cover_from_json(value)

    def to_arrays(self, puzzles: Sequence[Puzzle]) -> dict[str, npt.NDArray[Any]]:
        """Lay puzzles out column-wise, as the puzzles table of the lake stores them."""
        return to_arrays(puzzles)

    def from_arrays(self, arrays: Arrays, row: int) -> Puzzle:
        """Rebuild the puzzle of one row."""
        return from_arrays(arrays, row)

    def split(self, puzzle: Puzzle, ask: Ask, part: Part | None, into: int) -> list[Part]:
        """Divide a job or a part by spangrams, and a spangram by its first pieces."""
        raise NotImplementedError

    def solve(
        self, puzzle: Puzzle, ask: Ask, part: Part | None = None, budget: Budget | None = None
    ) -> Outcome[Cover]:
        """Answer the ask for the whole puzzle or one part of it."""
        raise NotImplementedError

    def stream(
        self, puzzle: Puzzle, ask: Ask, part: Part | None = None, budget: Budget | None = None
    ) -> SolutionStream[Cover]:
        """Answer `first` or `all(limit)` one solution at a time."""
        raise NotImplementedError

    def merge(self, puzzle: Puzzle, ask: Ask, outcomes: Sequence[Outcome[Cover]]) -> Outcome[Cover]:
        """Combine the outcomes of all parts into what solving whole would have given."""
        raise NotImplementedError

    def solve_batch(self, arrays: Arrays, ask: Ask, budget: Budget) -> dict[str, npt.NDArray[Any]]:
        """Count every row."""
        raise NotImplementedError

    def cost_s(self, arrays: Arrays, ask: Ask) -> npt.NDArray[np.float64]:
        """Estimate the seconds that each row will take one core, for planning."""
        return np.full(len(arrays["size"]), 0.3)

    def warm(self) -> None:
        """Compile or load every kernel, so that the first solve pays for nothing."""
        raise NotImplementedError
