from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightgrid.archive.payloads import strict_json
from nightgrid.archive.payloads.strict_json import Member, members_by_key, read_members, shown

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)


def told(data: bytes) -> list[tuple[str | None, str]]:
    """Key and rule ("" for a value) of every member."""
    return [(m.key, m.fault.rule if m.fault else "") for m in read_members(data)]


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=6), JSON, max_size=5), st.sampled_from([None, 1]))
def test_whatever_json_writes_is_read_as_it_was(value: dict[str, Any], indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:  # half a surrogate pair can only be written escaped
        data = json.dumps(value, indent=indent).encode("ascii")
    assert list(read_members(data)) == [Member(key=k, value=v) for k, v in value.items()]


@given(st.binary(max_size=40))
def test_any_bytes_end_as_values_or_faults(data: bytes) -> None:
    try:
        value = json.loads(data.decode("utf-8"))
    except ValueError:
        value = None
    members = list(read_members(data))
    if not isinstance(value, dict):
        assert any(member.fault for member in members)


@given(st.text('{}[]",:0 a\\', max_size=30))
def test_any_json_like_text_is_whole_or_has_a_fault(text: str) -> None:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    members = list(read_members(text.encode("utf-8")))
    faulty = any(member.fault for member in members)
    if not isinstance(value, dict):
        assert faulty
    elif not faulty and len(members) == len(value):
        assert {member.key: member.value for member in members} == value


DEEP = 100_000


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", [(None, "empty-body")]),
        (b" \n", [(None, "empty-body")]),
        (b"[]", [(None, "not-an-object")]),
        (b"3", [(None, "not-an-object")]),
        (b"[" * DEEP, [(None, "not-json")]),
        (b"<html></html>", [(None, "not-json")]),
        (b"\xef\xbb\xbf{}", [(None, "byte-order-mark")]),
        ('{"a": 1}'.encode("utf-16"), [(None, "not-utf-8")]),
        ('{"a": 1}'.encode("utf-16-le"), [(None, "not-json")]),
        (b"{} x", [(None, "trailing-data")]),
        (b'{"a": 1, "a": 2}', [("a", ""), ("a", "")]),
        (b'{"a\x01": 1}', [(None, "not-json")]),
        (b'{"a', [(None, "not-json")]),
        (b'{"a": 1}x', [("a", ""), (None, "trailing-data")]),
        (b'{"a": 1} {}', [("a", ""), (None, "trailing-data")]),
        (b'{"a": 1,}', [("a", ""), (None, "not-json")]),
        (b'{"a": 1 "b": 2}', [("a", ""), (None, "not-json")]),
        (b"{'a': 1}", [(None, "not-json")]),
        (b'{"a": 1', [("a", ""), (None, "truncated")]),
        (b'{"a": 1, "b": {"c": [1, 2', [("a", ""), ("b", "truncated")]),
        (b'{"a": 1, "b": "text', [("a", ""), ("b", "truncated")]),
        (b'{"a": 1, "b": tru', [("a", ""), ("b", "truncated")]),
        (b'{"a": 1, "b":', [("a", ""), ("b", "truncated")]),
        (b'{"a": 1, "b": {"c": [NaN]}, "d": 2}', [("a", ""), ("b", "not-a-number"), ("d", "")]),
        (b'{"a": Infinity, "b": -Infinity}', [("a", "not-a-number"), ("b", "not-a-number")]),
        (
            b'{"a": [1e400], "b": {"c": -1e309}, "d": 1.7e308, "e": 1e-400}',
            [("a", "number-too-large"), ("b", "number-too-large"), ("d", ""), ("e", "")],
        ),
        (b'{"a": [' + b"9" * 10_000 + b'], "b": 1}', [("a", "number-too-large"), ("b", "")]),
        (b'{"a": {"x": 1, "x": 1}, "b": 1}', [("a", "duplicate-key"), ("b", "")]),
        (b'{"a": "\xff", "b": 1}', [("a", "not-utf-8"), ("b", "")]),
        (b'{"a": "\x01", "b": 1}', [("a", "not-json"), ("b", "")]),
        (b'{"a": nope, "b": 1}', [("a", "not-json"), ("b", "")]),
        (b'{"a": {"q": }, "b": 1}', [("a", "not-json"), ("b", "")]),
        (b'{"a": ' + b"[" * DEEP + b"]" * DEEP + b', "b": 1}', [("a", "too-deep"), ("b", "")]),
        (
            b'{"a": ' + b'{"x":' * DEEP + b"1" + b"}" * DEEP + b', "b": 1}',
            [("a", "too-deep"), ("b", "")],
        ),
    ],
)
def test_a_fault_costs_its_own_member_only(
    data: bytes, expected: list[tuple[str | None, str]]
) -> None:
    assert told(data) == expected


def test_the_place_of_a_fault_is_a_path_or_a_position() -> None:
    faults = [m.fault for m in read_members(b'{"a": {"b": [1, {"c": NaN}]},\n "d": 1 "e"}')]
    assert [fault.place for fault in faults if fault] == ["a.b[1].c", "line 2, column 9"]


