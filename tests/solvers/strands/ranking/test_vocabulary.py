"""The vocabulary of ranking: the kinds of words that it adds, and their data."""

from __future__ import annotations

import pytest

from nightgrid.solvers.strands.ranking.vocabulary import (
    Kind,
    Vocabulary,
    english_vocabulary,
    vocabulary_of,
)

VOCABULARY = vocabulary_of(
    {"SIT": 500, "UP": 600, "SITS": 300, "GOBSMACKED": 250, "CLIP": 400, "ON": 700, "SITUPON": 10},
    {"SIT", "CEDILLA", "UP"},
    [("SIT", "UP", 450), ("CLIP", "ON", 420), ("CLIP", "OFF", 400)],
)


def kinds(vocabulary: Vocabulary) -> dict[str, Kind]:
    lexicon = vocabulary.lexicon
    return {lexicon.word(i): Kind(kind) for i, kind in enumerate(vocabulary.kind)}


def test_words_of_other_lists_are_distinguished_by_their_kind():
    assert kinds(VOCABULARY) == {
        "SIT": Kind.WORD, "UP": Kind.WORD, "SITS": Kind.WORD, "GOBSMACKED": Kind.WORD,
        "CLIP": Kind.WORD, "ON": Kind.WORD, "SITUPON": Kind.WORD, "CEDILLA": Kind.SPELLING,
        "GOBSMACK": Kind.STEM, "SITUP": Kind.PAIR, "CLIPON": Kind.PAIR,
    }  # fmt: skip


def test_only_words_of_the_default_list_may_be_components():
    lexicon = VOCABULARY.lexicon
    known = {word for word in kinds(VOCABULARY) if lexicon.centizipf[lexicon.find(word)]}
    assert known == {w for w, kind in kinds(VOCABULARY).items() if kind == Kind.WORD}


def test_a_pair_knows_its_words_and_a_stem_the_frequency_of_its_inflection():
    lexicon = VOCABULARY.lexicon
    pair, stem = lexicon.find("CLIPON"), lexicon.find("GOBSMACK")
    assert lexicon.word(VOCABULARY.first[pair]) == "CLIP"
    assert lexicon.word(VOCABULARY.second[pair]) == "ON"
    assert VOCABULARY.first[stem] == -1
    assert VOCABULARY.zipf[stem] == 2.5


def test_an_inflection_is_one_only_of_a_word():
    lexicon = VOCABULARY.lexicon
    inflections = {w: int(VOCABULARY.inflection[lexicon.find(w)]) for w in ("SITS", "GOBSMACKED")}
    assert inflections == {"SITS": 3, "GOBSMACKED": 0}
    assert VOCABULARY.listed[lexicon.find("CEDILLA")]


@pytest.mark.slow
def test_words_that_only_hunspell_has_are_in_the_vocabulary():
    """Given rare words, Then they are there, as ones of a list for spelling."""
    english = english_vocabulary()
    rare = [english.lexicon.find(word) for word in ("SCHNOZZLE", "COCKLESHELLS")]
    assert [Kind(english.kind[word]) for word in rare] == [Kind.SPELLING] * 2
