"""A planner's estimates of jobs."""

from benchmarks.instruments.boards import loose_board
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.registry import game
from nightgrid.workers.runs.plan.plan_pass import CLOSE_ROWS, expected_s

COUNT = Ask(kind="count")
PIPS = game("pips")


def test_a_few_boards_are_estimated_closely():
    loose = loose_board(14, 4)
    arrays = PIPS.to_arrays([loose])
    closely = PIPS.close_cost_s(arrays, COUNT)
    assert closely > 100 * PIPS.cost_s(arrays, COUNT)[0]
    assert expected_s(PIPS, COUNT, arrays).tolist() == [closely]
    many = PIPS.to_arrays([loose] * (CLOSE_ROWS + 1))
    assert expected_s(PIPS, COUNT, many).max() < closely / 10
