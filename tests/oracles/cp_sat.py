"""Count the solutions of a Pips board with OR-Tools CP-SAT, as a user would model it.

One Boolean for each (tile, domino type, direction). Equal dominoes are one type with a supply, so
every arrangement is one assignment; all other variables are functions of these Booleans, so that
enumerating assignments enumerates solutions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ortools.sat.python import cp_model

Cell = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Enumeration:
    """The result of CP-SAT: `complete` is False if the time or solution limit ended it."""

    count: int
    complete: bool
    wall_s: float


class _Counter(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
    def __init__(self, limit: int | None) -> None:
        super().__init__()
        self.count = 0
        self.limit = limit

    def on_solution_callback(self) -> None:
        self.count += 1
        if self.limit is not None and self.count >= self.limit:
            self.stop_search()


def build_model(board: Mapping[str, Any]) -> cp_model.CpModel:
    """Model a board given in the payload's form."""
    model = cp_model.CpModel()
    cells = {(c[0], c[1]) for region in board["regions"] for c in region["indices"]}
    supply = Counter((min(d), max(d)) for d in board["dominoes"])
    covers: dict[Cell, list[cp_model.IntVar]] = defaultdict(list)
    shows: dict[tuple[Cell, int], list[cp_model.IntVar]] = defaultdict(list)
    uses: dict[tuple[int, int], list[cp_model.IntVar]] = defaultdict(list)
    for row, column in sorted(cells):
        for other in ((row, column + 1), (row + 1, column)):
            if other not in cells:
                continue
            for low, high in sorted(supply):
                for pip_a, pip_b in {(low, high), (high, low)}:
                    placed = model.new_bool_var(f"{row},{column}-{other}:{pip_a}|{pip_b}")
                    uses[low, high].append(placed)
                    for cell, pip in (((row, column), pip_a), (other, pip_b)):
                        covers[cell].append(placed)
                        shows[cell, pip].append(placed)
    for cell in cells:
        model.add(sum(covers[cell]) == 1)
    for domino, copies in supply.items():
        model.add(sum(uses[domino]) == copies)
    all_pips = sorted({pip for domino in supply for pip in domino})
    for number, region in enumerate(board["regions"]):
        inside = [(c[0], c[1]) for c in region["indices"]]
        total = sum(pip * sum(shows[cell, pip]) for cell in inside for pip in all_pips)
        match region["type"]:
            case "sum":
                model.add(total == region["target"])
            case "less":
                model.add(total < region["target"])
            case "greater":
                model.add(total > region["target"])
            case "unequal":
                for pip in all_pips:
                    model.add(sum(sum(shows[cell, pip]) for cell in inside) <= 1)
            case "equals":
                chosen = [model.new_bool_var(f"region {number} shows {pip}") for pip in all_pips]
                model.add_exactly_one(chosen)
                for pip, is_pip in zip(all_pips, chosen, strict=True):
                    for cell in inside:
                        model.add(sum(shows[cell, pip]) == is_pip)
    return model


def count_solutions(
    board: Mapping[str, Any], *, limit: int | None = None, time_limit_s: float | None = None
) -> Enumeration:
    """Enumerate every solution on one thread, up to a limit in number or seconds."""
    model = build_model(board)
    solver = cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1
    if time_limit_s is not None:
        solver.parameters.max_time_in_seconds = time_limit_s
    counter = _Counter(limit)
    status = solver.solve(model, counter)
    complete = status in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
    return Enumeration(count=counter.count, complete=complete, wall_s=solver.wall_time)
