"""References, and the faults of invalid ones."""

from __future__ import annotations

import datetime as dt

import pytest

from nightgrid.archive.lookup.reference import (
    DateReference,
    IdReference,
    looks_like_reference,
    read_reference,
)
from nightgrid.solvers.errors import PermanentError

DAY = dt.date(2025, 10, 14)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0123abcd", IdReference(prefix="0123abcd")),
        ("BEEF", IdReference(prefix="beef")),
        ("0" * 32, IdReference(prefix="0" * 32)),
        ("pips/2025-10-14", DateReference(game="pips", date=DAY)),
        ("Pips/2025-10-14/Hard", DateReference(game="pips", date=DAY, level="hard")),
        ("strands/2025-10-14/daily", DateReference(game="strands", date=DAY, level="daily")),
    ],
)
def test_references_are_ids_and_dates(text, expected):
    assert looks_like_reference(text)
    assert read_reference(text) == expected
    assert read_reference(str(expected)) == expected


@pytest.mark.parametrize(
    "text",
    ["board.json", "pips/2025-10-14.json", "archive/board", "abc", "-", "", "pips", "./beef",
     "a/b/c/d", "pips/2025-10-14/hard/x", "../pips/2025-10-14", "pips/"],
)  # fmt: skip
def test_names_of_files_are_not_references(text):
    assert not looks_like_reference(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("chess/2025-10-14", "unknown game 'chess'; expected one of pips, strands"),
        ("pips/2025-13-14", "has the date '2025-13-14'; expected a date as YYYY-MM-DD"),
        ("pips/yesterday", "has the date 'yesterday'; expected a date as YYYY-MM-DD"),
        ("pips/2025-2-3/hard", "has the date '2025-2-3'; expected a date as YYYY-MM-DD"),
        ("0" * 33, "has 33 digits; expected 4 to 32"),
    ],
)
def test_an_invalid_reference_is_refused_in_one_sentence(text, sentence):
    assert looks_like_reference(text)
    with pytest.raises(PermanentError, match=sentence.replace("(", r"\(")):
        read_reference(text)
