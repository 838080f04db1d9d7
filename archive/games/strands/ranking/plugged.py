"""The ranker of Strands as a nightgrid.archive.games.plug.RankingPlug.

It measures the place of the official cover among ranked covers, and how the first cover differs
from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nightgrid.archive.games.plug import ALONE_SUFFIX, ranker_name
from nightgrid.solvers.strands.solution import Cover, cover_from_json

__all__ = ["ALONE", "GAME", "MISSES", "fitted_until", "measure", "ranker_here"]
GAME = "strands"
ALONE = (
    "ranked without the meaning of words and clue, by how common each word is and how it is "
    "placed on the board: its models are not installed (docs/how-to/rank-covers.md)"
)
MISSES = {
    "no_theme_word": "a theme word is not in the vocabulary",
    "no_compound": "the spangram is neither in the vocabulary nor a compound of its words",
    "not_listed": "not among the best covers",
    "anagram": "other words on the same cells",
    "spangram_alone": "another spangram, the same theme words",
    "swap": "letters or words between spangram and theme words",
    "one_word": "one word",
    "several_words": "several words",
}
"""See RankingPlug. The first three are those of boards whose official cover is not listed."""


def ranker_here() -> str:
    """See RankingPlug."""
    from nightgrid.archive.games.strands.ranking.meaning import are_models_installed
    from nightgrid.archive.games.strands.ranking.weights import name_here

    return ranker_name(name_here(), with_models=are_models_installed())


def fitted_until(ranker: str) -> str | None:
    """See RankingPlug."""
    from nightgrid.archive.games.strands.ranking.weights import provenance_of

    known = provenance_of(ranker.removesuffix(ALONE_SUFFIX))
    return None if known is None else str(known["to"])


def measure(official: Any, covers: Sequence[Mapping[str, Any]]) -> tuple[int | None, str | None]:
    """See RankingPlug."""
    meant, found = cover_from_json(official), [cover_from_json(cover) for cover in covers]
    words = _words(meant)
    place = next((i for i, cover in enumerate(found, 1) if _words(cover) == words), None)
    if place is None:
        return None, _why_not_listed(meant)
    if place == 1:
        return 1, None
    first, missing = found[0], words - _words(found[0])
    assert first.spangram is not None
    assert meant.spangram is not None
    if _cells(first) == _cells(found[place - 1]):
        return place, "anagram"
    if first.spangram.word != meant.spangram.word:
        return place, "spangram_alone" if missing == {meant.spangram.word} else "swap"
    return place, "one_word" if len(missing) == 1 else "several_words"


def _words(cover: Cover) -> set[str]:
    return {entry.word for entry in cover.entries}


def _cells(cover: Cover) -> set[frozenset[tuple[int, int]]]:
    return {entry.cells for entry in cover.entries}


def _why_not_listed(official: Cover) -> str:
    """Return why an official cover is not listed: it cannot be found, or others are better.

    A spangram of words of the vocabulary may still be left out, if a board has more compounds than
    are searched: that counts as not listed.
    """
    # The plug's texts are used without these modules, which load kernels.
    from nightgrid.archive.games.strands.ranking.vocabularies import ranking_vocabulary
    from nightgrid.solvers.strands.ranking.compounds import reading

    vocabulary = ranking_vocabulary()
    find = vocabulary.lexicon.find
    assert official.spangram is not None
    spangram = official.spangram.word
    if any(find(word) < 0 for word in _words(official) - {spangram}):
        return "no_theme_word"
    if find(spangram) < 0 and len(reading(vocabulary, spangram)[1]) == 1:
        return "no_compound"
    return "not_listed"
