"""The default vocabulary: the large English list of wordfreq, spelled as boards spell it."""

from __future__ import annotations

from solvers.lexicon.spelling import normal_form, without_accents

ENGLISH_VERSION = 1
"""Raised whenever the same release of wordfreq would give other words."""
CENTIZIPF_OF_CERTAINTY = 900
"""A word of probability 1 has Zipf frequency 9. wordfreq counts down from there in centibels,
which are hundredths of the Zipf scale: no rounding."""


def english_words() -> list[tuple[str, int]]:
    """Read wordfreq's large English list as (word, centizipf) in normal form, A to Z only.

    A word may come several times: "its" and "it's" are both ITS.
    """
    # Imported here: it takes a third of a second, and a compiled lexicon does without.
    import wordfreq

    bins = wordfreq.get_frequency_list("en", "large")
    words: list[tuple[str, int]] = []
    for centibels, entries in enumerate(bins):
        centizipf = CENTIZIPF_OF_CERTAINTY - centibels
        for entry in entries:
            word = entry if entry.isascii() else without_accents(entry)
            if not word.isalpha():
                word = normal_form(word)
            if word.isascii() and word.isalpha():
                words.append((word.upper(), centizipf))
    return words
