"""The expected time of a count decides which boards are large, whatever their size."""

from __future__ import annotations

import itertools

import pytest

from benchmarks.instruments.boards import loose_board
from nightgrid.solvers.algebra import Ask, Budget, Expected
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.registry import game

PIPS = game("pips")
COUNT = Ask(kind="count")
FACTOR = 40.0


def expected(puzzle: Puzzle, ask: Ask = COUNT) -> Expected:
    return PIPS.expected(PIPS.to_arrays([puzzle]), ask)


def test_a_board_of_the_size_of_published_ones_may_be_large():
    published = [expected(generate(PRESETS["hard"], seed)[0]).seconds for seed in range(20)]
    assert max(published) < 0.05
    assert expected(loose_board(14, 20)).seconds > 2
    assert expected(loose_board(20, 3)).seconds > 20


@pytest.mark.parametrize("dominoes", [6, 8, 10])
def test_it_is_in_proportion_to_the_states(dominoes):
    for seed in range(6):
        board = loose_board(dominoes, seed)
        states = PIPS.solve(board, COUNT).statistics.states
        assert states / FACTOR < expected(board).seconds / 1e-6 < states * FACTOR


def test_it_says_what_has_passed_at_each_layer():
    board = loose_board(10, 3)
    passed = expected(board).passed
    count = PIPS.layered(board, Budget())
    assert len(passed) == count.layers + 1
    assert (passed[0], passed[-1]) == (0.0, 1.0)
    assert all(a <= b for a, b in itertools.pairwise(passed))
    count.begin()
    states = [0]
    for layer in range(count.layers):
        count.advance(layer, layer + 1)
        states.append(count.statistics.states)
    half = next(layer for layer, share in enumerate(passed) if share > 0.5)
    assert 0.1 < states[half] / states[-1] <= 1


def test_what_is_not_counted_by_layers_is_expected_as_a_plan_expects_it():
    board = loose_board(10, 3)
    arrays = PIPS.to_arrays([board])
    for ask in (Ask(kind="first"), Ask(kind="all")):
        assert expected(board, ask) == Expected(seconds=float(PIPS.cost_s(arrays, ask)[0]))


def test_a_board_too_large_for_layers_is_expected_by_its_size():
    cells = [(0, column) for column in range(1200)]
    value = {
        "dominoes": [[i % 7, i % 5] for i in range(600)],
        "regions": [{"indices": [list(cell) for cell in cells], "type": "empty"}],
    }
    board = Puzzle.from_json(value)
    assert expected(board).passed == ()
    assert expected(board).seconds == PIPS.cost_s(PIPS.to_arrays([board]), COUNT)[0]
