"""Rankings are named by all they depend on, and filed once."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from nightgrid.archive.games.strands.ranking import ranker as rankers
from nightgrid.archive.games.strands.ranking.ranker import Ranker
from nightgrid.archive.games.strands.ranking.weights import NAME, fitted_weights
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.rankings import (
    RankingRequest,
    find_ranking,
    keep_ranking,
    known_rankings,
    rank,
)
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.kernel.codes import OUT_OF_NODES
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.ranking.vocabulary import vocabulary_of
from nightgrid.solvers.strands.solution import cover_from_json
from tests.solvers.strands.boards import board

WORDS = {"HOTDOGOG": 350, "CATS": 450, "SCAT": 250, "ACTS": 400, "CAST": 500}
PUZZLE = board("HOTD GOGO CATS SCAT", 2)
WANTED = RankingRequest(puzzle=PUZZLE, clue="letters")
RANKER = Ranker(fitted_weights(), vocabulary_of(WORDS, set(WORDS), []), None)
ALONE = f"{NAME}-alone"


def test_a_ranking_is_named_by_board_clue_and_ranker():
    assert RANKER.name == ALONE
    others = {
        WANTED.ranking_id(ALONE),
        WANTED.ranking_id(NAME),
        replace(WANTED, clue=None).ranking_id(ALONE),
        replace(WANTED, clue="").ranking_id(ALONE),
        replace(WANTED, puzzle=board("HOTD GOGO CATS SCAT", 3)).ranking_id(ALONE),
    }
    assert len(others) == 5


def test_a_board_travels_as_json():
    assert RankingRequest.from_json(json.loads(json.dumps(WANTED.to_json()))) == WANTED
    for wrong in (None, {}, {"puzzle": PUZZLE.to_json(), "clue": 3}):
        with pytest.raises(PermanentError, match="expected"):
            RankingRequest.from_json(wrong)


def test_a_ranking_is_filed_once_and_says_what_spoke_for_each_word(lake: Lake):
    row = rank(RANKER, WANTED)
    assert (row["status"], row["with_model"], row["ranker"]) == ("solved", False, ALONE)
    assert keep_ranking(lake, row)
    assert not keep_ranking(lake, row | {"seconds": 99.0})
    assert known_rankings(lake) == {WANTED.ranking_id(ALONE)}
    found = find_ranking(lake, WANTED.ranking_id(ALONE))
    assert found is not None
    assert found["covers"] == row["covers"]
    assert found["seconds"] == row["seconds"]
    confidences = [cover["confidence"] for cover in found["covers"]]
    assert confidences == sorted(confidences, reverse=True)
    assert sum(confidences) == pytest.approx(1, abs=1e-4)
    for cover in found["covers"]:
        assert set(cover["words"]) == {cover["spangram"], *cover["theme_words"]}
        assert all(cover["words"].values())
        cover_from_json(cover["cover"])
    assert find_ranking(lake, WANTED.ranking_id(NAME)) is None


@pytest.mark.parametrize(
    ("wanted", "status", "reason"),
    [
        (RankingRequest(puzzle=Puzzle(board=PUZZLE.board), clue=None), "invalid", "known number"),
        (RankingRequest(puzzle=board("XXXX XXXX", 1), clue=None), "unsolvable", ""),
    ],
)
def test_what_has_no_covers_is_a_row_too(
    lake: Lake, wanted: RankingRequest, status: str, reason: str
):
    row = rank(RANKER, wanted)
    assert (row["status"], row["covers"]) == (status, [])
    assert reason in row["reason"]
    assert keep_ranking(lake, row)


def test_a_spent_budget_is_a_row(monkeypatch: pytest.MonkeyPatch):
    def spend(*_: object) -> None:
        raise BudgetSpentError(OUT_OF_NODES)

    monkeypatch.setattr(rankers, "best_covers", spend)
    row = rank(RANKER, WANTED)
    assert (row["status"], row["reason_code"]) == ("over_budget", "nodes")
