"""Differences between the first cover of a ranking and the official one have classes."""

from __future__ import annotations

import re
from typing import Any

import pytest

from nightgrid.archive.games.strands.ranking import vocabularies
from nightgrid.archive.games.strands.ranking.plugged import MISSES, measure
from nightgrid.solvers.strands.ranking.vocabulary import vocabulary_of


def ranked(spangram: str, *theme: str, cells: str = "ab") -> dict[str, Any]:
    """Make a ranked cover with words on `cells`, one letter for each."""
    entries = [
        {"word": word, "path": [[ord(cells[i % len(cells)]), i]], "components": [word]}
        for i, word in enumerate((spangram, *theme))
    ]
    told = {"confidence": 0.5, "components": [spangram]}
    return {"spangram": entries[0], "theme_words": entries[1:], "score": 0, **told}


@pytest.mark.parametrize(
    ("first", "miss"),
    [
        (ranked("SPAN", "APES", "LUNA"), None),
        (ranked("SPAN", "PEAS", "LUNA"), "anagram"),
        (ranked("PANS", "APES", "LUNA", cells="xyz"), "spangram_alone"),
        (ranked("PANSA", "PES", "LUNA", cells="xyz"), "swap"),
        (ranked("SPAN", "PEAS", "LUNA", cells="xyz"), "one_word"),
        (ranked("SPAN", "PEAS", "ULNA", cells="xyz"), "several_words"),
    ],
)
def test_a_miss_has_a_class(
    first: dict[str, Any], miss: str | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(vocabularies, "ranking_vocabulary", None)
    official = ranked("SPAN", "APES", "LUNA")
    covers = [first] if miss is None else [first, official]
    found = measure(official, covers)
    assert found == (1 if miss is None else 2, miss)


WORDS = {"SPAN": 400, "APES": 400, "LUNA": 300, "HOT": 500, "DOG": 500}


@pytest.mark.parametrize(
    ("official", "miss"),
    [
        (ranked("SPAN", "APES", "QUAG"), "no_theme_word"),
        (ranked("QUAGGA", "APES", "QUAG"), "no_theme_word"),
        (ranked("QUAGGA", "APES", "LUNA"), "no_compound"),
        (ranked("HOTDOG", "APES", "LUNA"), "not_listed"),
        (ranked("SPAN", "APES", "LUNA"), "not_listed"),
    ],
)
@pytest.mark.parametrize("covers", [[], [ranked("OTHER", "WORDS")]])
def test_a_cover_that_is_not_listed_has_a_reason(
    official: dict[str, Any],
    miss: str,
    covers: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
):
    known = vocabulary_of(WORDS, set(WORDS), [("HOT", "DOG", 450)])
    monkeypatch.setattr(vocabularies, "ranking_vocabulary", lambda: known)
    assert measure(official, covers) == (None, miss)


def test_every_class_has_a_code_and_a_phrase_of_its_own():
    assert all(re.fullmatch("[a-z_]+", code) for code in MISSES)
    assert len(set(MISSES.values())) == len(MISSES) == 8
