from __future__ import annotations

import copy
import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.archive.games.pips.payload import (
    LEVELS,
    MAX_LEVELS,
    read_payload,
    read_puzzles,
)
from nightgrid.archive.payloads.published import Fault, Published
from nightgrid.solvers.pips.check import check_solution
from tests.drawn import drawn

DATE = dt.date(2026, 1, 2)
MakePayload = Callable[..., dict[str, Any]]
Change = Callable[[dict[str, Any]], object]


def read(payload: dict[str, Any]) -> list[Published | Fault]:
    return read_payload(json.dumps(payload).encode("utf-8"), DATE)


def faults(found: list[Published | Fault]) -> list[tuple[str | None, str, str]]:
    return [(f.level, f.rule, f.place) for f in found if isinstance(f, Fault)]


def levels(found: list[Published | Fault]) -> list[str | None]:
    return [p.level for p in found if isinstance(p, Published)]


def test_a_whole_payload_is_read(make_payload: MakePayload) -> None:
    payload = make_payload(DATE)
    payload["hard"] |= {"backendId": "abc", "constructors": "A & B", "id": 7}
    found = read(payload)
    assert faults(found) == []
    hard = found[2]
    assert isinstance(hard, Published)
    assert (hard.date, hard.level, hard.source_id, hard.backend_id, hard.constructors) == (
        DATE,
        "hard",
        "7",
        "abc",
        "A & B",
    )
    assert hard.editor == payload["editor"]
    assert hard.solution is not None
    check_solution(hard.puzzle, hard.solution)
    assert sorted(hard.puzzle.dominoes) == sorted(
        (min(a, b), max(a, b)) for a, b in payload["hard"]["dominoes"]
    )


def test_turned_and_reordered_dominoes_are_the_same_puzzle_and_solution(
    make_payload: MakePayload,
) -> None:
    payload = make_payload(DATE)
    turned = copy.deepcopy(payload)
    for level in LEVELS:
        turned[level]["dominoes"] = [d[::-1] for d in turned[level]["dominoes"]][::-1]
        turned[level]["solution"] = [s[::-1] for s in turned[level]["solution"]][::-1]
        turned[level]["regions"].reverse()
    assert read(turned) == read(payload)


def drop(*path: Any) -> Change:
    def change(payload: dict[str, Any]) -> None:
        at = payload
        for key in path[:-1]:
            at = at[key]
        del at[path[-1]]

    return change


def put(value: Any, *path: Any) -> Change:
    def change(payload: dict[str, Any]) -> None:
        at = payload
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value

    return change


NULL_PUZZLE = {
    "id": 0,
    "backendId": "",
    "constructors": "",
    "dominoes": None,
    "regions": None,
    "solution": None,
}


@pytest.mark.parametrize(
    ("change", "rule", "place"),
    [
        (put(NULL_PUZZLE, "hard"), "null-puzzle", "hard"),
        (put(None, "hard"), "null-puzzle", "hard"),
        (drop("hard"), "missing-level", "hard"),
        (put([], "hard"), "not-an-object", "hard"),
        (drop("hard", "dominoes"), "missing-key", "hard.dominoes"),
        (put("sums", "hard", "regions", 0, "type"), "unknown-region-type", "hard.regions[0].type"),
        (put({}, "hard", "id"), "not-text", "hard.id"),
        (put(5, "hard", "backendId"), "not-text", "hard.backendId"),
        (put("x" * 10_000, "hard", "constructors"), "text-too-long", "hard.constructors"),
        (put("\ud800", "hard", "constructors"), "not-utf-8", "hard.constructors"),
        (put("none", "hard", "solution"), "not-a-list", "hard.solution"),
        (put([], "hard", "solution"), "solution-length", "hard.solution"),
        (put([[0, 0]], "hard", "solution", 2), "bad-placement", "hard.solution[2]"),
        (put([[0, 0], [0, -1]], "hard", "solution", 2), "bad-cell", "hard.solution[2][1]"),
        (
            put([[0, 0], [5, 5]], "hard", "solution", 2),
            "solution-not-neighbours",
            "hard.solution[2]",
        ),
        (
            put([[900, 0], [900, 1]], "hard", "solution", 2),
            "solution-off-board",
            "hard.solution[2]",
        ),
    ],
)
def test_a_broken_level_is_quarantined_and_the_others_are_kept(
    make_payload: MakePayload, change: Change, rule: str, place: str
) -> None:
    payload = make_payload(DATE)
    change(payload)
    # A number of 5,001 digits cannot even be written by default.
    text = json.dumps(payload) if rule != "number-too-large" else big_number_text(payload)
    found = read_payload(text.encode("utf-8"), DATE)
    assert levels(found) == ["easy", "medium"]
    assert faults(found) == [("hard", rule, place)]


