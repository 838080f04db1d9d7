"""Which words follow one another in English, and how often: the two-word phrases of symspellpy."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator
from pathlib import Path

from nightgrid.solvers.lexicon.english import CENTIZIPF_OF_CERTAINTY
from nightgrid.solvers.lexicon.spelling import normal_form

PHRASES_FILE = "frequency_bigramdictionary_en_243_342.txt"
CORPUS_WORDS = 1_024_908_267_229
"""Words of the corpus in which the phrases were counted, as symspellpy states it."""


def english_phrases() -> Iterator[tuple[str, str, int]]:
    """Read symspellpy's phrases as (first word, second word, centizipf), in normal form.

    The list stops at about 6 in 10^6 words (380 centizipf). A phrase may come several times:
    "it's a" and "its a" are spelled alike.
    """
    # Only its data is wanted: importing the package would set up its logging.
    found = importlib.util.find_spec("symspellpy")
    assert found is not None
    assert found.submodule_search_locations is not None
    path = Path(next(iter(found.submodule_search_locations))) / PHRASES_FILE
    for line in path.read_text("utf-8-sig").splitlines():
        first, second, count = line.split()
        share = math.log10(int(count) / CORPUS_WORDS)
        centizipf = round(100 * share) + CENTIZIPF_OF_CERTAINTY
        yield normal_form(first), normal_form(second), centizipf
