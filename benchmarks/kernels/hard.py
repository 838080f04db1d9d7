"""See how far the solvers get with boards made of hard problems: `python -m
benchmarks.kernels.hard`.

Instances that can be solved, of growing size, one seed each; the first that takes longer than the
limit is the last of its kind. With `--exhaustive` every small instance is compared with
brute force instead.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.solvers.algebra import Ask, Budget, Outcome, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reductions import (
    flow_free_to_strands,
    matching_to_letterboxed,
    not_all_equal_to_letterboxed,
    one_in_three_to_pips,
    one_in_three_to_strands,
    subset_sum_to_pips,
)
from nightgrid.solvers.reductions.catalogue import Made, make, reduction
from nightgrid.solvers.reductions.problems.choices import SubsetSum
from nightgrid.solvers.reductions.problems.flow_free import FlowFree
from nightgrid.solvers.reductions.problems.formula import (
    Formula,
    assignments,
    exactly_one,
    not_all_equal,
)
from nightgrid.solvers.reductions.problems.planar import PlanarFormula, embed
from nightgrid.solvers.reductions.reduced import Reduced
from tests.oracles import certificates
from tests.oracles.hard_instances import (
    all_flows,
    all_formulas,
    all_three_d_matchings,
    matchings,
    subsets,
)

SECONDS = 60.0
SEED = 1
TABLE_BYTES = 2 * 1024**3
WARMING = 3
"""Boards of each kind that are solved once before they are measured."""
_FORMULAS = (1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 64, 80, 96, 128, 192, 256, 384, 512)
_GROWING: tuple[tuple[str, dict[str, Any], tuple[int, ...]], ...] = (
    ("nae-letterboxed", {}, _FORMULAS[2:]),
    ("matching-letterboxed", {}, tuple(range(2, 41))),
    ("matching-letterboxed", {"sides": 6}, tuple(range(2, 21))),
    ("planar-pips", {}, _FORMULAS),
    ("planar-pips", {"connected": True}, _FORMULAS),
    ("sum-pips", {}, tuple(range(4, 101, 4))),
    ("planar-strands", {}, _FORMULAS),
    ("planar-strands", {"diagonal": False}, _FORMULAS),
    ("planar-strands", {"blocks_size": 3}, _FORMULAS),
    ("flow-strands", {}, tuple(range(2, 21))),
)
PLANAR_SIZES = ((3, 2), (4, 4), (5, 6), (6, 4))
"""Variables, and the most clauses over them."""
FANO = ((0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 3, 5), (1, 4, 6), (2, 3, 6), (2, 4, 5))
"""The lines of the Fano plane: no two colours leave every line with both."""
_VARIANTS = {
    "sides": "{} sides",
    "connected": "connected",
    "diagonal": "no diagonals",
    "blocks_size": "blocks of {0} x {0}",
}


def _measure(options: argparse.Namespace) -> None:
    section = Section(
        name="hard",
        title=f"Boards made of hard problems, at most {options.seconds:g} s each, one core",
        command=options.command,
    )
    rows: list[tuple[object, ...]] = []
    for name, variant, sizes in _GROWING:
        if options.only and name not in options.only:
            continue
        for row, go_on in _grow(name, variant, sizes, options):
            rows.append(row)
            print(*row, sep="  ", file=sys.stderr, flush=True)
            if not go_on:
                break
    section.table(
        ("reduction", "size", "board", "status", "s", "states", "engine"),
        rows,
    )
    section.say(
        f"One planted instance of each size (seed {SEED}), asked for a solution (`first`); time is "
        f"that of the call, kernels compiled before. Sizes count clauses, elements of a set, "
        f"numbers, or rows and columns. Every answer is mapped back and checked against its "
        f"instance, outside the time. The last row of each kind is the first that took longer "
        f"than the limit, or has no room on a board."
    )
    finish(section, to_results=options.write)


def _grow(
    name: str, variant: dict[str, Any], sizes: Iterable[int], options: argparse.Namespace
) -> Iterator[tuple[tuple[object, ...], bool]]:
    """Solve boards of growing size; give a row for each, and whether to go on."""
    of = reduction(name)
    said = ", ".join(_VARIANTS[key].format(value) for key, value in variant.items())
    label = f"{name} ({said})" if said else name
    for i, size in enumerate(sizes):
        try:
            made = make(of, of.problem.random(size, SEED, True), **variant)
            game = made.reduced.bind()
        except PermanentError as error:
            yield (label, size, "", f"refused: {error}", "", "", ""), False
            return
        if i < WARMING:
            # Whatever compiles for boards of this kind does so now.
            game.solve(made.reduced.puzzle, Ask(kind="first"))
        started = time.perf_counter()
        outcome = game.solve(
            made.reduced.puzzle,
            Ask(kind="first"),
            None,
            Budget(nodes=10**15, table_bytes=TABLE_BYTES, seconds=options.seconds),
        )
        taken = time.perf_counter() - started
        status = _status(made, outcome)
        row = (
            label,
            size,
            _board(made.reduced),
            status,
            f"{taken:,.3f}",
            f"{outcome.statistics.states:,}",
            outcome.statistics.engine or "",
        )
        yield row, outcome.status is Status.SOLVED and taken < options.seconds


def _status(made: Made, outcome: Outcome[Any]) -> str:
    if outcome.status is not Status.SOLVED:
        return f"{outcome.status}: {outcome.reason}"
    try:
        made.solution_of(outcome.solutions[0])
    except PermanentError as error:
        return f"solved, not mapped back: {error}"
    return str(outcome.status)


def _board(reduced: Reduced[Any, Any]) -> str:
    puzzle = reduced.puzzle
    if reduced.game == "strands":
        return f"{puzzle.row_count} x {puzzle.column_count} cells"
    if reduced.game == "pips":
        return f"{len(puzzle.cells):,} cells"
    longest = max(map(len, puzzle.dictionary))
    return f"{len(puzzle.sides)} sides, {puzzle.letter_count:,} letters, words to {longest:,}"


def _exhaustive(options: argparse.Namespace) -> None:
    section = Section(
        name="hard-exhaustive",
        title="Every small instance of every reduction against brute force",
        command=options.command,
    )
    rows = []
    for name, instances, compare in _SWEEPS:
        started = time.perf_counter()
        seen = Counter[bool]()
        for instance in instances():
            seen[compare(instance)] += 1
        taken = time.perf_counter() - started
        rows.append(
            (name, f"{seen.total():,}", f"{seen[True]:,}", f"{seen[False]:,}", f"{taken:,.1f}")
        )
        print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    section.table(("instances", "all", "solvable", "unsolvable", "s"), rows)
    section.say(
        "The solver's count is the number of brute force's answers, each as often as the "
        "construction says, on every one; a solution of the board, mapped back, is one of them. "
        "Formulas are taken once for all names of their variables; those without a rectilinear "
        "embedding are left out where one is needed."
    )
    finish(section, to_results=options.write)


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


_SWEEPS: tuple[tuple[str, Callable[[], Iterable[Any]], Callable[[Any], bool]], ...] = (
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


def main() -> None:
    """Measure, or compare, as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels.hard", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="most for one board")
    parser.add_argument("--only", nargs="+", metavar="REDUCTION", help="only these reductions")
    parser.add_argument(
        "--exhaustive", action="store_true", help="compare all small instances with brute force"
    )
    add_write(parser)
    options = parser.parse_args()
    options.command = command_line("kernels.hard")
    (_exhaustive if options.exhaustive else _measure)(options)


if __name__ == "__main__":
    main()
