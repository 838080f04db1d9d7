from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.lexicon.english import (
    ONE_LETTER,
    RARE_CENTIZIPF,
    TWO_LETTERS,
    english_phrases,
    english_words,
)
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.strands.score import NO_COMPONENT, component_costs

# Building the vocabulary of all tests takes 2.5 s.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def english() -> Lexicon:
    return compile_lexicon(english_words(), english_phrases())


def centizipf(lexicon: Lexicon, word: str) -> int:
    index = lexicon.find(word)
    assert index >= 0, word
    return int(lexicon.centizipf[index])


def test_the_vocabulary_is_large_has_frequencies_and_only_letters_a_to_z(english):
    assert 240_000 < len(english) < 320_000
    assert english.has_frequencies
    assert english.alphabet.tolist() == list(range(ord("A"), ord("Z") + 1))
    assert int(english.centizipf.min()) > 0


def test_words_names_and_contractions_are_in_it(english):
    for word in ("PUNCTUATION", "APOSTROPHE", "ICE", "LONDON", "TOLKIEN", "DONT", "OCLOCK"):
        assert english.find(word) >= 0, word
    for word in ("QQQZ", "NIGERIAS", "FIRST1", ""):
        assert english.find(word) == -1, word


def test_short_words_are_in_it_unless_they_are_rare(english):
    sizes = np.diff(english.offsets)
    for letters, least in RARE_CENTIZIPF.items():
        assert int(english.centizipf[sizes == letters].min()) == least
    assert int(english.centizipf[sizes > max(RARE_CENTIZIPF)].min()) < min(RARE_CENTIZIPF.values())


def test_frequencies_are_those_of_wordfreq_exactly(english):
    import wordfreq

    for word in ("the", "honeycomb", "beehive", "london"):
        assert centizipf(english, word.upper()) == round(100 * wordfreq.zipf_frequency(word, "en"))


def test_equal_spellings_have_the_highest_frequency(english):
    import wordfreq

    assert centizipf(english, "ITS") == round(100 * wordfreq.zipf_frequency("it's", "en"))
    assert centizipf(english, "NAIVE") == round(100 * wordfreq.zipf_frequency("naive", "en"))
    assert english.find("SMORGASBORD") >= 0


def test_fragments_of_one_and_two_letters_are_not_words(english):
    sizes = np.diff(english.offsets)
    short = {english.word(int(index)).lower() for index in np.flatnonzero(sizes <= 2)}
    assert short == ONE_LETTER | TWO_LETTERS


def test_possessives_are_words_only_if_they_are_names_or_spelled_like_a_plural(english):
    assert english.find("ZABARS") >= 0
    assert english.find("INDUSTRYS") == -1
    assert english.find("FATHERS") >= 0


def test_phrases_of_english_are_known_with_their_frequencies(english):
    def phrase(first: str, second: str) -> int | None:
        word, follows = english.find(first), english.find(second)
        start, stop = english.phrase_offsets[word : word + 2]
        at = start + np.searchsorted(english.phrase_second[start:stop], follows)
        found = at < stop and english.phrase_second[at] == follows
        return int(english.phrase_centizipf[at]) if found else None

    assert 240_000 < len(english.phrase_second) < 243_000
    assert phrase("OF", "THE") > phrase("ICE", "CREAM") > 380
    assert phrase("CREAM", "ICE") is None


def test_a_part_may_be_the_rarer_the_longer_it_is(english):
    costs = component_costs(english, 300)
    assert costs.dtype == np.int32
    for word in ("THE", "OF", "A", "CRAWLIES", "DUCKLING", "MITZVAH"):
        index = english.find(word)
        assert costs[index] == 900 - english.centizipf[index], word
    sizes = np.diff(english.offsets)
    parts = costs != NO_COMPONENT
    assert int(english.centizipf[parts & (sizes <= 3)].min()) == 300
    assert int(english.centizipf[parts & (sizes == 5)].min()) == 200
    none = ~parts & (sizes == 4)
    assert int(english.centizipf[none].max()) == 249
    assert component_costs(english, 0).max() < NO_COMPONENT


def test_without_frequencies_every_word_is_a_part_and_costs_nothing():
    lexicon = compile_lexicon([("A", 0), ("QUIZ", 0)])
    assert component_costs(lexicon, 300).tolist() == [0, 0]


def test_a_word_of_unknown_frequency_is_never_a_part():
    lexicon = compile_lexicon([("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 0), ("QUIZ", 950)])
    assert component_costs(lexicon, 300).tolist() == [NO_COMPONENT, 0]


@pytest.mark.archive
def test_official_words_are_in_the_vocabulary_and_spangrams_are_its_words_or_compounds(
    english: Lexicon, published: Path
):
    boards = [json.loads(path.read_text()) for path in sorted((published / "strands").iterdir())]
    words = [word for board in boards for word in board["themeWords"]]
    missing = [word for word in words if english.find(word) < 0]
    assert len(missing) / len(words) < 0.004
    costs = component_costs(english, 300)
    spelled = [_fewest_parts(english, costs, board["spangram"], limit=1250) for board in boards]
    assert sum(parts is not None for parts in spelled) / len(spelled) > 0.98


def _fewest_parts(lexicon: Lexicon, costs: np.ndarray, text: str, limit: int) -> int | None:
    """Spell a text as one word, or as two or three parts within the limit."""
    if lexicon.find(text) >= 0:
        return 1
    cheapest = {(0, 0): 0}  # cost of the first letters in so many parts
    for start in range(len(text)):
        for stop in range(start + 1, len(text) + 1):
            index = lexicon.find(text[start:stop])
            for parts in range(3):
                if index >= 0 and (start, parts) in cheapest:
                    cost = cheapest[start, parts] + int(costs[index])
                    if cost <= min(limit, cheapest.get((stop, parts + 1), limit)):
                        cheapest[stop, parts + 1] = cost
    return next((parts for parts in (2, 3) if (len(text), parts) in cheapest), None)
