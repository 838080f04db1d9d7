"""Boards are ranked with and without the model, independent of a payload's answer."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from benchmarks.strands_fit.write import write_weights
from nightgrid.archive.games.plug import ALONE_SUFFIX
from nightgrid.archive.games.strands.ranking import meant, plugged
from nightgrid.archive.games.strands.ranking import ranker as ranker_module
from nightgrid.archive.games.strands.ranking.features import GROUPS, Learned
from nightgrid.archive.games.strands.ranking.meaning import Meanings
from nightgrid.archive.games.strands.ranking.meant import MeantGame
from nightgrid.archive.games.strands.ranking.phrases import Phrases
from nightgrid.archive.games.strands.ranking.plda import Plda
from nightgrid.archive.games.strands.ranking.ranker import Ranker
from nightgrid.archive.games.strands.ranking.themes import SIGNAL, SO_FAR, THEME
from nightgrid.archive.games.strands.ranking.weights import (
    NAME,
    Weights,
    fitted_weights,
)
from nightgrid.solvers.algebra import MEANT, Budget, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.stop import LOOK_S, Stop
from nightgrid.solvers.strands.check import check_cover
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.ranking.board import RULES, WITH_STRIPS, ranked_board
from nightgrid.solvers.strands.ranking.covers import cover_of
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary, vocabulary_of
from tests.archive.games.strands.ranking.tiny_model import tiny_meanings
from tests.solvers.strands.boards import board

PUZZLE = board("HOTD GOGO CATS SCAT", 2)
WORDS = {"HOT": 500, "DOG": 520, "CATS": 450, "SCAT": 250, "GODOT": 200, "OGHAM": 150, "DOGGO": 300,
         "TODGO": 180, "HOTDOGOG": 350}  # fmt: skip


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return vocabulary_of(WORDS, set(WORDS), [("HOT", "DOG", 450)])


@pytest.fixture(scope="module")
def meanings(vocabulary: Vocabulary, tmp_path_factory: pytest.TempPathFactory) -> Meanings:
    return tiny_meanings(vocabulary, tmp_path_factory.mktemp("model"))


@pytest.fixture
def weights() -> Weights:
    return fitted_weights()


@pytest.mark.slow
def test_covers_are_ranked_by_confidence_and_keep_the_rules(
    weights: Weights, vocabulary: Vocabulary, meanings: Meanings
):
    ranker = Ranker(weights, vocabulary, meanings)
    pieces = ranker.board(PUZZLE, "cat, dog")
    ranking = ranker.rank_pieces(pieces, "cat, dog")
    shares = [cover.confidence for cover in ranking]
    assert ranking
    assert np.isclose(sum(shares), 1)
    assert shares == sorted(shares, reverse=True)
    for one in ranking:
        cover = cover_of(pieces, one.scored, vocabulary)
        check_cover(PUZZLE, RULES, cover)
        assert {entry.word for entry in cover.entries} == one.words
        assert set(one.signals) == {"words and geometry", *GROUPS, SIGNAL}
        explained = ranker.explain_words(pieces, one)
        total = sum(nats for terms in explained.values() for nats in terms.values())
        assert abs(total - one.scored.score / 1000) < 0.01


def test_a_board_with_few_covers_takes_more_compounds(
    weights: Weights, vocabulary: Vocabulary, meanings: Meanings, monkeypatch: pytest.MonkeyPatch
):
    """Given room for one compound, When the list is not full, Then there is room for all."""
    monkeypatch.setattr(ranker_module, "with_strips", lambda pieces, *_: pieces)
    everything = Ranker(weights, vocabulary, meanings)
    pieces = everything.board(PUZZLE, "cat, dog")
    whole = everything.rank_pieces(pieces, "cat, dog")
    assert len(pieces.found.compounds) > 1
    assert len(whole) > 1
    found = ranker_module.ranked_board

    def ranked_board(puzzle, words, stop=None, kept=1):
        return found(puzzle, words, stop, kept)

    monkeypatch.setattr(ranker_module, "ranked_board", ranked_board)
    monkeypatch.setattr(ranker_module, "KEPT", 1)
    ranker = Ranker(weights, vocabulary, meanings)
    assert ranker.rank(PUZZLE, "cat, dog") == whole

    monkeypatch.setattr(ranker_module, "KEPT_WIDE", 2)
    assert len(ranker.board(PUZZLE, "cat, dog").found.compounds) == 2

    monkeypatch.setattr(ranker_module, "LISTED", 1)
    full = Ranker(weights, vocabulary, meanings).board(PUZZLE, "cat, dog")
    assert len(full.found.compounds) == 1


def test_a_board_whose_compounds_fill_the_list_has_no_strips(
    weights: Weights, vocabulary: Vocabulary, meanings: Meanings, monkeypatch: pytest.MonkeyPatch
):
    """Given a full list, Then there are no strips; else strips are added to the pieces."""
    ranker = Ranker(weights, vocabulary, meanings)
    plain = ranker.told(ranked_board(PUZZLE, vocabulary), "cat, dog")
    listed = len(ranker.listed(plain))
    wide = ranker.board(PUZZLE, "cat, dog")
    assert (plain.tier, wide.tier) == (0, WITH_STRIPS)
    assert len(ranker.listed(wide)) > listed

    monkeypatch.setattr(ranker_module, "LISTED", listed)
    full = Ranker(weights, vocabulary, meanings).board(PUZZLE, "cat, dog")
    assert full.tier == 0
    for name in ("theme", "spangram", "compound"):
        assert getattr(full, name).tobytes() == getattr(plain, name).tobytes()
    assert full.found.codes.tobytes() == plain.found.codes.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("with_model", [True, False])
def test_a_spangram_that_no_list_has_is_in_the_list(
    weights: Weights, tmp_path: Path, with_model: bool
):
    """Given words that leave letters without a word, Then these are the spangram."""
    words = {"CATS": 450, "SCAT": 250, "HOT": 500, "DOG": 520}
    few = vocabulary_of(words, set(words), [])
    known = tiny_meanings(few, tmp_path)
    ranker = Ranker(weights, few, known if with_model else None)
    pieces = ranker.board(PUZZLE, "cat, dog")
    ranking = ranker.rank_pieces(pieces, "cat, dog")
    assert pieces.tier == WITH_STRIPS
    strips = [
        one for one in ranking
        if "strip" in ranker.explain_words(pieces, one)[one.spangram]
    ]  # fmt: skip
    assert strips
    for one in strips:
        assert one.components == (one.spangram,)
        assert set(one.theme_words) == {"CATS", "SCAT"}
        check_cover(PUZZLE, RULES, cover_of(pieces, one.scored, few))


def test_a_board_whose_first_cover_is_doubtful_has_strips(
    weights: Weights, vocabulary: Vocabulary, meanings: Meanings, monkeypatch: pytest.MonkeyPatch
):
    """Given a full list, When its first cover is improbable, Then strips are searched as well."""
    plain = Ranker(weights, vocabulary, meanings)
    listed = len(plain.listed(plain.told(ranked_board(PUZZLE, vocabulary), "cat, dog")))
    monkeypatch.setattr(ranker_module, "LISTED", listed)
    tiers = []
    for doubtful in (-1000.0, 1000.0):
        monkeypatch.setattr(ranker_module, "DOUBTFUL", doubtful)
        board, covers = Ranker(weights, vocabulary, meanings).ranked(PUZZLE, "cat, dog")
        assert covers
        tiers.append(board.tier)
    assert tiers == [0, WITH_STRIPS]
    board, _ = Ranker(weights, vocabulary, None).ranked(PUZZLE, "cat, dog")
    assert board.tier == 0


def test_ranks_of_another_vocabulary_have_another_name(
    weights: Weights, vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
):
    """Given lists of words that the weights do not know, Then the ranker's name has them."""
    assert Ranker(weights, vocabulary, None).name == f"{NAME}{ALONE_SUFFIX}"
    until = plugged.fitted_until(plugged.ranker_here())
    monkeypatch.setattr("importlib.metadata.version", lambda package: f"9.{len(package)}")
    name = f"{NAME}+wordfreq-9.8+symspellpy-9.10+spylls-9.6"
    assert Ranker(weights, vocabulary, None).name == f"{name}{ALONE_SUFFIX}"
    assert plugged.ranker_here().removesuffix(ALONE_SUFFIX) == name
    assert plugged.fitted_until(f"{name}{ALONE_SUFFIX}") == until is not None


