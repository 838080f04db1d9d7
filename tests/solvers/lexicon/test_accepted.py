"""English words that games accept: their lists, their weights, their doubts."""

from __future__ import annotations

import json
import math

import pytest

from nightgrid.solvers.lexicon import accepted
from nightgrid.solvers.lexicon.accepted import WordLists, acceptance, hunspell_forms
from nightgrid.solvers.lexicon.compile import compile_lexicon, compile_text, text_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lists() -> WordLists:
    return WordLists()


def test_hunspell_has_stems_with_their_endings_and_beginnings():
    forms = set(hunspell_forms())
    assert {"walk", "walked", "walking", "walks", "redo", "redone", "Paris", "NASA"} <= forms
    assert not {"walkedly", "eating's's"} & forms


def test_real_words_are_accepted_and_names_are_not(lists):
    words = {word: doubt for word, _, doubt in accepted.accepted_words(lists)}
    assert {"FOGHORNS", "SLOWPOKE", "DICTIONARY", "YELP", "EXUDING"} <= words.keys()
    assert not {"BEKIR", "DROITE", "YONEZAWA", "SCHULTZ", "RATCHFORD", "TVS"} & words.keys()
    assert 60_000 < len(words) < 120_000
    assert 0 <= min(words.values()) <= max(words.values()) == round(100 * math.log(2))


def test_the_weights_are_those_of_the_features_and_have_their_provenance(lists):
    fitted = json.loads(accepted.WEIGHTS_FILE.read_text())
    assert fitted["weights"].keys() == lists.features("WORD").keys()
    assert "2025-01-01" in fitted["fitted_on"]
    probability = acceptance(fitted["weights"])
    assert probability(lists.features("SLOWPOKE")) > 0.9 > probability(lists.features("EZEK"))


def test_doubts_are_part_of_a_lexicons_text_if_there_are_any():
    words = [("BOA", 10), ("BOARD", 0)]
    plain, doubted = compile_lexicon(words), compile_lexicon(words, doubts={"BOARD": 7})
    assert text_of(plain) == b"BOA\t10\nBOARD\t0\n"
    assert text_of(doubted) == b"BOA\t10\t0\nBOARD\t0\t7\n"
    again = compile_text(text_of(doubted))
    assert (again.lexicon_id, again.doubt.tolist()) == (doubted.lexicon_id, [0, 7])
    assert plain.lexicon_id != doubted.lexicon_id
    assert doubted.has_doubts
    assert not plain.has_doubts
