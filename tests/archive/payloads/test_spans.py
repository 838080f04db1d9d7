"""The places of values in a JSON text, whole, damaged or cut off."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightgrid.archive.payloads.spans import spans_in
from tests.archive.payloads.test_strict_json import JSON


@given(st.lists(JSON) | st.dictionaries(st.text(), JSON), st.sampled_from([None, 1]))
def test_the_values_are_those_of_the_text(value: object, indent: int | None) -> None:
    data = json.dumps(value, indent=indent).encode()
    found = [(key, json.loads(data[start:stop])) for key, start, stop in spans_in(data)]
    assert isinstance(value, dict | list)
    expected = value.items() if isinstance(value, dict) else [(None, each) for each in value]
    # An empty key is written like any other.
    assert found == list(expected)


@pytest.mark.parametrize(
    ("text", "last"),
    [("[1, 2", ""), ('{"a": [1, ', "[1, "), ('["a', '"a'), ("[1 2]", "2]"), ('{"a" 1}', '"a" 1}')],
)
def test_damage_comes_last(text: str, last: str) -> None:
    *_, (_, start, stop) = spans_in(text.encode())
    assert text[start:stop] == last
