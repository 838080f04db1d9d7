"""`nightgrid play`: proposes words, reads answers, and reports bad ones."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from nightgrid.archive.games.plug import ALONE_SUFFIX
from nightgrid.archive.games.strands.ranking.meant import MeantGame
from nightgrid.archive.games.strands.ranking.plugged import ALONE
from nightgrid.archive.games.strands.ranking.ranker import Ranker
from nightgrid.archive.games.strands.ranking.weights import NAME, fitted_weights
from nightgrid.service.terminal.console import sentence_of
from nightgrid.solvers.strands.ranking.vocabulary import vocabulary_of

Invoke = Callable[..., tuple[int, str, str]]
Write = Callable[..., str]

WORDS = {"HOTDOGOG": 350, "CATS": 450, "SCAT": 250, "ACTS": 400, "CAST": 500}
PROMPTS: list[str] = []
"""The prompts."""
BOARD = {"board": ["HOTD", "GOGO", "CATS", "SCAT"], "theme_words": 2}


@pytest.fixture(autouse=True)
def small_ranker(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Ranker(fitted_weights(), vocabulary_of(WORDS, set(WORDS), []), None)
    monkeypatch.setattr(MeantGame, "open", lambda *_: small)


def say(monkeypatch: pytest.MonkeyPatch, truth: dict[str, str]) -> None:
    PROMPTS.clear()

    def answer(prompt: str) -> str:
        PROMPTS.append(prompt)
        if prompt.startswith("No ranked cover"):
            return ""
        return truth.get(prompt.split(maxsplit=1)[0], "n")

    monkeypatch.setattr("builtins.input", answer)


def test_a_board_is_played_by_a_person(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch
):
    say(monkeypatch, {"HOTDOGOG": "s", "CATS": "t", "SCAT": "T"})
    code, out, _ = invoke("play", write(BOARD))
    assert code == 0
    assert "Every word is found" in out


def test_play_names_the_ranker_and_the_lack_of_models(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch
):
    say(monkeypatch, {})
    out = invoke("play", write(BOARD))[1]
    assert f"Covers are ranked by {NAME}{ALONE_SUFFIX}.\n{sentence_of(ALONE)}\n" in out


def test_answers_that_no_cover_has_end_the_play(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch
):
    say(monkeypatch, {})
    code, out, _ = invoke("play", write(BOARD))
    assert code == 2
    assert "No ranked cover agrees with the answers" in out


def test_an_ended_input_is_reported(invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch):
    def end(_prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", end)
    code, _, err = invoke("play", write(BOARD))
    assert code == 3
    assert "the input ended; expected t, s, n, h or q as the answer" in err


@pytest.mark.parametrize("answers", [["q"], ["x", "nonsense", "Q"]])
def test_a_person_quits_with_q_wherever_it_is_asked_for_something(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch, answers: list[str]
):
    said = iter(answers)
    monkeypatch.setattr("builtins.input", lambda _prompt: next(said))
    file = write(BOARD)
    code, out, err = invoke("play", file, file)
    assert (code, err) == (130, "")
    assert out.endswith("Stopped with 0 of 3 words found, 0 wrong guesses and 0 hints.\n")
    assert out.count("Expected t, s") == sum(answer in ("x", "nonsense") for answer in answers)


def test_auto_needs_a_solution_and_json_needs_auto(invoke: Invoke, write: Write):
    code, _, err = invoke("play", write(BOARD), "--auto")
    assert code == 3
    assert "--auto needs a payload with its own solution" in err
    code, _, err = invoke("play", write(BOARD), "--json")
    assert code == 3
    assert "--json is given without --auto" in err


def test_auto_hears_the_answers_of_the_payload(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch
):
    from nightgrid.service.cli import play_strands

    truth = {"HOTDOGOG": "spangram", "CATS": "theme word", "SCAT": "theme word"}
    monkeypatch.setattr(play_strands, "_truth", lambda _published: truth)
    code, out, _ = invoke("play", write(BOARD), "--auto", "--json")
    assert code == 0
    played = json.loads(out)
    assert played["solved"] is True
    assert (played["ranker"], played["with_model"]) == (f"{NAME}{ALONE_SUFFIX}", False)
    heard = {one["word"]: one["answer"] for one in played["guesses"]}
    assert truth.items() <= heard.items()
    assert "theme word" in invoke("play", write(BOARD), "--auto")[1]


def test_a_hint_of_the_game_is_accepted(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch
):
    """Given a hint's cells after invalid ones, Then the words on them are proposed."""
    bad = ["x", "h 8,8", "h ²,1", "h", "n 1,1", ""]
    said = iter([*bad, "h 3,1 3,2 3,3 3,4", "t", "s", "t"])
    monkeypatch.setattr("builtins.input", lambda _prompt: next(said))
    code, out, _ = invoke("play", write(BOARD))
    assert out.count("Expected t, s") == len(bad)
    assert "1 hint" in out
    assert code in (0, 2)


def test_guesses_have_roles_and_cells(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch
):
    from nightgrid.service.cli import play_strands

    truth = {"HOTDOGOG": "spangram", "CATS": "theme word", "SCAT": "theme word"}
    monkeypatch.setattr(play_strands, "_truth", lambda _published: truth)
    file = write(BOARD)
    code, out, _ = invoke("play", file, file, "--auto", "--json")
    assert code == 0
    for line in out.splitlines():
        guesses = {one["word"]: one for one in json.loads(line)["guesses"]}
        # Each word of this board fills a row: any may be the spangram.
        for one in guesses.values():
            is_likelier = 2 * one["spangram_chance"] > one["chance"]
            assert one["role"] == ("spangram" if is_likelier else "theme word")
        assert sorted(guesses["HOTDOGOG"]["cells"]) == [[r, c] for r in (0, 1) for c in range(4)]
        assert json.loads(line)["hints"] == 0
