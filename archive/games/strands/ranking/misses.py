"""Where the official cover stands among ranked covers, and how the first cover differs from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nightgrid.solvers.strands.solution import Cover, cover_from_json

NOT_LISTED = "not in the list"
ANAGRAM = "other words on the same cells"
SPANGRAM_ALONE = "another spangram, the same theme words"
SWAP = "letters or words between spangram and theme words"
ONE_WORD = "one word"
SEVERAL_WORDS = "several words"
MISSES = (NOT_LISTED, ANAGRAM, SPANGRAM_ALONE, SWAP, ONE_WORD, SEVERAL_WORDS)
"""Classes of boards whose first cover is not the official one, in the order in which they are
looked for."""


def measure(official: Any, covers: Sequence[Mapping[str, Any]]) -> tuple[int | None, str | None]:
    """Find the place of an official cover (JSON) among ranked covers, and the class of the miss."""
    cover = cover_from_json(official)
    place = place_of(cover, covers)
    return place, miss_of(cover, covers, place)


def place_of(official: Cover, covers: Sequence[Mapping[str, Any]]) -> int | None:
    """Find the place, from 1 on, of the first cover with the official set of words."""
    words = {entry.word for entry in official.entries}
    for place, cover in enumerate(covers, 1):
        if words_of(cover) == words:
            return place
    return None


def words_of(cover: Mapping[str, Any]) -> set[str]:
    """List the words of a ranked cover."""
    return {cover["spangram"], *cover["theme_words"]}


def miss_of(official: Cover, covers: Sequence[Mapping[str, Any]], place: int | None) -> str | None:
    """Say in which class a first cover differs from the official one; None where it does not."""
    if place == 1:
        return None
    if place is None:
        return NOT_LISTED
    assert official.spangram is not None
    first = covers[0]
    missing = {entry.word for entry in official.entries} - words_of(first)
    if _cells(first) == _cells(covers[place - 1]):
        return ANAGRAM
    if first["spangram"] != official.spangram.word:
        return SPANGRAM_ALONE if missing == {official.spangram.word} else SWAP
    return ONE_WORD if len(missing) == 1 else SEVERAL_WORDS


def _cells(cover: Mapping[str, Any]) -> set[frozenset[Any]]:
    return {entry.cells for entry in cover_from_json(cover["cover"]).entries}
