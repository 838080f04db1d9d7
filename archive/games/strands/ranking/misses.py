"""Where the official cover stands among ranked covers, and how the first cover differs from it.

The classes are those of gold tables, of reports and of benchmarks: `class_of_miss` is the one place
where they are told apart.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from nightgrid.solvers.strands.solution import cover_from_json

if TYPE_CHECKING:
    from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary


class Miss(enum.StrEnum):
    """Classes of boards whose first cover is not the official one, as they are looked for in turn.

    The first three are those of boards whose official cover is not listed. A class is its code for
    programs and tables, and a phrase for people.
    """

    phrase: str

    def __new__(cls, value: str, phrase: str = "") -> Self:
        """Make a class of its code and its phrase."""
        miss = str.__new__(cls, value)
        miss._value_, miss.phrase = value, phrase
        return miss

    NO_THEME_WORD = "no_theme_word", "a theme word is not in the vocabulary"
    NO_COMPOUND = (
        "no_compound",
        "the spangram is neither in the vocabulary nor a compound of its words",
    )
    NOT_LISTED = "not_listed", "not among the best covers"
    ANAGRAM = "anagram", "other words on the same cells"
    SPANGRAM_ALONE = "spangram_alone", "another spangram, the same theme words"
    SWAP = "swap", "letters or words between spangram and theme words"
    ONE_WORD = "one_word", "one word"
    SEVERAL_WORDS = "several_words", "several words"


MISSES: Mapping[str, str] = {miss: miss.phrase for miss in Miss}
"""See RankingPlug."""
OpenVocabulary = Callable[[], "Vocabulary"]
"""Opens what words are known, where a cover is not listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Laid:
    """A cover as it is compared: its words and where they lie."""

    spangram: str
    words: AbstractSet[str]
    """All words, the spangram too."""
    cells: AbstractSet[AbstractSet[Any]]
    """The set of cells of each word."""


def class_of_miss(
    official: Laid, first: Laid | None, listed: Laid | None, open_vocabulary: OpenVocabulary
) -> Miss | None:
    """Return the class of a first cover's difference from the official one; None if equal.

    `listed` is the listed cover with the official words, None where there is none.
    """
    if listed is None or first is None:
        return why_not_listed(official, open_vocabulary())
    if first.words == official.words:
        return None
    missing = official.words - first.words
    if first.cells == listed.cells:
        return Miss.ANAGRAM
    if first.spangram != official.spangram:
        return Miss.SPANGRAM_ALONE if missing == {official.spangram} else Miss.SWAP
    return Miss.ONE_WORD if len(missing) == 1 else Miss.SEVERAL_WORDS


def why_not_listed(official: Laid, vocabulary: Vocabulary) -> Miss:
    """Return why an official cover is not listed: it cannot be found, or others are better.

    A spangram that can be read as words of the vocabulary may still be left out, where a board has
    more compounds than are searched: that counts as `Miss.NOT_LISTED`.
    """
    # Texts of the plug are asked for without it: it loads kernels.
    from nightgrid.solvers.strands.ranking.compounds import reading

    find = vocabulary.lexicon.find
    if any(find(word) < 0 for word in official.words - {official.spangram}):
        return Miss.NO_THEME_WORD
    if find(official.spangram) < 0 and len(reading(vocabulary, official.spangram)[1]) == 1:
        return Miss.NO_COMPOUND
    return Miss.NOT_LISTED


def measure(
    official: Any, covers: Sequence[Mapping[str, Any]], open_vocabulary: OpenVocabulary
) -> tuple[int | None, Miss | None]:
    """Find the place of an official cover (JSON) among ranked covers, and the class of the miss."""
    meant, laid = laid_of(official), [laid_of(cover) for cover in covers]
    place = next((i for i, cover in enumerate(laid, 1) if cover.words == meant.words), None)
    first = laid[0] if laid else None
    listed = laid[place - 1] if place is not None else None
    return place, class_of_miss(meant, first, listed, open_vocabulary)


def laid_of(cover: Any) -> Laid:
    """Read a cover (JSON) as it is compared."""
    read = cover_from_json(cover)
    assert read.spangram is not None
    return Laid(
        spangram=read.spangram.word,
        words={entry.word for entry in read.entries},
        cells={entry.cells for entry in read.entries},
    )
