"""A search after answers finds exactly the covers that agree with them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.archive.games.strands.playing import conditioned as conditioned_module
from nightgrid.archive.games.strands.playing.conditioned import (
    conditioned,
    open_play,
    possible_of,
    role_chances,
)
from nightgrid.archive.games.strands.playing.play import (
    Answer,
    Known,
    Possible,
    play_board,
)
from nightgrid.archive.games.strands.ranking.ranker import Ranker
from nightgrid.archive.games.strands.ranking.weights import fitted_weights
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.paths import spell
from nightgrid.solvers.strands.ranking.search import timed
from nightgrid.solvers.strands.ranking.vocabulary import vocabulary_of
from tests.drawn import drawn
from tests.solvers.strands.boards import board

WORDS = {"HOT": 500, "DOG": 520, "HOTDOGOG": 350, "CATS": 450, "SCAT": 250, "ACTS": 400,
         "CAST": 500, "TACS": 120, "OGOG": 90, "HOTD": 80, "CATSSCAT": 100}  # fmt: skip
PUZZLE = board("HOTD GOGO CATS SCAT", 2)
RANKER = Ranker(fitted_weights(), vocabulary_of(WORDS, set(WORDS), [("HOT", "DOG", 450)]), None)
BOARD = RANKER.board(PUZZLE, None)


def covers(known: Known | None) -> list[Possible]:
    told = BOARD if known is None else conditioned(BOARD, known, RANKER.vocabulary)
    ranked = RANKER.rank_pieces(told, None, k=1000)
    return [possible_of(told, one, RANKER.vocabulary) for one in ranked]


ALL = covers(None)
SOME = ALL[:4] + ALL[6::80]
"""Covers that are played: the likeliest, and some whose spangram is not a known text."""


def identities(found: Iterable[Possible]) -> set[frozenset[tuple[str, frozenset[int]]]]:
    return {frozenset(cover.cells.items()) for cover in found}


def test_the_board_of_these_tests_has_several_covers():
    assert len(ALL) > 3
    assert all(set(cover.cells) == cover.words for cover in ALL)
    assert all(cover.spangram in (cover.spans or ()) for cover in ALL)


@settings(max_examples=drawn(40), deadline=None)
@given(data=st.data())
def test_searching_under_answers_gives_the_covers_that_agree(data: st.DataObject):
    """Given answers that some cover gives, Then a new search gives all covers that agree."""
    meant = data.draw(st.sampled_from(ALL))
    guessed = data.draw(st.sets(st.sampled_from(sorted({w for c in ALL for w in c.words}))))
    answers: dict[str, Answer] = {
        word: (
            "not in the list" if word not in meant.words
            else "spangram" if word == meant.spangram
            else "theme word"
        )
        for word in guessed
    }  # fmt: skip
    told = data.draw(st.sets(st.sampled_from(sorted(meant.words))))
    cells = {word: meant.cells[word] for word in told & set(answers)}
    hints = data.draw(st.sets(st.sampled_from(sorted(meant.words)), max_size=1))
    known = Known(answers=answers, cells=cells, hints=tuple(meant.cells[word] for word in hints))
    again = [cover for cover in covers(known) if known.agrees(cover)]
    assert identities(again) == identities(cover for cover in ALL if known.agrees(cover))


def test_roles_have_the_odds_of_the_search():
    """Given a cover of which several words span, Then scores of both choices give the odds."""
    score, several = RANKER.weights.search_alone, 0
    for one in RANKER.rank_pieces(BOARD, None, k=1000):
        roles = role_chances(RANKER, BOARD, one)
        assert sum(roles.values()) == pytest.approx(1)
        assert max(roles, key=roles.__getitem__) == one.spangram
        if one.scored.spangram[0] == "compound":
            assert roles == {one.spangram: 1.0}
            continue
        rows = {spell(piece, BOARD.found, RANKER.vocabulary.lexicon): piece[1]
                for piece in one.scored.pieces}  # fmt: skip
        theme, spangram = BOARD.theme @ score.theme, BOARD.spangram @ score.spangram
        wholes = {
            word: spangram[rows[word]] + sum(theme[rows[w]] for w in rows if w != word)
            for word in roles
        }
        several += len(wholes) > 1
        for word, whole in wholes.items():
            nats = (whole - wholes[one.spangram]) / RANKER.weights.alone_temperature
            assert roles[word] / roles[one.spangram] == pytest.approx(np.exp(nats))
    assert several


def test_hearing_an_answer_ends_with_the_budget(monkeypatch: pytest.MonkeyPatch):
    """Given no covers that agree and no time, Then the search under the answers says so."""
    play = open_play(RANKER, PUZZLE, None, Budget())
    play.covers = play.covers[:1]
    monkeypatch.setattr(conditioned_module, "timed", lambda _: timed(Budget(seconds=1e-9)))
    with pytest.raises(BudgetSpentError):
        play.hear(play.guess() or "", "not in the list")


@pytest.mark.parametrize("meant", SOME, ids=lambda cover: "-".join(sorted(cover.words)))
def test_a_cover_of_a_board_is_found_by_playing(meant: Possible):
    truth: dict[str, Answer] = dict.fromkeys(sorted(meant.theme_words), "theme word")
    truth[meant.spangram] = "spangram"
    played = play_board(open_play(RANKER, PUZZLE, None), truth, meant.cells)
    assert played.solved
    assert {guess.word for guess, answer in played.guesses if answer != "not in the list"} == set(
        truth
    )


@pytest.mark.slow
def test_a_cover_beyond_the_list_is_found_by_searching_again(monkeypatch: pytest.MonkeyPatch):
    """Given a list of one cover, Then the others come from searches under what was heard."""
    whole = Ranker.rank_pieces
    monkeypatch.setattr(
        Ranker, "rank_pieces", lambda self, board, clue, _=1, budget=None: whole(
            self, board, clue, 1, budget
        )
    )  # fmt: skip
    for meant in SOME:
        truth: dict[str, Answer] = dict.fromkeys(sorted(meant.theme_words), "theme word")
        truth[meant.spangram] = "spangram"
        assert play_board(open_play(RANKER, PUZZLE, None), truth, meant.cells).solved
