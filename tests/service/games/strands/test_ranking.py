"""`nightgrid solve --rank`: covers with confidence and signals, and what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from nightgrid.archive.games.strands.ranking import ranker
from nightgrid.archive.games.strands.ranking.meant import MeantGame
from nightgrid.archive.games.strands.ranking.plugged import ALONE
from nightgrid.archive.games.strands.ranking.ranker import Ranker
from nightgrid.archive.games.strands.ranking.weights import NAME, fitted_weights
from nightgrid.service.games.strands import ranking
from nightgrid.service.terminal.console import sentence_of
from nightgrid.solvers.algebra import Budget, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.kernel.codes import OUT_OF_NODES
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.ranking.vocabulary import vocabulary_of
from tests.solvers.strands.boards import board

WORDS = {"HOT": 500, "DOG": 520, "CATS": 450, "SCAT": 250, "HOTDOGOG": 350, "ACTS": 400}
PUZZLE = board("HOTD GOGO CATS SCAT", 2)
Invoke = Callable[..., tuple[int, str, str]]
Write = Callable[..., str]


@pytest.fixture(autouse=True)
def small_ranker(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Ranker(fitted_weights(), vocabulary_of(WORDS, set(WORDS), []), None)
    use(monkeypatch, small)


def use(monkeypatch: pytest.MonkeyPatch, small: Ranker) -> None:
    monkeypatch.setattr(MeantGame, "open", lambda *_: small)
    monkeypatch.setattr(ranking, "default_ranker", lambda _progress: small)


def test_covers_have_a_confidence_and_say_what_spoke_for_them():
    found = ranking.rank_board("", PUZZLE, "letters", Budget())
    assert found.status is Status.SOLVED
    value = found.value
    assert (value["weights"], value["with_model"], value["clue"]) == (NAME, False, "letters")
    assert sum(one["confidence"] for one in value["solutions"]) == pytest.approx(1, abs=1e-4)
    first = value["solutions"][0]
    words = {first["spangram"]["word"], *(entry["word"] for entry in first["theme_words"])}
    assert set(first["words"]) == words
    assert all(terms for terms in first["words"].values())
    told = found.sentence
    assert f"\n{sentence_of(ALONE)}" in told
    assert "\nRanked without the meaning of words and clue" in told
    assert "Why the first, against the mean of the list (+1: 2.7 times as likely, +2.3: ten" in told
    assert "the words one by one and how they lie" in told
    assert "nats" not in told
    assert "\nWhat each of its words adds:\n" in told
    for word in words:
        assert re.search(rf"\n  {word}: \w.* [+-]\d", told), "a word has no line"


def test_a_spangram_of_several_words_is_written_apart_where_it_is_explained(
    monkeypatch: pytest.MonkeyPatch,
):
    words = {"HOT": 500, "DOG": 520, "KITTEN": 400}
    small = Ranker(fitted_weights(), vocabulary_of(words, set(words), []), None)
    use(monkeypatch, small)
    found = ranking.rank_board("", board("HOTDOG KITTEN", 1), "pets", Budget())
    assert found.value["solutions"][0]["components"] == ["HOT", "DOG"]
    told = found.sentence
    assert re.search(r"\n  HOT DOG: \w", told)
    assert "HOTDOG" not in told


def test_a_board_without_covers_says_so():
    found = ranking.rank_board("", board("XXXX XXXX", 1), None, Budget())
    assert found.status is Status.UNSOLVABLE
    assert found.sentence == "No cover was found to rank."


def test_other_rules_and_unknown_numbers_of_words_are_refused():
    with pytest.raises(PermanentError, match="knows Strands' own rules"):
        ranking.rank_board("crossing=yes", PUZZLE, None, Budget())
    with pytest.raises(PermanentError, match="known number of theme words"):
        ranking.rank_board("", Puzzle(board=PUZZLE.board), None, Budget())


def test_a_spent_budget_is_an_answer():
    """Given a billionth of a second, Then the answer says in one sentence what ran out."""
    found = ranking.rank_board("", PUZZLE, None, Budget(seconds=1e-9))
    assert (found.status, found.solutions) == (Status.OVER_BUDGET, ())
    value = found.value
    assert (value["reason_code"], value["reason"]) == (
        "seconds",
        "the budget of seconds ran out",
    )
    assert found.sentence == "The budget of seconds ran out."


def test_nodes_bound_a_ranking_too(monkeypatch: pytest.MonkeyPatch):
    def spend(*_: object) -> None:
        raise BudgetSpentError(OUT_OF_NODES)

    monkeypatch.setattr(ranker, "best_covers", spend)
    found = ranking.rank_board("", PUZZLE, None, Budget(nodes=1))
    assert found.value["reason"] == "the budget of nodes ran out"


def test_a_budget_bounds_the_search_for_pieces(monkeypatch: pytest.MonkeyPatch):
    """Given a budget, Then finding the pieces has its stop, and play has it at every search."""
    budgets: list[Budget | None] = []
    whole = Ranker.board
    monkeypatch.setattr(
        Ranker,
        "board",
        lambda self, puzzle, clue, budget=None: (
            budgets.append(budget) or whole(self, puzzle, clue, budget)
        ),
    )
    ranking.rank_board("", PUZZLE, None, Budget(nodes=10**9))
    ranking.opened_play(PUZZLE, None, Budget(nodes=10**9))
    assert [budget and (budget.nodes, budget.stop is None) for budget in budgets] == [
        (10**9, False)
    ] * 2
    with pytest.raises(PermanentError, match=r"^ranking ended: the budget of seconds ran out$"):
        ranking.opened_play(PUZZLE, None, Budget(seconds=1e-9))


def test_solve_with_a_budget_that_is_spent_says_so(invoke: Invoke, write: Write):
    board_file = write(PUZZLE.to_json())
    code, out, _ = invoke("solve", board_file, "--rank", "--seconds", "0.000000001", "--json")
    assert (code, json.loads(out)["reason"]) == (4, "the budget of seconds ran out")


def test_solve_ranks_a_board_from_a_file(invoke: Invoke, write: Write):
    code, out, _ = invoke("solve", write(PUZZLE.to_json()), "--rank")
    assert code == 0
    assert "covers ranked in" in out
    code, out, _ = invoke("solve", write(PUZZLE.to_json()), "--rank", "--json")
    assert code == 0
    assert json.loads(out)["search"] == "rank"
