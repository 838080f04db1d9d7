"""Letter Boxed by OR-Tools CP-SAT: the fewest words or letters of chains of a few words."""

from __future__ import annotations

from collections import Counter
from typing import Any

from nightgrid.solvers.letterboxed.puzzle import Puzzle

SECONDS_MAX = 20.0


def fewest(puzzle: Puzzle, words_max: int, *, letters: bool) -> int | None:
    """Find the fewest words (or letters) of a chain of at most `words_max` words, or None."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    sides = range(len(puzzle.sides))
    words = puzzle.dictionary or ()
    collected: dict[tuple[int, str], list[Any]] = {}
    costs = []
    before: list[Any] = []
    ends: dict[tuple[str, int], list[Any]] = {}
    for turn in range(words_max):
        begins_at: dict[tuple[str, int], list[Any]] = {}
        ends_at: dict[tuple[str, int], list[Any]] = {}
        chosen = []
        for word in words:
            played = model.new_bool_var("")
            chosen.append(played)
            costs.append(played * ((len(word) - (turn > 0)) if letters else 1))
            last: dict[int, Any] = {}
            for place, letter in enumerate(word):
                at = {s: model.new_bool_var("") for s in sides if letter in puzzle.sides[s]}
                model.add(sum(at.values()) == played)
                for s in at.keys() & last.keys():
                    model.add(at[s] + last[s] <= 1)
                for s, here in at.items():
                    if place == 0:
                        begins_at.setdefault((letter, s), []).append(here)
                    if place or not turn:
                        collected.setdefault((s, letter), []).append(here)
                    if place == len(word) - 1:
                        ends_at.setdefault((letter, s), []).append(here)
                last = at
        model.add(sum(chosen) <= 1)
        if turn:
            model.add(sum(chosen) <= sum(before))
            for spot, starts in begins_at.items():
                model.add(sum(starts) <= sum(ends.get(spot, [])))
        before, ends = chosen, ends_at
    for s in sides:
        for letter, times in Counter(puzzle.sides[s]).items():
            model.add(sum(collected.get((s, letter), [])) >= times)
    model.minimize(sum(costs))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = SECONDS_MAX
    status = solver.solve(model)
    assert status in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
    return round(solver.objective_value) if status == cp_model.OPTIMAL else None
