"""Searches that live at the same time do not disturb one another."""

from __future__ import annotations

from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.strands.game import StrandsGame
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from tests.solvers.strands.boards import needs_solver

pytestmark = needs_solver

ALL = Ask(kind="all")


def game_of(*words: str) -> StrandsGame:
    rules = Rules(spangram="off", words="any", min_letters=2, repeats=True)
    return StrandsGame(rules, compile_lexicon((word, 0) for word in words))


def test_a_stream_goes_on_after_another_board_was_solved() -> None:
    board = Puzzle(board=("ABAB", "BABA", "ABAB"))
    strands, other = game_of("AB", "ABA", "BAB", "ABAB"), game_of("CCCCC", "CCCCCCC")
    another_board = Puzzle(board=("CCCC", "CCCC", "CCCC"))
    whole = strands.solve(board, ALL).solutions
    assert len(whole) > 10
    stream = iter(strands.stream(board, ALL))
    covers = [next(stream)]
    assert other.solve(another_board, Ask(kind="count")).count
    between = iter(other.stream(another_board, ALL))
    for cover in stream:
        covers.append(cover)
        next(between, None)
    assert tuple(covers) == whole
