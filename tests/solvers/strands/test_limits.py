from __future__ import annotations

import pytest

from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.reasons import BudgetSpentError, ReasonCode
from nightgrid.solvers.strands.game import StrandsGame
from nightgrid.solvers.strands.general import wide_pieces as general_pieces
from nightgrid.solvers.strands.pieces import pieces, words
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.states.engine import Engine

COUNT = Ask(kind="count")
LAUGHTER = Puzzle(board=("HAHAHA", "AHAHAH") * 4, theme_words=7)
"""Every other step is a letter of HAHAHAHAHAHA."""
LOOSE = Rules(spangram="off", words="any", min_letters=1, repeats=True, compound_parts=1)


def laughing(rules: Rules) -> StrandsGame:
    return StrandsGame(rules, compile_lexicon([("HA" * n, 500) for n in range(1, 9)]))


@pytest.mark.parametrize("parts", [1, 3])
def test_a_board_with_too_many_paths_is_refused(
    monkeypatch: pytest.MonkeyPatch, parts: int
) -> None:
    monkeypatch.setattr(words, "STEPS_MAX", 1 << 16)
    monkeypatch.setattr(general_pieces, "STEPS_MAX", 1 << 16)
    outcome = laughing(Rules(compound_parts=parts)).solve(LAUGHTER, COUNT)
    assert (outcome.status, outcome.count) == (Status.OVER_BUDGET, None)
    assert "in too many ways" in outcome.reason


def test_parts_that_join_in_too_many_ways_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "JOINTS_MAX", 100)
    game = StrandsGame(Rules(), compile_lexicon([("HA", 700), ("AH", 700)]))
    outcome = game.solve(LAUGHTER, COUNT)
    assert outcome.status is Status.OVER_BUDGET
    assert "100 ways to join" in outcome.reason


def test_a_board_that_cannot_be_searched_is_not_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "STEPS_MAX", 1 << 16)
    monkeypatch.setattr(general_pieces, "STEPS_MAX", 1 << 16)
    assert laughing(Rules()).split(LAUGHTER, COUNT, None, 8) == [None]


def test_the_best_keep_to_bytes_and_seconds() -> None:
    game = StrandsGame(LOOSE, compile_lexicon([("A", 500), ("AA", 500), ("AAA", 500)]))
    board = Puzzle(board=("AAAA",) * 3)
    many = Ask(kind="best", limit=10**6)
    assert game.solve(board, many, None, Budget(table_bytes=1 << 20)).reason == (
        "the budget of table bytes ran out"
    )


def test_what_is_closed_in_the_first_rows_is_open_64_cells_later() -> None:
    """Both 2 x 2 blocks are crossed by one word; the window moves past the first in one step."""
    rows = [*["Z" * 8] * 10]
    rows[:3] = "ACDEFGHI", "QBONMLKJ", "ZPZZZZZZ"
    rows[8:] = "RZZZZZZZ", "ZSZZZZZZ"
    lexicon = compile_lexicon([(word, 500) for word in ("AB", "CDEFGHIJKLMNOPQ", "RS", "Z")])
    board = Puzzle(board=tuple(rows))
    assert StrandsGame(LOOSE, lexicon).solve(board, COUNT).count == 1


def test_time_that_is_over_is_seen_outside_the_kernel_too() -> None:
    engine = Engine(Budget(seconds=1e-9), exists=True)
    with pytest.raises(BudgetSpentError) as error:
        engine.check_clock()
    assert error.value.reason_code is ReasonCode.SECONDS


def test_all_of_one_cover_are_all() -> None:
    game = StrandsGame(LOOSE, compile_lexicon([("AB", 500)]))
    outcome = game.solve(Puzzle(board=("AB",)), Ask(kind="all", limit=1))
    assert (outcome.count, outcome.truncated) == (1, False)
    outcome = game.solve(Puzzle(board=("ABA",)), Ask(kind="all", limit=1))
    assert (outcome.count, outcome.status) == (0, Status.UNSOLVABLE)
