"""Errors that travel from one process to another."""

import pickle

import pytest

from nightgrid.solvers.errors import FAULTS_MAX, Faults, InvalidPuzzleError


def fault(place: str) -> InvalidPuzzleError:
    return InvalidPuzzleError("rule", place, "wrong")


def test_a_refusal_of_a_board_says_the_same_in_another_process():
    error = InvalidPuzzleError("region-overlap", "regions[1]", "cell 3 is there twice")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "regions[1]: cell 3 is there twice"
    assert (again.rule, again.place, again.detail) == (error.rule, error.place, error.detail)


def test_faults_are_raised_as_the_first_with_the_others_beside_it():
    faults = Faults()
    faults.check()
    with faults:
        raise fault("a")
    faults.add(fault("b"))
    with pytest.raises(InvalidPuzzleError, match=r"^a: wrong$") as raised:
        faults.check()
    outer = Faults()
    outer.add(fault("0"))
    outer.add(raised.value)
    with pytest.raises(InvalidPuzzleError, match=r"^0: wrong$") as raised:
        outer.check()
    again = pickle.loads(pickle.dumps(raised.value))
    assert [other.place for other in again.others] == ["a", "b"]


def test_no_more_faults_are_gathered_than_are_reported():
    def refuse(_: object, place: str) -> None:
        read.append(place)
        raise fault(place)

    read: list[str] = []
    with pytest.raises(InvalidPuzzleError) as raised:
        Faults().each(((str(i), i) for i in range(10**6)), refuse)
    assert len(read) == 1 + len(raised.value.others) == FAULTS_MAX
