"""Reductions to Letter Boxed: solvable if and only if the instance is, counted and mapped back."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from nightgrid.solvers.algebra import Ask, Outcome, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.check import played, text_of
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.reductions import (
    matching_to_letterboxed,
    more_sides,
    not_all_equal_to_letterboxed,
)
from nightgrid.solvers.reductions.problems.choices import (
    ThreeDMatching,
    random_three_d_matching,
)
from nightgrid.solvers.reductions.problems.formula import (
    Formula,
    assignments,
    not_all_equal,
    random_formula,
)
from nightgrid.solvers.reductions.reduced import Reduced
from tests.oracles import certificates
from tests.oracles.hard_instances import all_formulas, all_three_d_matchings, matchings

ALL_OF_FIVE = tuple((a, b, c) for c in range(5) for b in range(c) for a in range(b))
"""Every clause over five variables: three of them are equal, so no assignment satisfies all."""


def solve(reduced: Reduced, kind: str) -> Outcome[Chain]:
    return reduced.bind().solve(reduced.puzzle, Ask(kind=kind))


@pytest.mark.parametrize("padded", [False, True])
def test_the_word_is_a_chain_for_every_small_formula_that_holds(padded: bool) -> None:
    formulas = [
        formula
        for variables, most in ((3, 2), (4, 3), (5, 2))
        for clauses in range(1, most + 1)
        for formula in all_formulas(variables, clauses)
    ]
    # All small formulas hold; these are the smallest that do not.
    formulas.append(Formula(variables=5, clauses=ALL_OF_FIVE))
    seen = set()
    for formula in formulas:
        model = next(assignments(formula, not_all_equal), None)
        reduced = not_all_equal_to_letterboxed.reduce(formula, padded=padded)
        assert not padded or len(set(map(len, reduced.puzzle.sides))) == 1
        outcome = solve(reduced, "first")
        assert (outcome.status is Status.SOLVED) == (model is not None), formula
        for chain in outcome.solutions:
            not_all_equal_to_letterboxed.solution_of(reduced, chain)
            play = tuple(played(reduced.puzzle, chain))
            certificates.assignment_of(reduced, chain, play)
        seen.add(outcome.status)
    assert seen == {Status.SOLVED, Status.UNSOLVABLE}


def test_every_model_is_a_way_to_play_the_word() -> None:
    for seed in range(10):
        formula = random_formula(6, 9, seed, not_all_equal)
        reduced = not_all_equal_to_letterboxed.reduce(formula)
        for model in assignments(formula, not_all_equal):
            chain, play = certificates.play_of(reduced, model)
            certificates.check_play(reduced.puzzle, chain, play)
            stated = tuple(
                value and count > 0 for value, count in zip(model, formula.occurrences, strict=True)
            )
            assert certificates.assignment_of(reduced, chain, play) == stated


def test_a_play_that_misses_a_letter_is_refused() -> None:
    reduced = not_all_equal_to_letterboxed.reduce(Formula(variables=3, clauses=((0, 1, 2),)))
    chain, play = certificates.play_of(reduced, (True, False, False))
    other = tuple({1: 2, 2: 1}.get(side, side) for side in play[:2])
    with pytest.raises(PermanentError, match="both taken on side"):
        certificates.check_play(reduced.puzzle, chain, (*other, *play[2:]))
    cut = Chain(words=(chain.words[0][:3],))
    board = Puzzle(sides=reduced.puzzle.sides, dictionary=cut.words)
    with pytest.raises(PermanentError, match="taken 0 times"):
        certificates.check_play(board, cut, play[:3])


def any_three_d_matching(size: int, triples: int, seed: int) -> ThreeDMatching:
    every = list(itertools.product(range(size), repeat=3))
    return ThreeDMatching(size=size, triples=tuple(random.Random(seed).sample(every, triples)))


def test_chains_are_matchings_in_every_order() -> None:
    instances = [
        *all_three_d_matchings(1, 1),
        *(one for k in range(1, 9) for one in all_three_d_matchings(2, k)),
        *(random_three_d_matching(3, 8, seed) for seed in range(10)),
        *(any_three_d_matching(3, 8, seed) for seed in range(10)),
    ]
    seen = Counter[Status]()
    for instance in instances:
        reduced = matching_to_letterboxed.reduce(instance)
        outcome = solve(reduced, "all")
        found = Counter(
            matching_to_letterboxed.solution_of(reduced, chain) for chain in outcome.solutions
        )
        wanted = {
            chosen: certificates.matching_chain_count(reduced, chosen)
            for chosen in matchings(instance)
        }
        assert found == wanted, instance
        for chosen in wanted:
            assert certificates.chain_of_matching(reduced, chosen) in outcome.solutions
        assert solve(reduced, "count").count == sum(wanted.values())
        seen[outcome.status] += 1
    assert min(seen[Status.SOLVED], seen[Status.UNSOLVABLE]) > 10


def random_boards() -> list[more_sides.Instance]:
    draw = random.Random(14)
    boards = []
    while len(boards) < 60:
        sides = tuple(
            "".join(draw.choice("PQR") for _ in range(draw.choice((1, 1, 2))))
            for _ in range(draw.choice((2, 3)))
        )
        letters = sorted(set("".join(sides)))
        words = tuple(
            "".join(draw.choice(letters) for _ in range(draw.choice((1, 2, 2, 3))))
            for _ in range(draw.choice((1, 2, 3)))
        )
        puzzle = Puzzle(sides=sides, dictionary=words)
        boards.append(more_sides.Instance(puzzle=puzzle, words=draw.choice((1, 2))))
    return boards


def collects(puzzle: Puzzle, chain: Chain) -> bool:
    """Try every side for every letter (article 000, Definition 6). For tiny boards."""
    letters = text_of(chain)
    wanted = [Counter(side) for side in puzzle.sides]
    for play in itertools.product(range(len(wanted)), repeat=len(letters)):
        apart = all(a != b for a, b in itertools.pairwise(play))
        if apart and all(x in wanted[side] for x, side in zip(letters, play, strict=True)):
            taken = Counter(zip(play, letters, strict=True))
            if all(taken[i, x] >= n for i, side in enumerate(wanted) for x, n in side.items()):
                return True
    return False


def test_another_side_keeps_the_chains_between_the_new_words() -> None:
    seen = Counter[bool]()
    for instance in random_boards():
        reduced = more_sides.reduce(instance)
        assert len(reduced.puzzle.sides) == len(instance.puzzle.sides) + 1
        words = instance.puzzle.dictionary
        sequences = [
            Chain(words=chosen)
            for count in range(1, instance.words + 1)
            for chosen in itertools.product(words, repeat=count)
            if all(a[-1] == b[0] for a, b in itertools.pairwise(chosen))
        ]
        wanted = Counter(chain for chain in sequences if collects(instance.puzzle, chain))
        chains = solve(reduced, "all").solutions
        assert Counter(more_sides.solution_of(reduced, chain) for chain in chains) == wanted
        for chain in wanted:
            assert certificates.chain_on_more_sides(reduced, chain) in chains
        seen[bool(chains)] += 1
    assert min(seen.values()) > 5, seen


def test_chains_are_carried_over_to_more_sides() -> None:
    instance = random_three_d_matching(2, 4, 3)
    reduced = matching_to_letterboxed.reduce(instance)
    chosen = next(matchings(instance))
    chain = certificates.chain_of_matching(reduced, chosen)
    wider = more_sides.reduce(more_sides.Instance(puzzle=reduced.puzzle, words=2))
    longer = certificates.chain_on_more_sides(wider, chain)
    assert longer in solve(wider, "all").solutions
    assert more_sides.solution_of(wider, longer) == chain
