"""The oracles of Letter Boxed agree with one another and with the solver on larger boards."""

from __future__ import annotations

import random

import pytest

from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.letterboxed.game import LetterBoxedGame
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.rules import Chains, Rules
from tests.oracles.letterboxed_brute_force import chains as brute_force

WORDS_MAX = 5


def board_of(seed: int, letters: int) -> Puzzle:
    rnd = random.Random(seed)
    text = "".join(rnd.choice("ABCDEF") for _ in range(letters))
    words = {"".join(rnd.choice("ABCDEF") for _ in range(rnd.randint(2, 5))) for _ in range(14)}
    count = rnd.randint(3, 5)
    return Puzzle(sides=tuple(text[i::count] for i in range(count)), dictionary=tuple(words))


def fewest(puzzle: Puzzle, chains: Chains) -> int | None:
    game = LetterBoxedGame(Rules(chains=chains, min_letters=2), None)
    by_count = game.solve(puzzle, Ask(kind="count")).value
    assert game.solve(puzzle, Ask(kind="first")).value == by_count
    return by_count


@pytest.mark.parametrize("seed", range(12))
def test_cp_sat_finds_the_same_fewest_words_and_letters(seed: int):
    pytest.importorskip("ortools")
    from tests.oracles.letterboxed_cp_sat import fewest as by_cp_sat

    puzzle = board_of(seed, 6 + seed % 5)
    words = fewest(puzzle, "fewest-words")
    expected = words if words is not None and words <= WORDS_MAX else None
    assert by_cp_sat(puzzle, WORDS_MAX, letters=False) == expected
    if expected is not None and expected <= 3:
        letters = fewest(puzzle, "fewest-letters")
        assert letters is not None
        # With no more words than CP-SAT may use, it can be no better.
        found = by_cp_sat(puzzle, WORDS_MAX, letters=True)
        assert found is not None
        assert found >= letters


def test_brute_force_plays_the_example_of_the_article():
    sides = ("TAP", "ERD", "NIL", "YCO")
    words = ("PLACITORY", "YEALDON", "NIL", "LAP")
    assert list(brute_force(sides, words, 2)) == [("PLACITORY", "YEALDON")]
