"""Errors that travel from one process to another."""

import pickle

from nightgrid.solvers.errors import InvalidPuzzleError


def test_a_refusal_of_a_board_says_the_same_in_another_process():
    error = InvalidPuzzleError("region-overlap", "regions[1]", "cell 3 stands twice")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "regions[1]: cell 3 stands twice"
    assert (again.rule, again.place, again.detail) == (error.rule, error.place, error.detail)
