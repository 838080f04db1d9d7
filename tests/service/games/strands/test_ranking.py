"""`nightgrid solve --rank`: covers with confidence and signals, and refused options."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from nightgrid.archive.games.strands.ranking.meant import MeantGame
from nightgrid.archive.games.strands.ranking.plugged import ALONE
from nightgrid.archive.games.strands.ranking.ranker import Ranker
from nightgrid.archive.games.strands.ranking.weights import NAME, fitted_weights
from nightgrid.service.terminal.console import sentence_of
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.ranking.vocabulary import vocabulary_of
from tests.solvers.strands.boards import board

WORDS = {"HOT": 500, "DOG": 520, "CATS": 450, "SCAT": 250, "HOTDOGOG": 350, "ACTS": 400}
PUZZLE = board("HOTD GOGO CATS SCAT", 2)
Invoke = Callable[..., tuple[int, str, str]]
Write = Callable[..., str]


@pytest.fixture(autouse=True)
def small_ranker(monkeypatch: pytest.MonkeyPatch) -> None:
    know(monkeypatch, WORDS)


def know(monkeypatch: pytest.MonkeyPatch, words: dict[str, int]) -> None:
    small = Ranker(fitted_weights(), vocabulary_of(words, set(words), []), None)
    monkeypatch.setattr(MeantGame, "open", lambda *_: small)


def test_covers_have_a_confidence_and_have_their_evidence(invoke: Invoke, write: Write):
    file = write(PUZZLE.to_json() | {"clue": "letters"})
    code, out, _ = invoke("solve", file, "--rank", "--json")
    value = json.loads(out)
    assert (code, value["status"], value["ask"]) == (0, "solved", "meant(100)")
    assert value["solver_version"] == f"{NAME}-alone"
    assert sum(one["confidence"] for one in value["solutions"]) == pytest.approx(1, abs=1e-4)
    first = value["solutions"][0]
    words = {first["spangram"]["word"], *(entry["word"] for entry in first["theme_words"])}
    assert set(first["words"]) == words
    assert all(terms for terms in first["words"].values())
    code, told, _ = invoke("solve", file, "--rank", "--svg", "board.svg")
    assert code == 0
    assert "covers ranked in" in told
    assert f"\n{sentence_of(ALONE)}" in told
    assert "\nRanked without the meaning of words and clue" in told
    assert "Why the first, against the mean of the list (+1: 2.7 times as likely, +2.3: ten" in told
    assert "each word, and how the words are placed" in told
    assert "nats" not in told
    assert "\nWhat each of its words adds:\n" in told
    for word in words:
        assert re.search(rf"\n  {word}: \w.* [+-]\d", told), "a word has no line"
    assert "━" in told.rpartition("Spangram")[0], "the likeliest cover is drawn"


def test_a_spangram_of_several_words_is_written_apart_in_explanations(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch
):
    know(monkeypatch, {"HOT": 500, "DOG": 520, "KITTEN": 400})
    _, told, _ = invoke("solve", write(board("HOTDOG KITTEN", 1).to_json()), "--rank")
    assert re.search(r"\n  HOT DOG: \w", told)
    assert "HOTDOG" not in told


def test_a_board_without_covers_says_so(invoke: Invoke, write: Write):
    code, told, _ = invoke("solve", write(board("XXXX XXXX", 1).to_json()), "--rank")
    assert (code, "No cover was found to rank." in told.splitlines()) == (2, True)


def test_other_rules_and_unknown_numbers_of_words_are_refused(invoke: Invoke, write: Write):
    code, _, err = invoke("solve", write(PUZZLE.to_json()), "--rank", "--rule", "crossing=yes")
    assert (code, "only supports Strands' own rules" in err) == (3, True)
    code, _, err = invoke("solve", write(Puzzle(board=PUZZLE.board).to_json()), "--rank")
    assert (code, "known number of theme words" in err) == (3, True)


def test_a_spent_budget_is_an_answer(invoke: Invoke, write: Write):
    """Given a millisecond, Then the answer says in one sentence what ran out."""
    file, budget = write(PUZZLE.to_json()), ("--seconds", "0.001")
    code, out, _ = invoke("solve", file, "--rank", "--json", *budget)
    value = json.loads(out)
    assert (code, value["status"], value["reason_code"]) == (4, "over_budget", "seconds")
    code, told, _ = invoke("solve", file, "--rank", *budget)
    assert code == 4
    assert re.search(r"^Over budget after .*: the budget of seconds ran out$", told, re.MULTILINE)


def test_a_play_that_cannot_start_within_the_budget_says_so(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NIGHTGRID_BUDGET_SECONDS", "0.000000001")
    code, _, err = invoke("play", write(PUZZLE.to_json()))
    assert (code, err) == (3, "nightgrid: ranking ended: the budget of seconds ran out\n")
