"""The vocabulary of ranking: wider than the default one, with the kind of each word.

Boards also use words that the default list lacks: words that only a list for spelling knows
(CEDILLA, COCKLESHELLS), stems of inflected words (GOBSMACK), and two words in one (SITUP). Scores
of covers charge for each kind (nightgrid.solvers.strands.ranking.terms).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import I32
from nightgrid.solvers.lexicon.accepted import hunspell_forms
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.lexicon.english import english_phrases, english_words, spelling_words
from nightgrid.solvers.lexicon.lexicon import Lexicon

LETTERS_MIN, LETTERS_MAX = 4, 17
"""Most letters of words beyond the default list: no board has used a longer one."""
STEM_SUFFIXES = ("ED", "ING")
STEM_LETTERS_MIN = 6
STEM_CENTIZIPF_MIN = 120
"""A stem is taken from an inflected word of at least this frequency."""
INFLECTIONS = ("ING", "ED", "S")


class Kind(IntEnum):
    """Origin of a word."""

    WORD = 0
    """The default vocabulary."""
    SPELLING = 1
    """A list for spelling: symspellpy's, or hunspell's without names and abbreviations."""
    STEM = 2
    """The stem of an inflected word whose base form is in no list."""
    PAIR = 3
    """A phrase of two words, joined."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Vocabulary:
    """A lexicon with further data of its words, by index."""

    lexicon: Lexicon
    """Words of kinds other than WORD have no frequency in it, so they are not components of
    compounds."""
    kind: npt.NDArray[np.int8]
    zipf: npt.NDArray[np.float32]
    """The Zipf frequency; of a stem that of its inflected word; of a pair that of the phrase."""
    listed: npt.NDArray[np.bool_]
    """Whether a list for spelling has it: names and abbreviations are in none."""
    inflection: npt.NDArray[np.int8]
    """1 + the index of its ending among INFLECTIONS, if the rest is a word; else 0."""
    first: I32
    """The first word of a pair; -1 for other words."""
    second: I32


def english_vocabulary() -> Vocabulary:
    """Read the vocabulary from wordfreq, symspellpy and spylls: about 3 s."""
    words: dict[str, int] = {}
    for word, centizipf in english_words():
        words[word] = max(centizipf, words.get(word, 0))
    lower = (form.upper() for form in hunspell_forms() if form.islower())
    listed = {word for word in (*spelling_words(), *lower) if word.isascii() and word.isalpha()}
    return vocabulary_of(words, listed, list(english_phrases()))


def vocabulary_of(
    words: dict[str, int], listed: set[str], phrases: list[tuple[str, str, int]]
) -> Vocabulary:
    """Make a vocabulary of words with frequencies, a list for spelling, and phrases."""
    kinds = dict.fromkeys(words, Kind.WORD)
    centizipf = dict(words)
    parts: dict[str, tuple[str, str]] = {}

    def add(word: str, kind: Kind, value: int) -> None:
        if LETTERS_MIN <= len(word) <= LETTERS_MAX and kinds.get(word, kind) == kind:
            kinds[word] = kind
            centizipf[word] = max(value, centizipf.get(word, 0))

    for word in sorted(listed):
        add(word, Kind.SPELLING, 0)
    for word, value in words.items():
        for suffix in STEM_SUFFIXES:
            stem = word.removesuffix(suffix)
            if stem != word and len(stem) >= STEM_LETTERS_MIN and value >= STEM_CENTIZIPF_MIN:
                add(stem, Kind.STEM, value)
    for first, second, value in phrases:
        joined = first + second
        if first in words and second in words and value > centizipf.get(joined, 0):
            add(joined, Kind.PAIR, value)
            if kinds.get(joined) == Kind.PAIR:
                parts[joined] = first, second
    lexicon = compile_lexicon(
        ((word, words.get(word, 0)) for word in kinds),
        phrases,
    )
    spelled = sorted(kinds)
    index = {word: i for i, word in enumerate(spelled)}
    return Vocabulary(
        lexicon=lexicon,
        kind=np.array([kinds[word] for word in spelled], np.int8),
        zipf=np.array([centizipf[word] / 100 for word in spelled], np.float32),
        listed=np.array([word in listed for word in spelled], np.bool_),
        inflection=np.array([_inflection(word, words) for word in spelled], np.int8),
        first=np.array([index[parts[w][0]] if w in parts else -1 for w in spelled], np.int32),
        second=np.array([index[parts[w][1]] if w in parts else -1 for w in spelled], np.int32),
    )


def _inflection(word: str, words: dict[str, int]) -> int:
    for i, suffix in enumerate(INFLECTIONS, 1):
        base = word.removesuffix(suffix)
        if base != word and len(base) >= 2 and (
            base in words or base + "E" in words or (i < 3 and base[:-1] in words)
        ):  # fmt: skip
            return i
    return 0