def big_number_text(payload: dict[str, Any]) -> str:
    payload["hard"]["id"] = "@"
    return json.dumps(payload).replace('"@"', "1" + "0" * 5000)


@pytest.mark.parametrize("value", [None, "absent"])
def test_a_puzzle_without_official_solution_and_ids_is_complete(
    make_payload: MakePayload, value: str | None
) -> None:
    payload = make_payload(DATE)
    payload["editor"] = None
    for key in ("id", "constructors", "solution"):
        payload["hard"][key] = None
        if value == "absent":
            del payload["hard"][key]
    del payload["hard"]["backendId"]
    found = read(payload)
    assert faults(found) == []
    hard = found[2]
    assert isinstance(hard, Published)
    assert (hard.solution, hard.source_id, hard.backend_id, hard.editor) == (None,) * 4


def test_a_solution_that_contradicts_a_region_quarantines_the_puzzle(
    make_payload: MakePayload,
) -> None:
    payload = make_payload(DATE)
    for seed in range(50):
        payload = make_payload(DATE, seed)
        region = next((r for r in payload["easy"]["regions"] if r["type"] == "sum"), None)
        if region:
            region["target"] += 1
            break
    assert faults(read(payload)) == [("easy", "solution-breaks-region", "easy.solution")]


def test_a_payload_for_another_date_gives_no_puzzle(make_payload: MakePayload) -> None:
    payload = make_payload(DATE + dt.timedelta(days=1))
    assert faults(read(payload)) == [(None, "print-date-mismatch", "printDate")]
    assert levels(read(payload)) == []


@pytest.mark.parametrize(
    "value", ["2026-1-2", "2026-02-30", 20260102, None, "\uff12\uff10\uff12\uff16-01-02"]
)
def test_a_payload_without_a_readable_date_gives_no_puzzle(
    make_payload: MakePayload, value: object
) -> None:
    payload = make_payload(DATE) | {"printDate": value}
    found = read(payload)
    assert (faults(found), levels(found)) == ([(None, "bad-date", "printDate")], [])
    del payload["printDate"]
    assert levels(read(payload)) == ["easy", "medium", "hard"], "it is for the day of its name"


def test_a_truncated_payload_is_one_fault(make_payload: MakePayload) -> None:
    data = json.dumps(make_payload(DATE)).encode("utf-8")
    for end in range(1, len(data), 97):
        (found,) = read_payload(data[:end], DATE)
        assert isinstance(found, Fault)
        assert found.rule == "not-json"


def test_a_fault_outside_of_the_levels_affects_no_level(make_payload: MakePayload) -> None:
    found = read(make_payload(DATE) | {"editor": ["a"], "links": {"a": 1}})
    assert levels(found) == ["easy", "medium", "hard"]
    assert faults(found) == [(None, "not-text", "editor")]


def test_a_payload_with_a_level_given_twice_is_quarantined(make_payload: MakePayload) -> None:
    payload = make_payload(DATE)
    text = json.dumps(payload)[:-1] + f', "easy": {json.dumps(payload["easy"])}}}'
    found = read_payload(text.encode(), DATE)
    assert faults(found) == [(None, "duplicate-key", "easy")]


def test_a_further_level_is_kept_but_many_are_refused(make_payload: MakePayload) -> None:
    payload = make_payload(DATE)
    found = read(payload | {"expert": payload["easy"], "Bad name!": payload["easy"]})
    assert levels(found) == ["easy", "medium", "hard", "expert"]
    assert faults(found) == [(None, "bad-level-name", "Bad name!")]
    found = read(payload | {f"level-{i}": payload["easy"] for i in range(100)})
    assert len(levels(found)) == MAX_LEVELS
    assert faults(found) == [(None, "too-many-levels", "")]


