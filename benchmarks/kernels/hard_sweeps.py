"""Every small instance of every reduction: the count of the solvers against that of brute force."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from nightgrid.solvers.algebra import Ask, Outcome
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reductions import (
    flow_free_to_strands,
    matching_to_letterboxed,
    not_all_equal_to_letterboxed,
    one_in_three_to_pips,
    one_in_three_to_strands,
    subset_sum_to_pips,
)
from nightgrid.solvers.reductions.problems.choices import SubsetSum
from nightgrid.solvers.reductions.problems.flow_free import FlowFree
from nightgrid.solvers.reductions.problems.formula import (
    Formula,
    assignments,
    exactly_one,
    not_all_equal,
)
from nightgrid.solvers.reductions.problems.planar import PlanarFormula, embed
from tests.oracles import certificates
from tests.oracles.hard_instances import (
    all_flows,
    all_formulas,
    all_three_d_matchings,
    matchings,
    subsets,
)

PLANAR_SIZES = ((3, 2), (4, 4), (5, 6), (6, 4))
"""Variables, and the most clauses over them."""
FANO = ((0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 3, 5), (1, 4, 6), (2, 3, 6), (2, 4, 5))
"""The lines of the Fano plane: no two colours leave every line with both."""


def _planar(largest: Iterable[tuple[int, int]]) -> Callable[[], Iterator[PlanarFormula]]:
    def list_them() -> Iterator[PlanarFormula]:
        for variables, most in largest:
            for clauses in range(1, most + 1):
                for formula in all_formulas(variables, clauses):
                    try:
                        yield embed(formula)
                    except PermanentError:
                        continue

    return list_them


def _once(reduced: object, model: object) -> int:
    del reduced, model
    return 1


def _same(outcome: Outcome[Any], count: int, what: object) -> bool:
    if outcome.count != count:
        raise AssertionError(
            f"{what}: counted {outcome.count}, expected {count} ({outcome.reason})"
        )
    return count > 0


def _compare_planar(
    reduce: Callable[..., Any],
    solution_of: Callable[..., Any],
    times: Callable[..., int],
    **how: bool,
) -> Callable[[PlanarFormula], bool]:
    def compare(instance: PlanarFormula) -> bool:
        models = list(assignments(instance.formula, exactly_one))
        reduced = reduce(instance, **how)
        game = reduced.bind()
        outcome = game.solve(reduced.puzzle, Ask(kind="count"))
        for solution in game.solve(reduced.puzzle, Ask(kind="first")).solutions:
            assert solution_of(reduced, solution) in models
        return _same(outcome, sum(times(reduced, model) for model in models), instance)

    return compare


def _formulas() -> Iterator[Formula]:
    for variables, clauses in itertools.product((3, 4, 5), range(1, 5)):
        yield from all_formulas(variables, clauses)
    triples = list(itertools.combinations(range(5), 3))
    for clauses in (8, 9, 10):
        for chosen in itertools.combinations(triples, clauses):
            yield Formula(variables=5, clauses=chosen)
    for clauses in (6, 7):
        for chosen in itertools.combinations(FANO, clauses):
            yield Formula(variables=7, clauses=chosen)


def _compare_formula(formula: Formula) -> bool:
    model = next(assignments(formula, not_all_equal), None)
    reduced = not_all_equal_to_letterboxed.reduce(formula)
    outcome = reduced.bind().solve(reduced.puzzle, Ask(kind="first"))
    for chain in outcome.solutions:
        not_all_equal_to_letterboxed.solution_of(reduced, chain)
    return _same(outcome, int(model is not None), formula)


def _compare_matching(instance: Any) -> bool:
    reduced = matching_to_letterboxed.reduce(instance)
    found = list(matchings(instance))
    game = reduced.bind()
    for chain in game.solve(reduced.puzzle, Ask(kind="first")).solutions:
        assert matching_to_letterboxed.solution_of(reduced, chain) in found
    expected = sum(certificates.matching_chain_count(reduced, one) for one in found)
    return _same(game.solve(reduced.puzzle, Ask(kind="count")), expected, instance)


def _compare_sum(instance: SubsetSum) -> bool:
    reduced = subset_sum_to_pips.reduce(instance)
    found = list(subsets(instance))
    game = reduced.bind()
    for solution in game.solve(reduced.puzzle, Ask(kind="first")).solutions:
        assert subset_sum_to_pips.solution_of(reduced, solution) in found
    expected = sum(certificates.subset_arrangement_count(reduced, one) for one in found)
    return _same(game.solve(reduced.puzzle, Ask(kind="count")), expected, instance)


def _sums() -> Iterator[SubsetSum]:
    for count in range(1, 6):
        for numbers in itertools.combinations_with_replacement(range(1, 6), count):
            for target in range(sum(numbers) + 2):
                yield SubsetSum(numbers=numbers, target=target)


def _grids() -> Iterator[FlowFree]:
    for rows, columns, most in ((2, 2, 2), (2, 3, 3), (3, 3, 3), (3, 4, 2)):
        cells = list(itertools.product(range(rows), range(columns)))
        for colours in range(1, most + 1):
            for chosen in itertools.combinations(cells, 2 * colours):
                for pairs in _pairings(chosen):
                    grid = [["."] * columns for _ in range(rows)]
                    for colour, pair in zip("QRS", pairs, strict=False):
                        for r, c in pair:
                            grid[r][c] = colour
                    yield FlowFree(rows=tuple("".join(row) for row in grid))


def _pairings(rest: tuple[Any, ...]) -> Iterator[list[tuple[Any, Any]]]:
    if not rest:
        yield []
    for i in range(1, len(rest)):
        for more in _pairings(rest[1:i] + rest[i + 1 :]):
            yield [(rest[0], rest[i]), *more]


def _compare_grid(instance: FlowFree) -> bool:
    reduced = flow_free_to_strands.reduce(instance)
    divisions = {frozenset(map(frozenset, paths)) for paths in all_flows(instance)}
    outcome = reduced.bind().solve(reduced.puzzle, Ask(kind="all"))
    for cover in outcome.solutions:
        flow_free_to_strands.solution_of(reduced, cover)
    return _same(outcome, len(divisions), instance.rows)


SWEEPS: tuple[tuple[str, Callable[[], Iterable[Any]], Callable[[Any], bool]], ...] = (
    (
        "formulas, to Letter Boxed: up to 4 clauses, all sets of 8 or more over 5, Fano plane",
        _formulas,
        _compare_formula,
    ),
    (
        "3D matching, to Letter Boxed: all triples over 1 and 2 elements, all three over 3",
        lambda: itertools.chain(
            all_three_d_matchings(1, 1),
            *(all_three_d_matchings(2, k) for k in range(1, 9)),
            all_three_d_matchings(3, 3),
        ),
        _compare_matching,
    ),
    (
        "planar formulas, to Pips: up to 6 clauses over 5 variables, 4 over 6",
        _planar(PLANAR_SIZES),
        _compare_planar(
            one_in_three_to_pips.reduce,
            one_in_three_to_pips.solution_of,
            certificates.model_arrangement_count,
        ),
    ),
    (
        "the same, to Pips in one piece",
        _planar(PLANAR_SIZES),
        _compare_planar(
            one_in_three_to_pips.reduce,
            one_in_three_to_pips.solution_of,
            certificates.model_arrangement_count,
            connected=True,
        ),
    ),
    ("subset sums, to Pips: up to 5 numbers up to 5, every target", _sums, _compare_sum),
    (
        "planar formulas, to Strands",
        _planar(PLANAR_SIZES),
        _compare_planar(
            one_in_three_to_strands.reduce,
            one_in_three_to_strands.solution_of,
            _once,
        ),
    ),
    (
        "the same, to Strands without diagonals",
        _planar(PLANAR_SIZES),
        _compare_planar(
            one_in_three_to_strands.reduce,
            one_in_three_to_strands.solution_of,
            _once,
            diagonal=False,
        ),
    ),
    ("Flow Free, to Strands: all grids up to 3 x 3, 3 x 4 with 2 colours", _grids, _compare_grid),
)
"""What is compared, the instances, and what compares one and tells whether it is solvable."""
