"""Texts are cut as their list of merges says, and nothing of a text is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightgrid.archive.games.strands.language.language_model import BytePairs, letters_of_bytes
from tests.archive.games.strands.language.tiny_language_model import MERGES, TOKENS

PAIRS = BytePairs(TOKENS, MERGES)
BYTES = {letter: byte for byte, letter in letters_of_bytes().items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cat", ["cat"]),
        ("a cat", ["a", "Ġcat"]),
        # The pair that is listed first is joined first: "do", and then "og" is none.
        ("dog", ["dog"]),
        ("cats, 42", ["cat", "s", ",", "Ġ", "4", "2"]),
        ("\n\ncat", ["Ċ", "Ċ", "cat"]),
        ("é", ["Ã", "©"]),
        ("", []),
    ],
)
def test_a_text_is_cut(text: str, expected: list[str]):
    assert [TOKENS[number] for number in PAIRS.ids(text)] == expected


@given(st.text(max_size=12))
def test_no_byte_is_lost(text: str):
    spelled = "".join(TOKENS[number] for number in PAIRS.ids(text))
    assert bytes(BYTES[letter] for letter in spelled) == text.encode()
