"""The expected time of a count decides which boards are large, whatever their size."""

from __future__ import annotations

import pytest

from benchmarks.instruments.boards import loose_board
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.registry import game

PIPS = game("pips")
COUNT = Ask(kind="count")
FACTOR = 40.0


def expected_s(puzzle: Puzzle, ask: Ask = COUNT) -> float:
    return PIPS.close_cost_s(PIPS.to_arrays([puzzle]), ask)


def test_a_board_of_published_size_may_be_large():
    published = [expected_s(generate(PRESETS["hard"], seed)[0]) for seed in range(20)]
    assert max(published) < 0.05
    assert expected_s(loose_board(14, 20)) > 0.5
    assert expected_s(loose_board(20, 3)) > 20


@pytest.mark.parametrize("dominoes", [6, 8, 10])
def test_it_is_in_proportion_to_the_states(dominoes):
    for seed in range(6):
        board = loose_board(dominoes, seed)
        states = PIPS.solve(board, COUNT).statistics.states
        assert states / FACTOR < expected_s(board) / 1e-6 < states * FACTOR


def test_only_counts_by_layers_are_estimated_closely():
    board = loose_board(10, 3)
    assert expected_s(board, Ask(kind="first")) is expected_s(board, Ask(kind="all")) is None
    cells = [(0, column) for column in range(1200)]
    value = {
        "dominoes": [[i % 7, i % 5] for i in range(600)],
        "regions": [{"indices": [list(cell) for cell in cells], "type": "empty"}],
    }
    assert expected_s(Puzzle.from_json(value)) is None