def test_of_keys_only_the_one_that_stands_twice_has_a_fault() -> None:
    (member,) = read_members(b'{"a": {"x": 1, "y": 2, "z": 3, "y": 4}}')
    assert str(member.fault) == "a.y: key 'y' stands twice"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"<html></html>", "line 1, column 1: expected a JSON object, got '<html></html'"),
        (b"\xff[]", "byte 0: the body is not UTF-8"),
        (b"[]", "line 1, column 1: expected a JSON object, got a list"),
        (b'\n "x"', "line 2, column 2: expected a JSON object, got a text"),
        (b"true", "line 1, column 1: expected a JSON object, got true or false"),
        (b"null", "line 1, column 1: expected a JSON object, got null"),
        (b"-1.5", "line 1, column 1: expected a JSON object, got a number"),
        (b"1 2", "line 1, column 1: expected a JSON object, got '1 2'"),
        (b'\n{"a" 1}', "line 2, column 6: expected ':', got '1}'"),
        (b"{'a': 1}", "line 1, column 2: expected a key in double quotes, got ''a': 1}'"),
        (b'{"a": 1}\nx', "line 2, column 1: expected nothing after the object, got 'x'"),
        (b'{"a": 1', "line 1, column 8: expected ',' or '}', but the text ends"),
        (b'{"a": [1, nope]}', "a: Expecting value at line 1, column 11"),
        (b'{"a": ' + b"1" * 21 + b"}", "a: expected at most 20 digits, got 21"),
        (b'{"a": NaN}', "a: expected a JSON value, got NaN"),
        (b'{"a": 1e400}', "a: expected less than 1.8e308, got 1e400"),
    ],
)
def test_a_fault_says_where_it_is_and_what_was_expected(data: bytes, says: str) -> None:
    (fault,) = [str(member.fault) for member in read_members(data) if member.fault]
    assert fault == says


def test_a_text_is_shown_as_far_as_there_is_room_and_with_no_control_characters() -> None:
    assert shown("a" * 40) == "a" * 40
    assert shown("a" * 41) == "a" * 37 + "..."
    assert shown("abcdef", 5) == "ab..."
    assert shown("a\x01") == "a\\u0001"


def test_so_many_members_are_read_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict_json, "MAX_MEMBERS", 2)
    assert told(b'{"a": 1, "b": 2}') == [("a", ""), ("b", "")]
    assert told(b'{"a": 1, "b": 2} ') == [("a", ""), ("b", "")]
    assert told(b'{"a": 1, "b": 2, "c": 3}') == [("a", ""), ("b", ""), (None, "too-many-levels")]
    assert told(b'{"a": 1, "b": NaN}') == [("a", ""), ("b", "not-a-number")]


@pytest.mark.parametrize("piece", [b'\\"', b'"a', b"[", b"{", b"]", b"\\", b'"\\'])
def test_long_hostile_values_are_skipped_in_linear_time(piece: bytes) -> None:
    # Quadratic skipping of 3 MB would run for hours and into the test's time-out.
    data = b'{"a": ["' + piece * (3_000_000 // len(piece))
    assert told(data)[0][0] in ("a", None)


def test_a_key_that_stands_twice_is_one_fault() -> None:
    keyed, loose = members_by_key(b'{"a": 1, "b": 2, "a": 3, "a": 4} x')
    assert [member.key for member in keyed.values()] == ["a", "b"]
    fault = keyed["a"].fault
    assert fault is not None
    assert (fault.rule, fault.place) == ("duplicate-key", "a")
    assert len(loose) == 1


def test_faults_can_always_be_written_as_utf8_and_stay_short() -> None:
    key = "\\ud800" + "k" * 10_000
    for data in (f'{{"{key}": [}}', f'{{"a": {{"{key}": 1, "{key}": 2}}}}', '{"a": "\ud7ff" x'):
        for member in read_members(data.encode("utf-8", "surrogatepass")):
            if member.fault:
                assert len(str(member.fault).encode("utf-8")) < 300


def test_the_place_of_the_first_byte_that_is_not_utf8_is_its_own() -> None:
    (member,) = read_members(bytes(range(256)))
    assert str(member.fault).startswith("byte 128: ")
    (member,) = read_members('{"é": "'.encode() + b'\xff"}')
    assert "byte 8 of the body" in str(member.fault)


PIECES = [
    "{", "}", "[", "]", ",", ":", '"a"', '"b"', '"a":1', "1", "-1.5e3", "true", "null", "NaN",
    "1" * 20, "-" + "1" * 20, "1" * 21, '"\\ud800"', '"\\u00e9"', "é", " ", "\n",
]  # fmt: skip
SOUND = [
    b'{"a": {"b": [1, -2, 3.5, true, null, "x"]}, "c": "\\u00e9", "d": ""}',
    '{"ü": "é"}'.encode(),
    b"{}",
    b' {"a": 12345678901234567890}\n',
]


def careful(data: bytes, monkeypatch: pytest.MonkeyPatch) -> list[Member]:
    with monkeypatch.context() as patch:
        patch.setattr(strict_json, "_sound_object", lambda _: None)
        return list(read_members(data))


@pytest.mark.parametrize("seed", range(10))
def test_the_quick_way_accepts_nothing_that_the_careful_way_refuses(
    seed: int, monkeypatch: pytest.MonkeyPatch
):
    draw = random.Random(seed)
    for _ in range(200):
        inner = "".join(draw.choices(PIECES, k=draw.randrange(8)))
        text = draw.choice(["{%s}", '{"a":%s}', '{"a":[%s],"b":{%s}}', "%s"]).replace("%s", inner)
        data = text.encode("utf-8", "surrogatepass")
        expected = careful(data, monkeypatch)
        assert repr(list(read_members(data))) == repr(expected), data


@pytest.mark.parametrize("data", SOUND)
def test_the_quick_way_reads_what_the_careful_way_reads(
    data: bytes, monkeypatch: pytest.MonkeyPatch
):
    assert list(read_members(data)) == careful(data, monkeypatch)
