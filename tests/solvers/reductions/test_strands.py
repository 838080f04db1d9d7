"""Reductions to Strands: solvable if and only if the instance is, counted and mapped back."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from nightgrid.solvers.algebra import Ask, Status
from nightgrid.solvers.reductions import blocks, flow_free_to_strands, one_in_three_to_strands
from nightgrid.solvers.reductions.problems.flow_free import FlowFree, check_flows, random_flow_free
from nightgrid.solvers.reductions.problems.formula import Formula, assignments, exactly_one
from nightgrid.solvers.reductions.problems.planar import PlanarFormula, random_planar_formula
from nightgrid.solvers.reductions.reduced import Reduced
from nightgrid.solvers.strands.check import check_cover
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from tests.oracles import certificates
from tests.oracles.exact_cover import exact_covers
from tests.oracles.hard_instances import all_flows, planar_formulas

ONE_CLAUSE = PlanarFormula(
    formula=Formula(variables=3, clauses=((0, 1, 2),)), order=(0, 1, 2), above=(True,)
)


SMALL_SIZES = ((3, 1), (3, 2), (4, 2), (4, 3), (4, 4), (5, 2))
"""The smallest formula without a model has 4 clauses."""


def models(instance: PlanarFormula) -> set[tuple[bool, ...]]:
    return set(assignments(instance.formula, exactly_one))


@pytest.mark.parametrize("diagonal", [True, False])
def test_covers_and_models_correspond_on_every_small_formula(diagonal: bool) -> None:
    seen = {True: 0, False: 0}
    for instance in planar_formulas(*SMALL_SIZES):
        reduced = one_in_three_to_strands.reduce(instance, diagonal=diagonal)
        covers = set(exact_covers(reduced.puzzle, reduced.words, diagonal=diagonal))
        laid = {}
        for model in models(instance):
            cover = certificates.cover_of_model(reduced, model)
            check_cover(reduced.puzzle, Rules.parse(reduced.rules), cover)
            assert one_in_three_to_strands.solution_of(reduced, cover) == model
            laid[cover.identity] = model
        assert set(laid) == covers, instance
        seen[bool(covers)] += 1
    assert min(seen.values()) >= 1, seen


def test_the_solver_counts_and_finds_the_models() -> None:
    seen = set()
    for instance in planar_formulas(*SMALL_SIZES):
        reduced = one_in_three_to_strands.reduce(instance)
        game = reduced.bind()
        wanted = models(instance)
        counted = game.solve(reduced.puzzle, Ask(kind="count"))
        assert counted.count == len(wanted), instance
        listed = game.solve(reduced.puzzle, Ask(kind="all"))
        found = [one_in_three_to_strands.solution_of(reduced, c) for c in listed.solutions]
        assert len(found) == len(wanted)
        assert set(found) == wanted
        seen.add(counted.status)
    assert seen == {Status.SOLVED, Status.UNSOLVABLE}


def grids(rows: int, columns: int, colours: int) -> Iterator[FlowFree]:
    """List every grid of that size with that many colours."""
    cells = list(itertools.product(range(rows), range(columns)))

    def pairings(rest: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
        if not rest:
            yield []
            return
        for i in range(1, len(rest)):
            for more in pairings(rest[1:i] + rest[i + 1 :]):
                yield [rest[0], rest[i], *more]

    for chosen in itertools.combinations(cells, 2 * colours):
        for order in pairings(list(chosen)):
            grid = [["."] * columns for _ in range(rows)]
            for i, (r, c) in enumerate(order):
                grid[r][c] = "QRS"[i // 2]
            yield FlowFree(rows=tuple("".join(row) for row in grid))


@pytest.mark.parametrize(
    ("rows", "columns", "colours"), [(2, 2, 1), (2, 2, 2), (2, 3, 2), (2, 3, 3), (3, 3, 1)]
)
def test_covers_are_the_divisions_of_every_small_grid(
    rows: int, columns: int, colours: int
) -> None:
    for instance in grids(rows, columns, colours):
        reduced = flow_free_to_strands.reduce(instance)
        flows = list(all_flows(instance))
        divisions = {frozenset(map(frozenset, paths)) for paths in flows}
        outcome = reduced.bind().solve(reduced.puzzle, Ask(kind="all"))
        assert outcome.count == len(divisions), instance.rows
        for cover in outcome.solutions:
            found = flow_free_to_strands.solution_of(reduced, cover)
            assert frozenset(map(frozenset, found)) in divisions
        for paths in flows:
            cover = certificates.cover_of_flows(reduced, paths)
            check_cover(reduced.puzzle, Rules.parse(reduced.rules), cover)
            assert flow_free_to_strands.solution_of(reduced, cover) == paths


def test_one_letter_for_both_terminals_would_let_a_word_cut_corners() -> None:
    """The empty corner has one neighbour that is not a terminal, so no path goes through it."""
    instance = FlowFree(rows=("QRR.", "..Q.", "...."))
    assert next(all_flows(instance), None) is None
    reduced = flow_free_to_strands.reduce(instance)
    assert next(exact_covers(reduced.puzzle, reduced.words, diagonal=True), None) is None
    assert reduced.bind().solve(reduced.puzzle, Ask(kind="first")).status is Status.UNSOLVABLE
    (a, b), (c, d) = instance.terminals[0]
    shared = str.maketrans(reduced.puzzle.board[c][d], reduced.puzzle.board[a][b])
    board = Puzzle(board=tuple(row.translate(shared) for row in reduced.puzzle.board))
    words = tuple(word.translate(shared) for word in reduced.words)
    assert next(exact_covers(board, words, diagonal=True), None) is not None
    assert next(exact_covers(board, words, diagonal=False), None) is None


def test_random_grids_can_be_filled() -> None:
    for seed in range(5):
        instance = random_flow_free(4, 4, 3, seed)
        paths = next(all_flows(instance))
        check_flows(instance, paths)


def straight_covers(reduced: Reduced[object, Puzzle]) -> int:
    return sum(1 for _ in exact_covers(reduced.puzzle, reduced.words, diagonal=False))


@pytest.mark.parametrize("size", [3, 5])
def test_enlarged_boards_have_the_covers_of_the_small_ones(size: int) -> None:
    small = one_in_three_to_strands.reduce(ONE_CLAUSE)
    large = blocks.enlarge(small, size)
    assert min(map(len, large.words)) == size * size
    assert max(map(len, large.words)) == 4 * size * size
    rules = Rules.parse(large.rules)
    assert rules.min_letters == size * size
    for model in models(ONE_CLAUSE):
        cover = certificates.cover_of_model(small, model)
        grown = certificates.cover_of_blocks(large, cover)
        check_cover(large.puzzle, rules, grown)
        assert all(entry.word in large.words for entry in grown.entries)
        assert blocks.solution_of(large, grown).identity == cover.identity


def test_enlarging_keeps_solvable_and_unsolvable() -> None:
    """Boards of 2 x 2 and 2 x 3 cells with all letters from a small alphabet."""
    words = ("P", "PQ", "QPQ")
    seen = set()
    for rows, columns in ((1, 3), (2, 2)):
        for letters in itertools.product("PQ", repeat=rows * columns):
            text = "".join(letters)
            board = tuple(text[r * columns : (r + 1) * columns] for r in range(rows))
            small = Reduced(
                game="strands",
                instance=None,
                puzzle=Puzzle(board=board),
                rules=one_in_three_to_strands.RULES.format("yes"),
                words=words,
            )
            straight = straight_covers(small)
            diagonal = next(exact_covers(small.puzzle, words, diagonal=True), None) is not None
            if diagonal and not straight:
                continue  # Theorem 20 requires boards without diagonal steps.
            large = blocks.enlarge(small)
            outcome = large.bind().solve(large.puzzle, Ask(kind="first"))
            assert (outcome.status is Status.SOLVED) == bool(straight), board
            for cover in outcome.solutions:
                shrunk = blocks.solution_of(large, cover)
                check_cover(small.puzzle, Rules.parse(small.rules), shrunk)
            seen.add(outcome.status)
    assert seen == {Status.SOLVED, Status.UNSOLVABLE}


@pytest.mark.slow
def test_random_formulas_are_laid_out_without_touching() -> None:
    """On boards too large for brute force, the cover of the assignment is checked."""
    for seed in range(2):
        instance = random_planar_formula(7, 6, seed, exactly_one)
        reduced = one_in_three_to_strands.reduce(instance)
        wanted = models(instance)
        assert wanted
        found = list(exact_covers(reduced.puzzle, reduced.words, diagonal=True))
        assert len(found) == len(wanted)
