"""Instances of hard problems: reading, writing, drawing at random."""

from __future__ import annotations

import itertools

import pytest

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.lexicon.spelling import normal_form
from nightgrid.solvers.reductions.catalogue import REDUCTIONS, make, reduction
from nightgrid.solvers.reductions.problems.choices import (
    SubsetSum,
    ThreeDMatching,
    check_matching,
    check_subset,
)
from nightgrid.solvers.reductions.problems.flow_free import FlowFree
from nightgrid.solvers.reductions.problems.formula import (
    Formula,
    assignments,
    check_assignment,
    exactly_one,
    not_all_equal,
)
from nightgrid.solvers.reductions.problems.letters import distinct_letters
from nightgrid.solvers.reductions.problems.planar import (
    crosses,
    random_planar_formula,
)
from nightgrid.solvers.reductions.problems.texts import (
    read_flow_free,
    read_formula,
    read_planar,
    read_subset_sum,
    read_three_d_matching,
    write_formula,
    write_planar,
)
from tests.oracles.hard_instances import all_formulas


@pytest.mark.parametrize("one", REDUCTIONS, ids=lambda one: one.name)
def test_random_instances_are_the_same_for_a_seed_and_read_as_written(one) -> None:
    for size in (2, 4, 7):
        instance = one.problem.random(size, 3)
        assert one.problem.random(size, 3) == instance
        assert one.problem.read(one.problem.write(instance)) == instance
    assert one.problem.random(7, 4) != one.problem.random(7, 3)


def test_planted_formulas_hold() -> None:
    for seed in range(5):
        planar = reduction("planar-strands").problem.random(9, seed)
        assert next(assignments(planar.formula, exactly_one), None) is not None
        formula = reduction("nae-letterboxed").problem.random(20, seed)
        assert next(assignments(formula, not_all_equal), None) is not None


def test_assignments_are_those_that_trying_all_finds() -> None:
    for formula in all_formulas(5, 3):
        for demand in (exactly_one, not_all_equal):
            tried = [
                values
                for values in itertools.product((False, True), repeat=5)
                if all(demand(sum(values[v] for v in clause)) for clause in formula.clauses)
            ]
            assert list(assignments(formula, demand)) == tried


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no line 'p cnf V C'"),
        ("1 2 3 0", "expected 'p cnf V C' first"),
        ("p cnf 3 1\n1 -2 3 0", "line 2 has '-2'; expected a positive literal"),
        ("p cnf 3 1\n1 2 0", "line 2 ends a clause of 2 literals"),
        ("p cnf 3 1\n1 2 2 0", "clause 1 is '1 2 2'; expected three different variables"),
        ("p cnf 3 1\n1 2 4 0", "expected three different variables from 1 to 3"),
        ("p cnf 3 2\n1 2 3 0", "there are 1 clauses; 'p cnf' says 2"),
        ("p cnf 3 1\n1 2 3", "does not end with 0"),
        ("p dnf 3 1\n1 2 3 0", "expected one 'p cnf V C'"),
        ("p cnf x 1\n1 2 3 0", "line 1 has 'x'; expected a whole number"),
    ],
)
def test_text_that_is_not_a_positive_formula_is_refused(text: str, says: str) -> None:
    with pytest.raises(PermanentError, match=says.replace("(", r"\(")):
        read_formula(text)


def test_clauses_may_run_over_lines_and_comments_are_skipped() -> None:
    text = "c by hand\np cnf 4 2\n1 2\n3 0 4\nc here\n2 1 0\n%\n0\n"
    formula = read_formula(text)
    assert formula == Formula(variables=4, clauses=((0, 1, 2), (0, 1, 3)))
    assert read_formula(write_formula(formula)) == formula


def test_an_embedding_travels_in_comments_and_is_checked() -> None:
    instance = random_planar_formula(11, 9, 1, exactly_one)
    assert read_planar(write_planar(instance)) == instance
    crossing = "c order 1 2 3 4\nc sides + +\np cnf 4 2\n1 2 3 0\n2 3 4 0\n"
    with pytest.raises(PermanentError, match="clauses 1 and 2 cross"):
        read_planar(crossing)
    assert read_planar(crossing.replace("+ +", "+ -")).above == (True, False)
    with pytest.raises(PermanentError, match="embedding is missing"):
        read_planar(crossing.replace("c sides + +\n", ""))
    with pytest.raises(PermanentError, match="order does not name every variable"):
        read_planar(crossing.replace("order 1", "order 2"))