def test_one_reader_serves_payloads_single_puzzles_and_canonical_json(
    make_payload: MakePayload,
) -> None:
    payload = make_payload(DATE)
    whole = read_puzzles(json.dumps(payload).encode(), "day.json")
    assert levels(whole) == list(LEVELS)
    hard = whole[2]
    assert isinstance(hard, Published)
    (single,) = read_puzzles(json.dumps(payload["hard"]).encode(), "hard.json")
    assert isinstance(single, Published)
    assert (single.puzzle, single.solution, single.date) == (hard.puzzle, hard.solution, None)
    (canonical,) = read_puzzles(json.dumps(hard.puzzle.to_json()).encode(), "-")
    assert canonical == Published(date=None, level=None, puzzle=hard.puzzle)
    (only,) = read_puzzles(json.dumps({"hard": payload["hard"]}).encode(), "part.json")
    assert isinstance(only, Published)
    assert only.level == "hard"


@pytest.mark.parametrize(
    ("data", "rule", "place"),
    [
        (b"", "empty-body", "byte 0"),
        (b"{}", "no-puzzle", ""),
        (b'{"printDate": "2026-01-01"}', "no-puzzle", ""),
        (b'{"game": "chess", "dominoes": [], "regions": []}', "wrong-game", "game"),
        (b'{"dominoes": [[1, 2]]}', "missing-key", "regions"),
        (b'{"dominoes": [[1, 2]], "regions": [', "not-json", "line 1, column 36"),
        (b'{"dominoes": null, "regions": null}', "null-puzzle", ""),
    ],
)
def test_bad_input_of_the_command_line_is_one_fault_that_names_it(
    data: bytes, rule: str, place: str
) -> None:
    (fault,) = read_puzzles(data, "input.json")
    assert isinstance(fault, Fault)
    assert (fault.rule, fault.place) == (rule, place)
    assert "input.json" in str(fault)


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 10**25)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["sum", "empty", "2026-01-02", "dominoes", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["id", "dominoes", "regions", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [path] * bool(path) + [p for key, item in inner for p in places(item, (*path, key))]


def assert_every_level_ends_somewhere(found: list[Published | Fault]) -> None:
    whole = any(isinstance(item, Fault) and item.level is None for item in found)
    for level in LEVELS:
        ends = sum(item.level == level for item in found)
        assert ends == 1 or (whole and ends == 0)
    # What goes into the lake must be what Arrow can hold.
    pa.array([text for f in found if isinstance(f, Fault) for text in (f.place, f.message)])


NO_JSON = ("not-a-number", "number-too-large")
"""Rules by which a payload is refused as a whole, though Python writes such values."""


@pytest.mark.slow
@settings(max_examples=drawn(300), deadline=None)
@given(data=st.data(), seed=st.integers(0, 20))
def test_a_change_inside_one_level_never_touches_another(
    data: st.DataObject, seed: int, make_payload: MakePayload
) -> None:
    payload = make_payload(DATE, seed)
    before = read(payload)
    level = data.draw(st.sampled_from(LEVELS))
    for _ in range(data.draw(st.integers(1, 3))):
        if not isinstance(payload.get(level), dict | list):
            break
        spots = places(payload[level], (level,))
        path = data.draw(st.sampled_from(spots))
        change = put(data.draw(ANYTHING), *path) if data.draw(st.booleans()) else drop(*path)
        change(payload)
    found = read(payload)
    assert_every_level_ends_somewhere(found)
    if any(isinstance(item, Fault) and item.rule in NO_JSON for item in found):
        return
    assert [p for p in found if p.level not in (level, None)] == [
        p for p in before if p.level != level
    ]


@pytest.mark.slow
@settings(max_examples=drawn(300), deadline=None)
@given(data=st.data(), seed=st.integers(0, 20))
def test_no_change_of_any_bytes_raises_or_loses_a_level(
    data: st.DataObject, seed: int, make_payload: MakePayload
) -> None:
    body = bytearray(json.dumps(make_payload(DATE, seed)).encode("utf-8"))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(body)))
        until = min(len(body), at + data.draw(st.sampled_from([0, 1, 2, 30, 10**6])))
        pieces = [b"", b"[" * 5000, b"NaN", b'"', b"\\", b"\xff", b"}", b"9" * 5000, b"null", b","]
        body[at:until] = data.draw(st.sampled_from(pieces) | st.binary(max_size=4))
    assert_every_level_ends_somewhere(read_payload(bytes(body), DATE))
    assert read_puzzles(bytes(body), "x")


@settings(max_examples=drawn(200), deadline=None)
@given(ANYTHING | st.dictionaries(st.sampled_from([*LEVELS, "printDate", "editor"]), ANYTHING))
def test_any_json_value_ends_as_faults(value: Any) -> None:
    found = read_payload(json.dumps(value).encode("utf-8"), DATE)
    assert_every_level_ends_somewhere(found)
    assert all(isinstance(item, Fault) for item in found)
