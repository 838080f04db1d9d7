"""Guesses follow the posterior over the listed covers, exactly."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightgrid.archive.games.strands.playing.play import (
    Answer,
    Play,
    Possible,
    play_board,
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


HINTED = [
    Possible(
        spangram="FRUIT",
        theme_words=frozenset({"PEAR", other}),
        probability=share,
        cells={"FRUIT": frozenset({0, 1}), "PEAR": frozenset({2, 3}), other: frozenset(cells)},
        spans=frozenset({"FRUIT"}),
    )
    for other, share, cells in (("PLUM", 0.4, {4, 5}), ("LUMP", 0.35, {4, 5}), ("KIWI", 0.25, {6}))
]


def test_a_hint_leaves_the_covers_with_a_word_on_its_cells():
    play = Play(HINTED)
    play.take_hint(frozenset({4, 5}))
    assert {cover.probability for cover in play.covers} == {0.4, 0.35}
    play.hear("PLUM", "not in the list")
    assert play.guess() in ("FRUIT", "PEAR", "LUMP")
    assert "KIWI" not in play.chances()


def test_three_wrong_guesses_earn_a_hint_that_is_taken_where_nothing_is_likely():
    many = [
        Possible(
            spangram="FRUIT",
            theme_words=frozenset({f"W{i}"}),
            probability=0.1,
            cells={"FRUIT": frozenset({0}), f"W{i}": frozenset({1 + i % 5})},
        )
        for i in range(10)
    ]
    truth: dict[str, Answer] = {"W9": "theme word", "FRUIT": "spangram"}
    cells = {"W9": frozenset({5}), "FRUIT": frozenset({0})}
    played = play_board(Play(many), truth, cells)
    assert (played.solved, played.hints) == (True, 1)
    # W0, W1 and W2 are wrong; the hint leaves W4 and W9.
    assert played.wrong == 4
    without = play_board(Play(many), truth)
    assert (without.solved, without.wrong, without.hints) == (True, 9, 0)


def test_an_answer_tells_roles_where_words_that_span_are_known():
    play = Play(COVERS_THAT_SPAN)
    play.hear("PEAR", "theme word")
    assert [cover.spangram for cover in play.covers] == ["FRUIT"]
    play = Play(COVERS_THAT_SPAN)
    play.hear("PEAR", "spangram")
    assert [cover.spangram for cover in play.covers] == ["PEAR"]


COVERS_THAT_SPAN = [
    Possible(
        spangram=spangram,
        theme_words=frozenset({"FRUIT", "PEAR"} - {spangram}),
        probability=0.5,
        spans=frozenset({spangram}),
    )
    for spangram in ("FRUIT", "PEAR")
]


def test_a_proposal_has_role_and_cells():
    guess = Play(HINTED).proposal()
    assert guess is not None
    assert (guess.word, guess.role, guess.cells) == ("FRUIT", "spangram", frozenset({0, 1}))
    assert guess.chance == pytest.approx(1)
