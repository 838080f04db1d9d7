"""What differs between the first cover of a ranking and the official one has a class."""

from __future__ import annotations

from typing import Any

import pytest

from nightgrid.archive.games.strands.ranking.misses import (
    ANAGRAM,
    NOT_LISTED,
    ONE_WORD,
    SEVERAL_WORDS,
    SPANGRAM_ALONE,
    SWAP,
    measure,
    miss_of,
    place_of,
)
from nightgrid.solvers.strands.solution import cover_from_json


def ranked(spangram: str, *theme: str, cells: str = "ab") -> dict[str, Any]:
    """Write a ranked cover whose words lie where `cells` says: a letter for each."""
    entries = [
        {"word": word, "path": [[ord(cells[i % len(cells)]), i]], "components": [word]}
        for i, word in enumerate((spangram, *theme))
    ]
    cover = {"spangram": entries[0], "theme_words": entries[1:], "score": 0}
    return {"spangram": spangram, "theme_words": list(theme), "confidence": 0.5, "cover": cover}


@pytest.mark.parametrize(
    ("first", "miss"),
    [
        (ranked("SPAN", "APES", "LUNA"), None),
        (ranked("SPAN", "PEAS", "LUNA"), ANAGRAM),
        (ranked("PANS", "APES", "LUNA", cells="xyz"), SPANGRAM_ALONE),
        (ranked("PANSA", "PES", "LUNA", cells="xyz"), SWAP),
        (ranked("SPAN", "PEAS", "LUNA", cells="xyz"), ONE_WORD),
        (ranked("SPAN", "PEAS", "ULNA", cells="xyz"), SEVERAL_WORDS),
    ],
)
def test_a_miss_has_a_class(first: dict[str, Any], miss: str | None):
    official = ranked("SPAN", "APES", "LUNA")
    cover = cover_from_json(official["cover"])
    covers = [first] if miss is None else [first, official]
    assert miss_of(cover, covers, place_of(cover, covers)) == miss
    assert measure(official["cover"], covers) == (1 if miss is None else 2, miss)
    assert miss_of(cover, [ranked("OTHER", "WORDS")], None) == NOT_LISTED
