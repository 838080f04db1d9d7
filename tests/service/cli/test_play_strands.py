"""`nightgrid play`: words are proposed, answers are heard, and bad ones are told."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from nightgrid.archive.games.plug import ALONE_SUFFIX
from nightgrid.archive.games.strands.playing.play import Answer, Play
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
"""What a person was asked."""
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


def heard_of(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, frozenset[int] | None]]:
    """Note what a play hears."""
    told: list[tuple[str, str, frozenset[int] | None]] = []
    whole = Play.hear

    def hear(self: Play, word: str, answer: Answer, cells: frozenset[int] | None = None) -> None:
        told.append((word, answer, cells))
        whole(self, word, answer, cells)

    monkeypatch.setattr(Play, "hear", hear)
    return told


def test_an_answer_says_that_the_word_lies_on_the_proposed_cells(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch
):
    """Given t without cells, Then the play hears those of the proposal, as with --auto."""
    told = heard_of(monkeypatch)
    say(monkeypatch, {"HOTDOGOG": "s", "CATS": "t", "SCAT": "T"})
    assert invoke("play", write(BOARD))[0] == 0
    cells = {word: at for word, answer, at in told if answer != "not in the list"}
    assert cells["HOTDOGOG"] == frozenset(range(8))
    for word in ("CATS", "SCAT"):
        places = " ".join(f"{cell // 4 + 1},{cell % 4 + 1}" for cell in sorted(cells[word] or ()))
        assert any(word in prompt and places in prompt for prompt in PROMPTS)


def test_cells_after_an_answer_say_where_the_word_lies(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch
):
    told = heard_of(monkeypatch)
    no_cell = "is no cell; expected row,column from 1,1 to 2,4."
    bad = {
        "t 1,1": "1 cell for",
        "n 1,1 1,2 1,3 1,4": "n stands alone: expected no cells after it.",
        "t 9,9 1,2 1,3 1,4": f"'9,9' {no_cell}",
        "t 1,1 1,2 nonsense": f"'nonsense' {no_cell}",
        "t 1,1 1,1 1,2 1,3": "The cell 1,1 stands there twice.",
        "t ²,1": f"'²,1' {no_cell}",
        "h": "Expected t for a theme word",
        "t nonsense": f"'nonsense' {no_cell}",
        "": "Expected t for a theme word",
    }
    answers = iter([*bad, "q"])
    monkeypatch.setattr("builtins.input", lambda _prompt: next(answers))
    out = invoke("play", write({"board": ["CATS", "SCAT"], "theme_words": 1}))[1]
    lines = iter(out.splitlines())
    for sentence in bad.values():
        assert any(line.startswith(sentence) for line in lines), sentence
    assert told == []
    answers = iter(["t 2,1 2,2 2,3 2,4", "q"])
    invoke("play", write({"board": ["CATS", "SCAT"], "theme_words": 1}))
    assert [(answer, cells) for _, answer, cells in told] == [
        ("theme word", frozenset({4, 5, 6, 7}))
    ]


def test_play_says_what_ranks_and_that_models_took_no_part(
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


def test_answers_and_hints_are_taken_back_one_by_one(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch
):
    """Given wrong answers until no cover is left, Then the board is played from its beginning."""
    truth = {"HOTDOGOG": "s", "CATS": "t", "SCAT": "t"}
    prompts: list[str] = []
    wrong = 0

    def answer(prompt: str) -> str:
        nonlocal wrong
        prompts.append(prompt)
        if len(prompts) == 1:
            return "u"
        if len(prompts) == 2:
            return "h 1,1"
        if not any(each.startswith("No ranked cover") for each in prompts[3:]):
            wrong += not prompt.startswith("No ranked cover")
            return "u" if prompt.startswith("No ranked cover") else "n"
        if wrong > 0:
            wrong -= 1
            return "u"
        return truth[prompt.split(maxsplit=1)[0]]

    monkeypatch.setattr("builtins.input", answer)
    code, out, _ = invoke("play", write(BOARD))
    assert out.count("Nothing was answered yet.") == 1
    first = prompts[0]
    assert prompts[2].startswith("No ranked cover"), "no word lies on one cell"
    assert prompts.count(first) >= 3, "it is proposed after the hint, and after all answers"
    assert code == 0
    assert "Every word is found, with 0 wrong guesses and 0 hints." in out


def test_an_input_that_ends_is_told(invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch):
    def end(_prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", end)
    code, _, err = invoke("play", write(BOARD))
    assert code == 3
    assert "the input ended; expected t, s, n, h, u or q as the answer" in err


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
    assert out.count("Expected t for") == sum(answer in ("x", "nonsense") for answer in answers)


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


def test_a_hint_of_the_game_is_heard(invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch):
    """Given a hint's cells after bad ones, Then the words on them are proposed."""
    cells = "3,1 3,2 3,3 3,4"
    said = iter(["x", "h 8,8", f"h {cells}", "u", f"h {cells}", "t", "s", "t"])
    monkeypatch.setattr("builtins.input", lambda _prompt: next(said))
    code, out, _ = invoke("play", write(BOARD))
    assert "Expected t for a theme word" in out
    assert "'8,8' is no cell; expected row,column from 1,1 to 4,4.\n" in out
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
        # Rows of this board are as wide as it is: any of its words may be the spangram.
        for one in guesses.values():
            is_likelier = 2 * one["spangram_chance"] > one["chance"]
            assert one["role"] == ("spangram" if is_likelier else "theme word")
        assert sorted(guesses["HOTDOGOG"]["cells"]) == [[r, c] for r in (0, 1) for c in range(4)]
        assert json.loads(line)["hints"] == 0
