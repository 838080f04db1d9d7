from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.lexicon.compile import (
    CENTIZIPF_MAX,
    compile_lexicon,
    compile_text,
    digest_of,
    text_of,
    words_of,
)
from nightgrid.solvers.lexicon.lexicon import ALPHABET_MAX, UNKNOWN_CENTIZIPF, Lexicon

WORDS = st.lists(
    st.tuples(
        st.text("ABCÄ9\N{GREEK CAPITAL LETTER OMEGA}\U0001e900", min_size=1, max_size=6),
        st.integers(0, 800),
    ),
    min_size=1,
    max_size=60,
)


PHRASES = st.lists(
    st.tuples(
        st.text("ABC", min_size=1, max_size=2),
        st.text("ABC", min_size=1, max_size=2),
        st.integers(0, 800),
    ),
    max_size=30,
)
SHORT_WORDS = [(a + b, 100) for a in "ABC" for b in ("", "A", "B")]


def highest(words: list[tuple[str, int]]) -> dict[str, int]:
    best: dict[str, int] = {}
    for word, centizipf in words:
        best[word] = max(centizipf, best.get(word, 0))
    return best


@given(WORDS)
def test_words_are_sorted_and_distinct_with_their_highest_frequency(words):
    lexicon = compile_lexicon(words)
    best = highest(words)
    assert words_of(lexicon) == sorted(best)
    assert [lexicon.word(i) for i in range(len(lexicon))] == sorted(best)
    assert lexicon.centizipf.tolist() == [best[word] for word in sorted(best)]
    assert lexicon.has_frequencies == any(value != UNKNOWN_CENTIZIPF for value in best.values())


@given(WORDS, st.text("ABCÄ9Z\N{GREEK CAPITAL LETTER OMEGA}\U0001e900", max_size=7))
def test_find_agrees_with_a_set_of_words(words, asked):
    lexicon = compile_lexicon(words)
    known = sorted(highest(words))
    assert [lexicon.find(word) for word in known] == list(range(len(known)))
    assert lexicon.find(asked) == (known.index(asked) if asked in known else -1)


@given(WORDS, st.randoms(use_true_random=False))
def test_equal_words_give_one_id_and_equal_arrays_in_any_order(words, random):
    again = words * 2
    random.shuffle(again)
    one, other = compile_lexicon(words), compile_lexicon(again)
    assert one.lexicon_id == other.lexicon_id
    for name, array in one.arrays().items():
        np.testing.assert_array_equal(array, other.arrays()[name])


@given(WORDS)
def test_the_canonical_text_identifies_and_restores_a_lexicon(words):
    lexicon = compile_lexicon(words)
    text = text_of(lexicon)
    assert digest_of(text) == lexicon.lexicon_id
    again = compile_text(text)
    assert again.lexicon_id == lexicon.lexicon_id
    for name, array in lexicon.arrays().items():
        np.testing.assert_array_equal(array, again.arrays()[name])


def phrases_of(lexicon: Lexicon) -> dict[tuple[str, str], int]:
    bounds = lexicon.phrase_offsets.tolist()
    return {
        (lexicon.word(first), lexicon.word(int(lexicon.phrase_second[i]))): int(
            lexicon.phrase_centizipf[i]
        )
        for first in range(len(lexicon))
        for i in range(bounds[first], bounds[first + 1])
    }


@given(PHRASES)
def test_phrases_of_known_words_are_sorted_with_their_highest_frequency(phrases):
    lexicon = compile_lexicon(SHORT_WORDS, phrases)
    known = {word for word, _ in SHORT_WORDS}
    wanted: dict[tuple[str, str], int] = {}
    for first, second, centizipf in phrases:
        if {first, second} <= known:
            wanted[first, second] = max(centizipf, wanted.get((first, second), 0))
    assert phrases_of(lexicon) == wanted
    assert list(phrases_of(lexicon)) == sorted(wanted)
    assert lexicon.phrase_offsets[-1] == len(lexicon.phrase_second) == len(wanted)


@given(PHRASES)
def test_phrases_are_in_the_text_that_names_a_lexicon(phrases):
    lexicon = compile_lexicon(SHORT_WORDS, phrases)
    again = compile_text(text_of(lexicon))
    assert again.lexicon_id == lexicon.lexicon_id
    assert phrases_of(again) == phrases_of(lexicon)
    plain = compile_lexicon(SHORT_WORDS)
    assert (plain.lexicon_id == lexicon.lexicon_id) == (not phrases_of(lexicon))


def test_another_word_or_frequency_gives_another_id():
    ids = {
        compile_lexicon(words).lexicon_id
        for words in ([("AB", 1)], [("AB", 2)], [("AC", 1)], [("AB", 1), ("AC", 1)])
    }
    assert len(ids) == 4


def test_the_id_of_given_words_never_changes():
    # Results are stored under it: with another id all would be solved again.
    lexicon = compile_lexicon([("BOARD", 431), ("ÄON", 0)])
    assert lexicon.lexicon_id == "052838ac01dc2bba29654a10cd8ec00b"
    assert text_of(compile_lexicon([("ICE", 1), ("CREAM", 2)], [("ICE", "CREAM", 3)])) == (
        b"CREAM\t2\nICE\t1\nICE CREAM\t3\n"
    )


def test_a_lexicon_of_all_letters_that_fit_is_compiled_and_one_more_is_refused():
    letters = [chr(0x4E00 + i) for i in range(ALPHABET_MAX + 1)]
    full = compile_lexicon((letter * 2, 0) for letter in letters[:-1])
    assert all(full.find(letter * 2) == i for i, letter in enumerate(letters[:-1]))
    with pytest.raises(PermanentError, match=f"{ALPHABET_MAX + 1} different letters; expected at"):
        compile_lexicon((letter, 0) for letter in letters)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "a lexicon has no words; expected at least one"),
        ([("", 3)], "a lexicon has an empty word; expected at least one letter a word"),
        ([("A", -1)], "'A' has -1 centizipf; expected 0 to 32767"),
        ([("A", 5), ("A", -2)], "'A' has -2 centizipf; expected 0 to 32767"),
        ([("A", CENTIZIPF_MAX + 1)], "'A' has 32768 centizipf; expected 0 to 32767"),
    ],
)
def test_an_invalid_lexicon_is_refused_in_one_sentence(words, message):
    with pytest.raises(PermanentError) as caught:
        compile_lexicon(words)
    assert str(caught.value) == message
