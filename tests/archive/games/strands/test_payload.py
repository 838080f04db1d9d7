"""Strands payloads: their contents, and the rule and place of each contradiction."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.archive.games.strands.payload import read_payload, read_puzzles
from nightgrid.archive.games.strands.random_boards import THEMES
from nightgrid.archive.payloads.published import Fault, Published
from nightgrid.solvers.strands.generate import generate, to_payload
from nightgrid.solvers.strands.solution import Cover
from tests.drawn import drawn

DATE = dt.date(2026, 1, 1)
PUZZLE, COVER = generate("".join(THEMES[0].parts), THEMES[0].theme_words, DATE.toordinal())
WHOLE = to_payload(DATE, PUZZLE, COVER, THEMES[0].clue)
V2_ONLY = ("status", "themeWords", "spangramCoords", "constructors")


def payload(**changes: Any) -> dict[str, Any]:
    return json.loads(json.dumps(WHOLE)) | changes


def read(value: Any) -> Published | Fault:
    (found,) = read_payload(json.dumps(value).encode(), DATE)
    return found


def puzzle_of(value: Any) -> Published:
    found = read(value)
    assert isinstance(found, Published), str(found)
    return found


def identity(found: Published) -> Any:
    assert isinstance(found.solution, Cover)
    return found.solution.identity


def test_whole_payload_is_a_puzzle_with_its_answer() -> None:
    found = puzzle_of(WHOLE)
    assert found.puzzle == PUZZLE
    assert found.puzzle.theme_words == 6
    assert found.solution == COVER
    assert (found.date, found.level) == (DATE, "daily")
    assert (found.clue, found.editor) == ("Take an umbrella", "nightgrid generator")
    assert found.source_id == str(DATE.toordinal())


def test_older_version_is_the_same_puzzle_with_the_same_answer() -> None:
    found = puzzle_of({key: value for key, value in WHOLE.items() if key not in V2_ONLY})
    assert found.puzzle == PUZZLE
    assert found.constructors is None
    assert identity(found) == COVER.identity
    assert found.solution.theme_words == COVER.theme_words


@pytest.mark.parametrize("nulls", [
    ["spangramCoords"], ["themeCoords"], ["themeCoords", "spangramCoords"], ["themeWords"],
    ["themeWords", "spangramCoords"],
])  # fmt: skip
def test_nulls_lose_nothing_that_the_rest_determines(nulls: list[str]) -> None:
    found = puzzle_of(payload(**dict.fromkeys(nulls)))
    assert found.puzzle == PUZZLE
    assert identity(found) == COVER.identity


def test_accepted_words_begin_with_an_answer_that_nothing_else_names() -> None:
    words = [entry.word for entry in COVER.theme_words]
    nulls: dict[str, Any] = {"themeWords": None, "themeCoords": None, "spangramCoords": None}
    found = puzzle_of(payload(**nulls, solutions=[*words, "WEATHERREPORT", "ABLE", "BETTER"]))
    assert identity(found) == COVER.identity
    found = puzzle_of(payload(**nulls, solutions=["ABLE", "WEATHERREPORT", "ZEBRA"]))
    assert (found.solution, found.puzzle.theme_words) == (None, None)
    found = puzzle_of(payload(**nulls))
    assert (found.solution, found.puzzle.board) == (None, PUZZLE.board)


def test_words_that_do_not_determine_their_cells_keep_their_names_only() -> None:
    board = ["ABABAB", "BABABA", "AAAAAA", "BBBBBB", "CCCCCC", "DDDDDD", "EEEEEE", "FFFFFF"]
    value = payload(
        startingBoard=board,
        spangram="CCCCCC",
        themeWords=["ABABAB", "BABABA", "AAAAAA", "BBBBBB", "DDDDDD", "EEEEEE", "FFFFFF"],
        themeCoords=None,
        spangramCoords=None,
    )
    found = puzzle_of(value)
    assert all(entry.path == () for entry in found.solution.entries)
    assert {entry.word for entry in found.solution.entries} == {
        value["spangram"], *value["themeWords"],
    }  # fmt: skip


def test_fields_of_bonus_puzzles_and_unknown_ones_change_nothing() -> None:
    found = read(
        payload(title="Bonus", themeColors=["#fff"], themeEmojis=["x"], somethingNew={"a": [1]})
    )
    assert found == read(WHOLE)


def _moved(cell: list[int]) -> Callable[[dict[str, Any]], None]:
    def change(value: dict[str, Any]) -> None:
        value["themeCoords"]["CLOUD"][2] = cell

    return change


def _rename(value: dict[str, Any]) -> None:
    value["themeCoords"]["CLOUT"] = value["themeCoords"].pop("CLOUD")


def with_digit(row: int) -> list[str]:
    board = list(PUZZLE.board)
    board[row] = board[row][:2] + "5" + board[row][3:]
    return board


FAULTS: list[tuple[str, str, dict[str, Any] | Callable[[dict[str, Any]], None]]] = [
    ("print-date-mismatch", "printDate", {"printDate": "2026-01-02"}),
    ("bad-date", "printDate", {"printDate": "tomorrow"}),
    ("null-puzzle", "startingBoard", {"startingBoard": None}),
    ("board-type", "startingBoard", {"startingBoard": "WTELZZ"}),
    ("board-size", "startingBoard", {"startingBoard": list(PUZZLE.board[:7])}),
    ("row-length", "startingBoard[3]", {"startingBoard": [*PUZZLE.board[:3], "ABC"]}),
    ("letter", "startingBoard[3]", {"startingBoard": with_digit(3)}),
    ("wrong-game", "game", {"game": "pips"}),
    ("not-a-list", "themeWords", {"themeWords": "CLOUD"}),
    ("not-a-word", "themeWords[0]", {"themeWords": ["cloud"]}),
    ("not-text", "themeWords[0]", {"themeWords": [7]}),
    ("not-a-word", "spangram", {"spangram": "WEATHER REPORT"}),
    ("word-twice", "themeWords", {"themeWords": ["CLOUD", "CLOUD"], "themeCoords": None}),
    ("word-twice", "themeWords", {"themeWords": ["WEATHERREPORT"], "themeCoords": None}),
    ("theme-words-differ", "themeCoords", {"themeWords": ["CLOUD"]}),
    ("theme-words-differ", "themeCoords", _rename),
    ("not-an-object", "themeCoords", {"themeCoords": [[0, 0]]}),
    ("bad-cell", "themeCoords.CLOUD[2]", _moved([8, 0])),
    ("path-letter", "themeCoords.CLOUD[2]", _moved([0, 0])),
    ("path-length", "spangramCoords", {"spangramCoords": WHOLE["spangramCoords"][:-1]}),
    ("missing-spangram", "spangram", {"spangram": None}),
    ("letter-count", "themeWords", {
        "themeWords": ["CLOUD"], "themeCoords": None, "spangramCoords": None,
    }),
    ("letters-differ", "themeWords", {
        "themeWords": ["CLOUT", "STORM", "BREEZE", "DRIZZLE", "THUNDER", "SLEET"],
        "themeCoords": None, "spangramCoords": None,
    }),
    ("words-do-not-fit", "themeWords", {
        # The same letters in an order in which they are not adjacent.
        "themeWords": ["CDULO", "STRMO", "BREEZE", "DRIZZLE", "THUNDER", "SLEET"],
        "themeCoords": None, "spangramCoords": None,
    }),
    ("not-text", "clue", {"clue": 7}),
    ("text-too-long", "editor", {"editor": "x" * 300}),
]  # fmt: skip


@pytest.mark.parametrize("odd", ["5", "\u0663", "\u00bd", "."])
def test_an_invalid_letter_is_refused_with_its_cell(odd: str) -> None:
    rows = ["ABC", f"D{odd}F"]
    for data in (rows, {"board": rows}, {"startingBoard": rows}):
        (fault,) = read_puzzles(json.dumps(data).encode(), "own.json")
        assert isinstance(fault, Fault)
        assert fault.rule == "letter"
        assert fault.message == f"{odd!r} at column 1; expected a letter (in own.json)"
        assert fault.place.endswith("oard[1]")


@pytest.mark.parametrize(("rule", "place", "change"), FAULTS)
def test_contradiction_is_a_fault_with_rule_and_place(rule: str, place: str, change: Any) -> None:
    value = payload()
    if callable(change):
        change(value)
    else:
        value |= change
    found = read(value)
    assert isinstance(found, Fault)
    assert (found.rule, found.place) == (rule, place)
    assert found.message


def test_steps_that_are_invalid_and_cells_used_twice_are_faults() -> None:
    rows = ["ABCDEF", "GHIJKL", "MNOPQR", "STUVWX", "ABCDEF", "GHIJKL", "MNOPQR", "STUVWX"]
    words = {
        word: [[r, c] for c in range(6)]
        for r, word in enumerate(rows[:4])
    }  # fmt: skip
    base = {"printDate": "2026-01-01", "startingBoard": rows, "spangram": "STUVWXABCDEF"}
    # The word is spelled, but its last three letters are those of the lower half.
    far = words | {"ABCDEF": [[0, 0], [0, 1], [0, 2], [4, 3], [4, 4], [4, 5]]}
    found = read(base | {"themeCoords": far})
    assert isinstance(found, Fault)
    assert (found.rule, found.place) == ("path-step", "themeCoords.ABCDEF[3]")
    # Two cells apart is too far as well, along a row, a column or both.
    for r, c in ((0, 3), (2, 1), (2, 3)):
        near = [list("AB......"), *(list("........") for _ in range(2))]
        near[r][c] = "C"
        board = ["".join(row).replace(".", "Z")[:6] for row in near] + rows[3:]
        value = base | {"startingBoard": board, "themeCoords": {"ABC": [[0, 0], [0, 1], [r, c]]}}
        found = read(value)
        assert isinstance(found, Fault)
        assert (found.rule, found.place) == ("path-step", "themeCoords.ABC[2]")
    twice = {"ABCDEF": words["ABCDEF"], "ABC": [[0, 0], [0, 1], [0, 2]]}
    found = read(base | {"themeCoords": twice})
    assert isinstance(found, Fault)
    assert (found.rule, found.place) == ("cell-twice", "themeCoords.ABC[0]")


def test_spangram_must_touch_two_opposite_sides() -> None:
    value = payload()
    words = {entry.word: [list(c) for c in entry.path] for entry in COVER.entries}
    value |= {"spangram": "CLOUD", "spangramCoords": words.pop("CLOUD"), "themeCoords": words}
    value["themeWords"] = list(words)
    found = read(value)
    assert isinstance(found, Fault)
    assert (found.rule, found.place) == ("spangram-sides", "spangramCoords")
    value |= {"spangramCoords": None}
    found = read(value)
    assert isinstance(found, Fault)
    assert found.rule == "words-do-not-fit"


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (b"<?xml version='1.0'?><Error><Code>NoSuchKey</Code></Error>", "xml-answer"),
        (b"nonsense", "not-json"),
        (b"{}", "null-puzzle"),
    ],
)
def test_body_that_is_not_a_payload_is_one_fault(body: bytes, rule: str) -> None:
    (found,) = read_payload(body, DATE)
    assert isinstance(found, Fault)
    assert found.rule == rule


@settings(max_examples=drawn(200), deadline=None)
@given(st.recursive(
    st.none() | st.booleans() | st.integers(-2, 60) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
), st.sampled_from(sorted(WHOLE)))  # fmt: skip
def test_no_value_of_any_field_raises(value: Any, key: str) -> None:
    found = read(payload(**{key: value}))
    assert isinstance(found, Published | Fault)


@settings(max_examples=drawn(200), deadline=None)
@given(
    at=st.integers(0, len(json.dumps(WHOLE)) - 1),
    what=st.binary(max_size=3),
    gone=st.integers(0, 40),
)
def test_no_damaged_body_raises(at: int, what: bytes, gone: int) -> None:
    body = json.dumps(WHOLE).encode()
    for found in read_payload(body[:at] + what + body[at + gone :], DATE):
        assert isinstance(found, Published | Fault)


def test_board_that_fits_its_words_in_countless_ways_is_read_all_the_same() -> None:
    words = ["A" * 13, "A" * 11, "A" * 8, "A" * 4]
    nulls: dict[str, Any] = {"themeCoords": None, "spangramCoords": None}
    board = ["AAAAAA"] * 8
    found = puzzle_of(payload(startingBoard=board, spangram="A" * 12, themeWords=words, **nulls))
    assert found.puzzle.theme_words == 4
    assert all(entry.path == () for entry in found.solution.entries)


@pytest.mark.archive
def test_bare_words_determine_the_cells_of_every_board(published: Path) -> None:
    for path in sorted(published.glob("strands/*.json")):
        date = dt.date.fromisoformat(path.stem)
        value = json.loads(path.read_bytes())
        bare = value | {"themeCoords": None, "spangramCoords": None}
        (whole,) = read_payload(path.read_bytes(), date)
        (placed,) = read_payload(json.dumps(bare).encode(), date)
        assert isinstance(whole, Published)
        assert isinstance(placed, Published)
        assert identity(whole) == identity(placed)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(PUZZLE.to_json()),
        json.dumps({"board": PUZZLE.board, "theme_words": 6}),
        json.dumps({key: WHOLE[key] for key in ("startingBoard", "themeWords", "spangram")}),
        json.dumps(WHOLE),
    ],
)
def test_doors_take_payloads_and_boards(text: str) -> None:
    (found,) = read_puzzles(text.encode(), "board.json")
    assert isinstance(found, Published)
    assert found.puzzle == PUZZLE


def test_doors_take_a_list_of_rows_of_any_size() -> None:
    (found,) = read_puzzles(b' ["abc", "def"]', "rows.json")
    assert isinstance(found, Published)
    assert found.puzzle.board == ("ABC", "DEF")
    assert found.puzzle.theme_words is None


@pytest.mark.parametrize("text", ["[", "[1]", "[]", '["AB", "C"]', '["A B"]', "[" * 100_000])
def test_doors_name_the_input_that_is_not_a_board(text: str) -> None:
    (found,) = read_puzzles(text.encode(), "rows.json")
    assert isinstance(found, Fault)
    assert "(in rows.json)" in str(found)


def test_doors_say_how_to_solve_a_board_whose_answer_is_wrong() -> None:
    value = payload(spangramCoords=WHOLE["spangramCoords"][:-1])
    (found,) = read_puzzles(json.dumps(value).encode(), "board.json")
    assert "remove spangram, themeWords, themeCoords, spangramCoords" in str(found)


@pytest.mark.archive
def test_every_payload_of_the_archive_is_a_puzzle_with_a_whole_answer(
    published: Path,
) -> None:
    paths = sorted(published.glob("strands/*.json"))
    paths += sorted(published.glob("strands-v1/*.json"))
    assert len(paths) == 680
    for path in paths:
        (found,) = read_payload(path.read_bytes(), dt.date.fromisoformat(path.stem))
        assert isinstance(found, Published), f"{path.name}: {found}"
        cells = [cell for entry in found.solution.entries for cell in entry.path]
        assert len(cells) == len(set(cells)) == found.puzzle.cell_count


@pytest.mark.archive
def test_both_versions_of_a_date_are_one_puzzle(published: Path) -> None:
    dates = [path.name for path in sorted(published.glob("strands-v1/*.json"))]
    assert dates
    for name in dates:
        date = dt.date.fromisoformat(name.removesuffix(".json"))
        (old,) = read_payload((published / "strands-v1" / name).read_bytes(), date)
        (new,) = read_payload((published / "strands" / name).read_bytes(), date)
        assert isinstance(old, Published)
        assert isinstance(new, Published)
        assert old.puzzle == new.puzzle
        assert identity(old) == identity(new)
