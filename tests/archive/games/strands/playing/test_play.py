"""Guesses follow the posterior over the listed covers and the roles of their words, exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightgrid.archive.games.strands.playing.play import (
    ROLE_ERROR,
    Answer,
    Play,
    Possible,
    play_board,
)

COVERS = [
    Possible(spangram="FRUIT", theme_words=frozenset({"PEAR", "PLUM"}), probability=0.5),
    Possible(spangram="FRUIT", theme_words=frozenset({"PEAR", "LUMP"}), probability=0.3),
    Possible(spangram="PEAR", theme_words=frozenset({"FRUIT", "KIWI"}), probability=0.2),
]


def truth_of(cover: Possible) -> dict[str, Answer]:
    words: dict[str, Answer] = {cover.spangram: "spangram"}
    return words | dict.fromkeys(cover.theme_words, "theme word")


def test_the_likeliest_word_is_guessed_and_answers_filter_covers():
    play = Play(COVERS)
    assert play.chances() == pytest.approx(
        {"FRUIT": 1.0, "PEAR": 1.0, "PLUM": 0.5, "LUMP": 0.3, "KIWI": 0.2}
    )
    assert play.guess() == "FRUIT"
    play.hear("FRUIT", "spangram")
    # Little is left of a cover with another spangram: a third of ROLE_ERROR.
    sure, unsure = 1 - ROLE_ERROR * 2 / 3, ROLE_ERROR / 3
    total = 0.8 * sure + 0.2 * unsure
    assert play.chances() == pytest.approx(
        {
            "PEAR": 1.0,
            "PLUM": 0.5 * sure / total,
            "LUMP": 0.3 * sure / total,
            "KIWI": 0.2 * unsure / total,
        }
    )
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
    played = play_board(Play(covers), truth)
    assert played.solved
    assert played.wrong <= 8 - len(truth)


@st.composite
def covers_with_roles(draw: st.DrawFn) -> list[Possible]:
    """Draw covers with spanning words, each with a probability to be the spangram."""
    covers = []
    for _ in range(draw(st.integers(1, 5))):
        words = draw(st.lists(st.sampled_from("ABCDEF"), min_size=3, max_size=3, unique=True))
        spans = draw(st.none() | st.sets(st.sampled_from(words), min_size=1))
        may = sorted(words if spans is None else spans)
        told = [draw(st.floats(0.05, 1)) for _ in may]
        roles = {word: share / sum(told) for word, share in zip(may, told, strict=True)}
        spangram = max(may, key=lambda word: roles[word])
        covers.append(
            Possible(
                spangram=spangram,
                theme_words=frozenset(words) - {spangram},
                probability=draw(st.floats(0.01, 1)),
                spans=None if spans is None else frozenset(spans),
                roles=draw(st.sampled_from((roles, {}))),
            )
        )
    return covers


def answer_of(words: frozenset[str], spangram: str, guess: str) -> Answer:
    """Return the answer of the game."""
    if guess not in words:
        return "not in the list"
    return "spangram" if guess == spangram else "theme word"


@given(covers=covers_with_roles(), data=st.data())
def test_chances_are_those_of_bayes(covers: list[Possible], data: st.DataObject):
    """Given any answers to any guesses, Then chances are those of a table of all cases.

    A case is a cover with one of its words as the spangram. It has the probability of both, and
    stays if the game would give exactly these answers.
    """
    cases = [
        (cover.words, spangram, cover.probability * chance)
        for cover in covers
        for spangram, chance in cover.role_chances().items()
    ]
    meant = data.draw(st.sampled_from(cases))
    play = Play(covers)
    for guess in data.draw(st.lists(st.sampled_from("ABCDEF"), max_size=4, unique=True)):
        answer = answer_of(meant[0], meant[1], guess)
        play.hear(guess, answer)
        cases = [case for case in cases if answer_of(case[0], case[1], guess) == answer]
    total = sum(weight for _, _, weight in cases)
    for word in "ABCDEF":
        listed = sum(weight for words, _, weight in cases if word in words)
        if word not in play.heard:
            assert play.chances().get(word, 0.0) == pytest.approx(listed / total)
        spangram = sum(weight for _, spangram, weight in cases if spangram == word)
        assert play.spangram_chance(word) == pytest.approx(spangram / total)


@given(covers=covers_with_roles())
def test_the_roles_of_a_cover_sum_to_one(covers: list[Possible]):
    for cover in covers:
        assert sum(cover.role_chances().values()) == pytest.approx(1)
        assert set(cover.role_chances()) == (cover.words if cover.spans is None else cover.spans)


def test_an_answer_that_is_not_listed_ends_without_it():
    assert not play_board(Play(COVERS), {"NUTS": "spangram", "PECAN": "theme word"}).solved
    played = play_board(Play([]), {"NUTS": "spangram"})
    assert (played.wrong, played.solved) == (0, False)


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


def test_three_wrong_guesses_earn_a_hint_for_unlikely_guesses():
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


def test_an_answer_determines_roles_if_spanning_words_are_known():
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


def test_an_answer_weighs_covers_by_the_likelihood_of_the_role():
    """Given two covers with the same two words that span, Then the likelier role weighs more."""
    play = Play(
        [
            Possible(
                spangram=spangram,
                theme_words=frozenset({"FRUIT", "PEAR", other} - {spangram}),
                probability=0.5,
                spans=frozenset({"FRUIT", "PEAR"}),
                roles={"FRUIT": share, "PEAR": 1 - share},
            )
            for spangram, other, share in (("FRUIT", "PLUM", 0.9), ("PEAR", "LUMP", 0.2))
        ]
    )
    play.hear("FRUIT", "spangram")
    first, second = (share * (1 - ROLE_ERROR) + ROLE_ERROR / 2 for share in (0.9, 0.2))
    assert play.chances()["PLUM"] == pytest.approx(first / (first + second))
    assert play.spangram_chance("PEAR") == 0.0


def test_a_proposal_has_role_and_cells():
    guess = Play(HINTED).proposal()
    assert guess is not None
    assert (guess.word, guess.role, guess.cells) == ("FRUIT", "spangram", frozenset({0, 1}))
    assert guess.chance == pytest.approx(1)