def test_legs_at_a_variable_do_not_cross() -> None:
    """Two clauses with a leg at one variable: their legs are ordered by their other legs."""
    for seed in range(20):
        instance = random_planar_formula(18, 16, seed, exactly_one)
        for above in (True, False):
            column: dict[tuple[int, int], int] = {}
            for place in range(18):
                for i in instance.legs(place, above=above):
                    column[i, place] = len(column)
            drawn = {
                i: tuple(column[i, place] for place in span)
                for i, span in enumerate(instance.spans)
                if instance.above[i] == above
            }
            for one, other in itertools.combinations(drawn.values(), 2):
                assert not crosses(one, other)


@pytest.mark.parametrize(
    ("read", "text", "says"),
    [
        (read_three_d_matching, "p 3dm 2 1\n1 2", "line 2 has 2 numbers; expected a triple"),
        (read_three_d_matching, "p 3dm 2 1\n1 2 3", "triple 1 is '1 2 3'"),
        (read_three_d_matching, "1 2 3", "expected 'p 3dm SIZE TRIPLES' first"),
        (read_three_d_matching, "p 3dm 2 2\n1 2 1", "there are 1 triples"),
        (read_subset_sum, "", "no line 'p subset-sum COUNT TARGET'"),
        (read_subset_sum, "p subset-sum 1 3\n0", "number 1 is 0; expected a positive integer"),
        (read_subset_sum, "p subset-sum 1 3\n1 x", "line 2 has 'x'; expected a whole number"),
        (read_subset_sum, "p subset-sum 2 3\n1", "there are 1 numbers"),
        (read_flow_free, "", "no cells"),
        (read_flow_free, "A.A\n..", "row 2 has 2 cells; expected 3"),
        (read_flow_free, "A.A\n..B", "'B' stands on 1 cell; expected every colour on two"),
        (read_flow_free, "...", "no terminals"),
    ],
)
def test_text_that_is_not_an_instance_is_refused(read, text: str, says: str) -> None:
    with pytest.raises(PermanentError, match=says):
        read(text)


def test_certificates_that_are_invalid_are_refused() -> None:
    formula = Formula(variables=3, clauses=((0, 1, 2),))
    with pytest.raises(PermanentError, match=r"clause 1 \(1 2 3\) has 2 true variables"):
        check_assignment(formula, (True, True, False), exactly_one)
    with pytest.raises(PermanentError, match="of set 2"):
        check_matching(ThreeDMatching(size=2, triples=((0, 0, 0), (1, 0, 1))), (0, 1))
    with pytest.raises(PermanentError, match="add up to 3; expected 4"):
        check_subset(SubsetSum(numbers=(1, 2), target=4), (0, 1))


def test_letters_are_distinct_and_valid_on_boards() -> None:
    letters = distinct_letters(12_000)
    assert letters.startswith("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    assert len(set(letters)) == len(letters)
    assert normal_form(letters) == letters
    assert letters.isalnum()
    assert "B" not in distinct_letters(100, {"B"})
    with pytest.raises(PermanentError, match="there are"):
        distinct_letters(20_000)


def test_variants_are_chained_and_wrong_ones_refused() -> None:
    one = reduction("flow-strands")
    instance = FlowFree(rows=("A.", "A."))
    made = make(one, instance, blocks_size=3, diagonal=False)
    assert len(made.reduced.puzzle.board) == 6
    assert "diagonal=no" in made.reduced.rules
    wide = make(
        reduction("matching-letterboxed"), ThreeDMatching(size=1, triples=((0, 0, 0),)), sides=6
    )
    assert len(wide.reduced.puzzle.sides) == 6
    with pytest.raises(PermanentError, match="expected an odd number"):
        make(one, instance, blocks_size=4)
    with pytest.raises(PermanentError, match="unknown reduction 'sat'"):
        reduction("sat")