def test_a_board_without_a_cover_has_an_empty_ranking(weights: Weights, vocabulary: Vocabulary):
    assert Ranker(weights, vocabulary, None).rank(board("XXXX XXXX", 1)) == ()


def test_a_board_whose_number_of_words_is_unknown_is_refused(
    weights: Weights, vocabulary: Vocabulary
):
    with pytest.raises(PermanentError, match="known number of theme words"):
        Ranker(weights, vocabulary, None).rank(Puzzle(board=PUZZLE.board))


@pytest.mark.parametrize(
    ("step", "after"),
    [("ranked_board", "best_covers"), ("best_covers", "texts_of"), ("texts_of", None)],
)
def test_a_stop_that_is_set_between_two_steps_ends_a_ranking(
    step: str,
    after: str | None,
    weights: Weights,
    vocabulary: Vocabulary,
    monkeypatch: pytest.MonkeyPatch,
):
    """Given a board whose pieces are being found, When it is cancelled, Then no step follows."""
    stop, begun = Stop(), []
    real = getattr(ranker_module, step)

    def stopped(*given: object) -> object:
        found = real(*given)
        stop.set(ReasonCode.CANCELLED)
        # A timed stop checks the stop that it follows at this interval.
        time.sleep(4 * LOOK_S)
        return found

    monkeypatch.setattr(ranker_module, step, stopped)
    if after is not None:
        monkeypatch.setattr(ranker_module, after, lambda *_: begun.append(after))
    monkeypatch.setattr(meant, "_cover_json", lambda *_: begun.append("cover"))
    game = MeantGame()
    monkeypatch.setattr(game, "_ranker", Ranker(weights, vocabulary, None))
    ranked = game.solve(PUZZLE, MEANT, None, Budget(stop=stop))
    assert (ranked.status, begun) == (Status.OVER_BUDGET, [])


