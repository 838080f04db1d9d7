"""Bound the visits that a Tiles board needs with OR-Tools CP-SAT, as a user would model it.

The tiles of each feature are paired; two tiles that are a pair of anything are an edge; a tile with
d edges is visited at least half as often, rounded up. Order does not matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

from ortools.sat.python import cp_model


def fewest_visits(tiles: Sequence[Sequence[str]], seconds: float = 20.0) -> int:
    """Compute the fewest visits of any pairing. The board has to be solvable."""
    model = cp_model.CpModel()
    holders: dict[str, list[int]] = defaultdict(list)
    for t, tile in enumerate(tiles):
        for feature in tile:
            holders[feature].append(t)
    edges: dict[tuple[int, int], cp_model.IntVar] = {}
    pairs: dict[tuple[int, str], list[cp_model.IntVar]] = defaultdict(list)
    for feature, of in holders.items():
        for a, b in combinations(of, 2):
            edge = edges.setdefault((a, b), model.new_bool_var(f"{a}-{b}"))
            pair = model.new_bool_var(f"{feature}:{a}-{b}")
            model.add_implication(pair, edge)
            pairs[a, feature].append(pair)
            pairs[b, feature].append(pair)
    for choices in pairs.values():
        model.add_exactly_one(choices)
    visits = []
    for t, tile in enumerate(tiles):
        if tile:
            visit = model.new_int_var(1, len(tile), f"visits {t}")
            model.add(2 * visit >= sum(edge for ends, edge in edges.items() if t in ends))
            visits.append(visit)
    model.minimize(sum(visits))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    if status != cp_model.OPTIMAL:
        raise TimeoutError(f"no optimum within {seconds} seconds")
    return round(solver.objective_value)
