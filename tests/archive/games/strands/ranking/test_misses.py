"""What differs between the first cover of a ranking and the official one has a class."""

from __future__ import annotations

import re
from typing import Any

import pytest

from nightgrid.archive.games.strands.ranking.misses import MISSES, Miss, measure
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary, vocabulary_of


def ranked(spangram: str, *theme: str, cells: str = "ab") -> dict[str, Any]:
    """Write a ranked cover whose words lie where `cells` says: a letter for each."""
    entries = [
        {"word": word, "path": [[ord(cells[i % len(cells)]), i]], "components": [word]}
        for i, word in enumerate((spangram, *theme))
    ]
    told = {"confidence": 0.5, "components": [spangram]}
    return {"spangram": entries[0], "theme_words": entries[1:], "score": 0, **told}


def no_vocabulary() -> Vocabulary:
    raise AssertionError("a vocabulary is opened for a cover that is listed")


@pytest.mark.parametrize(
    ("first", "miss"),
    [
        (ranked("SPAN", "APES", "LUNA"), None),
        (ranked("SPAN", "PEAS", "LUNA"), Miss.ANAGRAM),
        (ranked("PANS", "APES", "LUNA", cells="xyz"), Miss.SPANGRAM_ALONE),
        (ranked("PANSA", "PES", "LUNA", cells="xyz"), Miss.SWAP),
        (ranked("SPAN", "PEAS", "LUNA", cells="xyz"), Miss.ONE_WORD),
        (ranked("SPAN", "PEAS", "ULNA", cells="xyz"), Miss.SEVERAL_WORDS),
    ],
)
def test_a_miss_has_a_class(first: dict[str, Any], miss: Miss | None):
    official = ranked("SPAN", "APES", "LUNA")
    covers = [first] if miss is None else [first, official]
    found = measure(official, covers, no_vocabulary)
    assert found == (1 if miss is None else 2, miss)


WORDS = {"SPAN": 400, "APES": 400, "LUNA": 300, "HOT": 500, "DOG": 500}


@pytest.mark.parametrize(
    ("official", "miss"),
    [
        (ranked("SPAN", "APES", "QUAG"), Miss.NO_THEME_WORD),
        (ranked("QUAGGA", "APES", "QUAG"), Miss.NO_THEME_WORD),
        (ranked("QUAGGA", "APES", "LUNA"), Miss.NO_COMPOUND),
        (ranked("HOTDOG", "APES", "LUNA"), Miss.NOT_LISTED),
        (ranked("SPAN", "APES", "LUNA"), Miss.NOT_LISTED),
    ],
)
@pytest.mark.parametrize("covers", [[], [ranked("OTHER", "WORDS")]])
def test_a_cover_that_is_not_listed_has_a_reason(
    official: dict[str, Any], miss: Miss, covers: list[dict[str, Any]]
):
    known = vocabulary_of(WORDS, set(WORDS), [("HOT", "DOG", 450)])
    assert measure(official, covers, lambda: known) == (None, miss)


def test_every_class_has_a_code_and_a_phrase_of_its_own():
    assert list(MISSES) == list(Miss)
    assert all(re.fullmatch("[a-z_]+", code) for code in MISSES)
    assert len(set(MISSES.values())) == len(MISSES) == 8