def test_weights_are_read_as_they_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("nightgrid.archive.games.strands.ranking.weights.FOLDER", tmp_path)
    plda = Plda(basis=np.eye(3), spread=np.array([1.0, 2.0, 3.0]))
    phrases = Phrases(
        main=np.eye(3, dtype=np.float32), first=np.ones((3, 2), np.float32),
        second=np.zeros((3, 2), np.float32), bias=np.zeros(2, np.float32),
        out=np.array([1.0, -2.0], np.float32), product=np.zeros((3, 3), np.float32),
        shift=np.full(1, 0.5, np.float32),
    )  # fmt: skip
    text = {"provenance": {"boards": 2}, "search": {"zipf": 1.5}, "search_alone": {"zipf": 1.0},
            "cover": {"additive": 1.0},
            "theme": {SO_FAR: 1.0, **dict.fromkeys(THEME, 0.5)},
            "alone_temperature": 1.2}  # fmt: skip
    write_weights(tmp_path, "odd-1", text, np.ones(4), Learned(plda=plda, phrases=phrases))
    read = fitted_weights("odd-1")
    assert (read.name, read.alone_temperature, read.provenance["boards"]) == ("odd-1", 1.2, 2)
    assert read.search.weights()["zipf"] == 1.5
    assert read.theme.tolist() == [1.0] + [0.5] * len(THEME)
    assert read.learned.plda.spread.tolist() == [1.0, 2.0, 3.0]
    assert {n: v.tolist() for n, v in read.learned.phrases.arrays().items()} == {
        n: v.tolist() for n, v in phrases.arrays().items()
    }
    with pytest.raises(PermanentError, match="no fitted weights 'odd-2'; expected one of odd-1"):
        fitted_weights("odd-2")
