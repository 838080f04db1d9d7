"""Guesses follow the posterior over the listed covers, exactly."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightgrid.archive.games.strands.ranking.play import (
    Answer,
    Play,
    Possible,
    play_in_order,
    play_out,
)

COVERS = [
    Possible(spangram="FRUIT", theme_words=frozenset({"PEAR", "PLUM"}), probability=0.5),
    Possible(spangram="FRUIT", theme_words=frozenset({"PEAR", "LUMP"}), probability=0.3),
    Possible(spangram="PEAR", theme_words=frozenset({"FRUIT", "KIWI"}), probability=0.2),
]


def truth_of(cover: Possible) -> dict[str, Answer]:
    words: dict[str, Answer] = {cover.spangram: "spangram"}
    return words | dict.fromkeys(cover.theme_words, "theme word")


def test_the_likeliest_word_is_guessed_and_answers_leave_what_agrees():
    play = Play(COVERS)
    assert play.chances() == pytest.approx(
        {"FRUIT": 1.0, "PEAR": 1.0, "PLUM": 0.5, "LUMP": 0.3, "KIWI": 0.2}
    )
    assert play.guess() == "FRUIT"
    play.hear("FRUIT", "spangram")
    assert play.chances() == pytest.approx({"PEAR": 1.0, "PLUM": 0.5, "LUMP": 0.3, "KIWI": 0.2})
    play.hear("PEAR", "theme word")
    play.hear("PLUM", "not in the list")
    assert play.guess() == "LUMP"
    play.hear("LUMP", "theme word")
    assert play.is_solved
    assert play.wrong_count == 1


possible = st.builds(
    Possible,
    spangram=st.sampled_from("ABC"),
    theme_words=st.frozensets(st.sampled_from("DEFGH"), min_size=2, max_size=2),
    probability=st.floats(0.01, 1),
)


@given(covers=st.lists(possible, min_size=1, max_size=8), chosen=st.integers(0, 7))
def test_a_listed_cover_is_always_found(covers: list[Possible], chosen: int):
    """Given that the answer is listed, Then play ends with all of its words."""
    truth = truth_of(covers[chosen % len(covers)])
    wrong, solved = play_out(covers, truth)
    assert solved
    assert wrong <= 8 - len(truth)


@given(covers=st.lists(possible, min_size=1, max_size=6))
def test_chances_are_those_of_bayes(covers: list[Possible]):
    """Given any answer to the first guess, Then chances are conditional probabilities."""
    first = Play(covers).guess()
    assert first is not None
    for answer, word in product(("theme word", "spangram", "not in the list"), "ABCDEFGH"):
        play = Play(covers)
        play.hear(first, answer)  # type: ignore[arg-type]
        right = answer != "not in the list"
        agree = [cover for cover in covers if (first in cover.words) == right]
        total = sum(cover.probability for cover in agree)
        both = sum(cover.probability for cover in agree if word in cover.words)
        if total and word != first:
            assert play.chances().get(word, 0.0) == pytest.approx(both / total)


def test_an_answer_that_is_not_listed_ends_without_it():
    assert play_out(COVERS, {"NUTS": "spangram", "PECAN": "theme word"})[1] is False
    assert play_out([], {"NUTS": "spangram"}) == (0, False)


def test_words_in_a_fixed_order_are_wrong_until_the_last_right_one():
    truth = truth_of(COVERS[0])
    assert play_in_order(["FRUIT", "LUMP", "PEAR", "PLUM", "KIWI"], truth) == (1, True)
    assert play_in_order(["FRUIT", "LUMP"], truth) == (1, False)
