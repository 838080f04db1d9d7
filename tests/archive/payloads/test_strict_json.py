"""Strict JSON: valid and refused texts."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightgrid.archive.payloads import strict_json
from nightgrid.archive.payloads.strict_json import looks_like, read_members, shown
from nightgrid.solvers.errors import InvalidPuzzleError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)
DEEP = 100_000


def refusal(data: bytes) -> InvalidPuzzleError:
    with pytest.raises(InvalidPuzzleError) as error:
        read_members(data)
    return error.value


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=6), JSON, max_size=5), st.sampled_from([None, 1]))
def test_all_that_json_writes_is_read_back(value: dict[str, Any], indent: int | None) -> None:
    data = json.dumps(value, indent=indent).encode("ascii")
    assert read_members(data) == value


@given(st.binary(max_size=40) | st.text('{}[]",:0 a\\', max_size=30).map(str.encode))
def test_any_bytes_end_as_values_or_faults(data: bytes) -> None:
    try:
        value = json.loads(data.decode("utf-8"))
    except ValueError:
        value = None
    if not isinstance(value, dict):
        refusal(data)
    else:
        with contextlib.suppress(InvalidPuzzleError):
            assert read_members(data) == value


@pytest.mark.parametrize(
    ("data", "rule", "says"),
    [
        (b" \n", "empty-body", "byte 0: expected a JSON object, got nothing"),
        (b"[" * DEEP, "too-deep", "lists and objects are nested too deeply"),
        (b'{"a": ' + b'{"x":' * DEEP, "too-deep", "lists and objects are nested too deeply"),
        (b"\xef\xbb\xbf{}", "byte-order-mark", "byte 0: the text starts with a byte order mark"),
        (b'{"a": "\xff"}', "not-utf-8", "byte 7: the body is not UTF-8"),
        (b"[]", "not-an-object", "line 1, column 1: expected a JSON object, got a list"),
        (b"-1.5", "not-an-object", "line 1, column 1: expected a JSON object, got a number"),
        (b"null", "not-an-object", "line 1, column 1: expected a JSON object, got null"),
        (
            b"<html></html>",
            "not-json",
            "line 1, column 1: expected a JSON object, got '<html></html'",
        ),
        (b'\n{"a" 1}', "not-json", "line 2, column 6: expecting ':' delimiter, got '1}'"),
        (b'{"a": 1}\nx', "not-json", "line 2, column 1: extra data, got 'x'"),
        (
            b'{"a": 1',
            "not-json",
            "line 1, column 8: expecting ',' delimiter, but the text ends",
        ),
    ],
)
def test_an_invalid_object_is_refused_with_its_place(data: bytes, rule: str, says: str) -> None:
    fault = refusal(data)
    assert (fault.rule, str(fault)) == (rule, says)


@pytest.mark.parametrize(
    ("data", "rule", "says"),
    [
        (b'{"a": {"c": [NaN]}}', "not-a-number", "expected a JSON value, got NaN"),
        (b'{"b": -Infinity}', "not-a-number", "expected a JSON value, got -Infinity"),
        (b'{"a": [1e400]}', "number-too-large", "expected numbers below 1.8e308, got 1e400"),
        (b'{"a": -1e309}', "number-too-large", "expected numbers below 1.8e308, got -1e309"),
        (b'{"a": [' + b"9" * 10_000 + b"]}", "number-too-large", "got one of 10000"),
        (b'{"a": {"x": 1, "y": 1, "x": 1}}', "duplicate-key", "x: the key 'x' appears twice"),
    ],
)
def test_a_refused_value_is_named(data: bytes, rule: str, says: str) -> None:
    fault = refusal(data)
    assert (fault.rule, str(fault)[-len(says) :]) == (rule, says)


def test_numbers_within_the_bounds_are_read() -> None:
    data = b'{"a": 12345678901234567890, "d": 1.7e308, "e": 1e-400}'
    assert read_members(data) == {"a": 12345678901234567890, "d": 1.7e308, "e": 0}
    read = read_members(b'{"a": 3.0, "b": 4503599627370497.0, "c": 2.5, "d": 9007199254740992.0}')
    assert [type(value) for value in read.values()] == [int, int, float, float]


def test_unknown_values_are_described_one_level_deep() -> None:
    value = {"grid": ["AB", "CD"], "rules": {"name": ["x"]}, "n": 1, "more": 2}
    assert looks_like(value).startswith(
        "an object with grid (a list of 2 texts), rules (an object with name)"
    )
    assert looks_like([]) == "an empty list"


def test_a_text_is_shown_as_far_as_there_is_room_and_with_no_control_characters() -> None:
    assert shown("a" * 40) == "a" * 40
    assert shown("a" * 41) == "a" * 37 + "..."
    assert shown("abcdef", 5) == "ab..."
    assert shown("a\x01") == "a\\u0001"


def test_the_number_of_members_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict_json, "MAX_MEMBERS", 2)
    assert read_members(b'{"a": 1, "b": 2} ') == {"a": 1, "b": 2}
    assert refusal(b'{"a": 1, "b": 2, "c": 3}').rule == "too-many-levels"


def test_faults_can_always_be_written_as_utf8_and_stay_short() -> None:
    key = "\\ud800" + "k" * 10_000
    fault = refusal(f'{{"a": {{"{key}": 1, "{key}": 2}}}}'.encode())
    assert 0 < len(str(fault).encode("utf-8")) < 300
