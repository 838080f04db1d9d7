"""The default vocabulary: words of wordfreq and phrases of symspellpy, as boards spell them."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator
from pathlib import Path

from nightgrid.solvers.lexicon.lexicon import CERTAIN_CENTIZIPF
from nightgrid.solvers.lexicon.spelling import normal_form, without_accents

ONE_LETTER = frozenset("aio")
TWO_LETTERS = frozenset(
    # function words
    "am an as at be by do go he if in is it me my no of on or so to up us we".split()
    # interjections
    + "ah aw eh ha hi ho oh ow uh um yo".split()
    # nouns and prefixes that are also words
    + "ad ax ex id la ma ox pa pi".split()
    # abbreviations that are pronounced as words
    + "ai dj eu im ok pc pj tv uk".split()
    # titles, and parts of the names of people, places and dishes
    + "al de dr du ed el jo le mr ms st".split()
)
"""The words of one and two letters. A corpus also has every other pair of letters, as an
abbreviation or as the rest of a word ("s", "ll", "re"), often more frequent than real words, so
frequency cannot tell them apart; and joined they would turn anything into a phrase."""

POSSESSIVE = "'s"
POSSESSIVE_NAME_CENTIZIPF = 50
"""A possessive that is not also the spelling of a plural ("nigeria's") is not a word, unless it is
at least nearly as frequent as its base ("Zabar's"): within this many centizipf."""

RARE_CENTIZIPF = {4: 200, 5: 150}
"""Rarer words of four and five letters are left out: below one in ten million (one in thirty) words
of text, most are abbreviations, user names and misprints. Every short path on a board spells one,
and they more than double the pieces."""


def english_words() -> list[tuple[str, int]]:
    """Read wordfreq's large English list as (word, centizipf) in normal form, A to Z only.

    Accents are folded, apostrophes removed. Entries with digits or other characters are left out,
    and so are short, rare and possessive entries that are not words. A word may come several times:
    "its" and "it's" are both ITS.
    """
    # Imported here: it takes a third of a second, and a compiled lexicon does not need it.
    import wordfreq

    bins = wordfreq.get_frequency_list("en", "large")
    entries = {
        entry: CERTAIN_CENTIZIPF - centibels
        for centibels, entries in enumerate(bins)
        for entry in entries
    }
    words: list[tuple[str, int]] = []
    possessives: list[tuple[str, int]] = []
    for entry, centizipf in entries.items():
        word = normal_form(entry if entry.isascii() else without_accents(entry))
        if not (word.isascii() and word.isalpha()) or _is_fragment(word.lower()):
            continue
        if centizipf < RARE_CENTIZIPF.get(len(word), 0):
            continue
        if entry.endswith(POSSESSIVE):
            base = entries.get(entry.removesuffix(POSSESSIVE), 0)
            if centizipf < base - POSSESSIVE_NAME_CENTIZIPF:
                possessives.append((word, centizipf))
                continue
        words.append((word, centizipf))
    known = {word for word, _ in words}
    return words + [pair for pair in possessives if pair[0] in known]


def _is_fragment(word: str) -> bool:
    if len(word) == 1:
        return word not in ONE_LETTER
    return len(word) == 2 and word not in TWO_LETTERS


WORDS_FILE = "frequency_dictionary_en_82_765.txt"
PHRASES_FILE = "frequency_bigramdictionary_en_243_342.txt"
CORPUS_WORDS = 1_024_908_267_229
"""Words of the corpus in which the phrases were counted, according to symspellpy."""


def english_phrases() -> Iterator[tuple[str, str, int]]:
    """Read symspellpy's phrases as (first word, second word, centizipf), in normal form.

    The list stops at about 6 in 10^6 words (380 centizipf). A phrase may come several times:
    "it's a" and "its a" are spelled alike.
    """
    for line in _symspell_lines(PHRASES_FILE):
        first, second, count = line.split()
        share = math.log10(int(count) / CORPUS_WORDS)
        centizipf = round(100 * share) + CERTAIN_CENTIZIPF
        yield normal_form(first), normal_form(second), centizipf


def spelling_words() -> Iterator[str]:
    """Read symspellpy's list of words for spelling, in normal form."""
    for line in _symspell_lines(WORDS_FILE):
        yield normal_form(line.split()[0])


def _symspell_lines(name: str) -> list[str]:
    # Only its data are used: importing the package would configure its logging.
    found = importlib.util.find_spec("symspellpy")
    assert found is not None
    assert found.submodule_search_locations is not None
    path = Path(next(iter(found.submodule_search_locations))) / name
    return path.read_text("utf-8-sig").splitlines()
