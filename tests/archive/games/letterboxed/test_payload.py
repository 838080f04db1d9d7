"""Letter Boxed payloads: their contents, and the rule and place of each contradiction."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.archive.games import reader
from nightgrid.archive.games.letterboxed.payload import FIRST_DATE, read_payload, read_puzzles
from nightgrid.archive.payloads.published import Fault, Published
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.solution import Chain
from tests.archive.games.letterboxed.letter_days import FIRST, OFFICIAL, SIDES, WORDS, letter_day
from tests.drawn import drawn

ADDED_BY_THE_PAGE = (
    "expiration", "date", "yesterdaysSolution", "yesterdaysSides", "isFree", "editorImage",
)  # fmt: skip


def read(value: Any) -> Published | Fault:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    (found,) = read_payload(data, FIRST)
    return found


def puzzle_of(value: Any) -> Published:
    found = read(value)
    assert isinstance(found, Published), str(found)
    return found


def fault(**changes: Any) -> tuple[str, str]:
    found = read(letter_day(**changes))
    assert isinstance(found, Fault)
    assert found.message
    assert found.level == "daily"
    return found.rule, found.place


def test_a_whole_payload_is_a_puzzle_with_its_dictionary_answer_and_par() -> None:
    found = puzzle_of(letter_day())
    assert found.puzzle == Puzzle(sides=SIDES, dictionary=WORDS)
    assert found.solution == Chain(words=OFFICIAL)
    assert (found.date, found.level) == (FIRST, "daily")
    assert (found.source_id, found.editor, found.par) == ("7000", "nightgrid", 4)
    assert json.loads(found.yesterday or "") == {
        "sides": letter_day()["yesterdaysSides"],
        "solution": letter_day()["yesterdaysSolution"],
    }


def test_the_dated_payload_is_the_same_puzzle() -> None:
    whole = letter_day()
    dated = {key: whole[key] for key in whole if key not in ADDED_BY_THE_PAGE}
    found = puzzle_of(dated | {"something": {"new": [1, 2]}})
    assert found.puzzle == puzzle_of(whole).puzzle
    assert found.yesterday is None


@pytest.mark.parametrize(
    "around",
    [
        "window.gameData = {};",
        "  window.gameData={}\n;window.other = 1;",
        '<!doctype html><script>a = "{[";</script><script>window.gameData = {}</script><p>}',
    ],
)
def test_a_script_and_a_page_are_read_like_the_object_in_them(around: str) -> None:
    text = json.dumps(letter_day(editor='Ann "{" \\ O\'Hara </b>'))
    data = around.replace("{}", text, 1).encode()
    assert puzzle_of(data) == puzzle_of(text.encode())
    (found,) = read_puzzles(data, "page.html")
    assert isinstance(found, Published)
    assert found.puzzle == puzzle_of(text.encode()).puzzle


def test_a_page_without_the_payload_is_one_fault() -> None:
    found = read(b"<html><body>not today</body></html>")
    assert isinstance(found, Fault)
    assert (found.rule, found.place, found.level) == ("no-game-data", "", None)
    cut = read(b"<script>window.gameData = " + json.dumps(letter_day()).encode()[:200])
    assert isinstance(cut, Fault)


def test_every_contradiction_is_named_with_its_place() -> None:
    assert fault(sides=None) == ("null-puzzle", "sides")
    assert fault(sides="TAL") == ("sides-type", "sides")
    assert fault(sides=["TAL", "ERD", "NIP"]) == ("board-size", "sides")
    assert fault(sides=["TA", "LERD", "NIP", "YCO"]) == ("board-size", "sides")
    assert fault(sides=["TAL", "ERD", "NIP", "YCT"]) == ("letter-twice", "sides")
    assert fault(dictionary=None) == ("no-dictionary", "dictionary")
    assert fault(dictionary=[]) == ("no-dictionary", "dictionary")
    assert fault(dictionary=["RADICLE", 5]) == ("dictionary-type", "dictionary")
    assert fault(par="four") == fault(par=0) == fault(par=13) == fault(par=True)
    assert fault(par=2.5) == ("bad-par", "par")
    assert fault(game="pips") == ("wrong-game", "game")
    assert fault(id=["x"])[1] == "id"
    assert fault(editor=5)[1] == "editor"


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("ON", "fewer than 3 letters"),
        ("ZERO", "'Z', which is not on the board"),
        ("TALE", "two letters of one side in a row"),
    ],
)
def test_a_word_that_cannot_be_played_says_that_the_dictionary_is_another_boards(
    word: str, why: str
) -> None:
    found = read(letter_day(dictionary=[*WORDS, word, word]))
    assert isinstance(found, Fault)
    assert (found.rule, found.place) == ("word-not-playable", f"dictionary[{len(WORDS)}]")
    assert why in found.message
    assert "1 more words" in found.message


def test_the_official_answer_must_be_a_solution_with_words_of_the_dictionary() -> None:
    assert fault(ourSolution="RADICLE") == ("solution-type", "ourSolution")
    assert fault(ourSolution=[]) == ("solution-type", "ourSolution")
    assert fault(ourSolution=["RADICLE", "ENTROPIC"]) == ("solution-word", "ourSolution[1]")
    assert fault(ourSolution=["ENTROPY", "RADICLE"]) == ("solution-wrong", "ourSolution")
    assert fault(ourSolution=["CANDLE", "ENTROPY"]) == ("solution-wrong", "ourSolution")
    assert puzzle_of(letter_day(ourSolution=None)).solution is None


def test_facts_about_the_previous_day_never_affect_the_board() -> None:
    found = puzzle_of(letter_day(yesterdaysSides=7, yesterdaysSolution=["A" * 10_000]))
    assert json.loads(found.yesterday or "") == {"sides": None, "solution": None}
    found = puzzle_of(letter_day(yesterdaysSides=None, yesterdaysSolution=None))
    assert found.yesterday is None


def test_a_payload_for_another_day_is_refused() -> None:
    other = read(letter_day(number=1))
    assert isinstance(other, Fault)
    assert other.rule == "print-date-mismatch"


def test_people_give_boards_of_any_shape_with_or_without_words() -> None:
    boards: list[Any] = [
        ["AB", "CA", "B"],
        {"sides": ["AB", "CA", "B"], "dictionary": ["ABC", "ZZZ"]},
        {"game": "letterboxed", "sides": [["A", "B"], "CA", "B"]},
    ]
    for value in boards:
        (found,) = read_puzzles(json.dumps(value).encode(), "mine")
        assert isinstance(found, Published), str(found)
        assert found.puzzle.sides == ("AB", "CA", "B")
    (wrong,) = read_puzzles(json.dumps(letter_day(ourSolution=["ONE"])).encode(), "mine")
    assert isinstance(wrong, Fault)
    assert "remove ourSolution to solve the board alone (in mine)" in wrong.message


def test_the_reader_is_found_by_its_game() -> None:
    assert reader("letterboxed").FIRST_DATE == FIRST_DATE


@settings(max_examples=drawn(60), deadline=None)
@given(st.binary(max_size=80), st.integers(0, 900))
def test_nothing_makes_the_reader_raise(noise: bytes, at: int) -> None:
    whole = json.dumps(letter_day()).encode()
    for data in (noise, whole[:at] + noise + whole[at:], b"<p>window.gameData = {" + noise):
        for found in (*read_payload(data, FIRST), *read_puzzles(data, "noise")):
            assert isinstance(found, Published | Fault)


@pytest.mark.slow
def test_every_published_payload_is_sound(published: Path) -> None:
    pars = set()
    days = sorted((published / "letterboxed").glob("*.json"))
    for path in days:
        (found,) = read_payload(path.read_bytes(), dt.date.fromisoformat(path.stem))
        assert isinstance(found, Published), f"{path.name}: {found}"
        assert len(found.solution.words) == 2
        assert found.yesterday is not None
        pars.add(found.par)
    assert (len(days), pars) == (332, {4, 5, 6})
