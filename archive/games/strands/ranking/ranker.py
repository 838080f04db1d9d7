"""Rank the covers of a board: the best of the exact search, ordered by features of whole covers.

The inputs are the board, the clue and the number of theme words, never an official answer or the
words that the game accepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from nightgrid.archive.games.plug import ranker_name
from nightgrid.archive.games.strands.language.language_model import language_model
from nightgrid.archive.games.strands.ranking.features import (
    FEATURES,
    GROUPS,
    CoverTexts,
    cover_features,
    texts_of,
)
from nightgrid.archive.games.strands.ranking.meaning import Meanings, are_models_installed
from nightgrid.archive.games.strands.ranking.minilm import sentence_model
from nightgrid.archive.games.strands.ranking.themes import SIGNAL, theme_features
from nightgrid.archive.games.strands.ranking.vectors import open_vectors
from nightgrid.archive.games.strands.ranking.vocabularies import ranking_vocabulary
from nightgrid.archive.games.strands.ranking.weights import Weights, fitted_weights, name_here
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.kernel.codes import OUT_OF_SECONDS
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.paths import spell
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.ranking.board import (
    WITH_STRIPS,
    RankedBoard,
    ranked_board,
    with_strips,
)
from nightgrid.solvers.strands.ranking.compounds import KEPT, KEPT_WIDE, NATS
from nightgrid.solvers.strands.ranking.search import NOT_RANKED, Scored, best_covers, can_rank
from nightgrid.solvers.strands.ranking.terms import SPANGRAM_TERMS, THEME_TERMS
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary

LISTED = 100
"""Covers that are ordered by features of whole covers."""
DOUBTFUL, SURE = 8.0, 6.0
"""A first cover is doubtful if its nats a word and SURE times its confidence add up to less. Of 300
early boards a tenth are; without their spangram's pieces, more than half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCover:
    """A cover as its words, with the confidence that it was meant."""

    spangram: str
    components: tuple[str, ...]
    """The words that the spangram is joined from; itself if it is one."""
    theme_words: tuple[str, ...]
    """In the order of their first cells."""
    confidence: float
    """Probability that this cover was meant, if the meant one is in the list."""
    scored: Scored
    signals: dict[str, float]
    """Contribution of each signal in nats, relative to the mean of the list."""

    @property
    def words(self) -> frozenset[str]:
        """All words, by which covers are compared with a published answer."""
        return frozenset((self.spangram, *self.theme_words))


class Ranker:
    """Fitted weights with a vocabulary and, if installed, the models."""

    def __init__(self, weights: Weights, vocabulary: Vocabulary, meanings: Meanings | None) -> None:
        self.weights = weights
        self.vocabulary = vocabulary
        self.meanings = meanings
        self._listed: WeakKeyDictionary[RankedBoard, list[Scored]] = WeakKeyDictionary()
        """The best covers of boards at hand: they are searched before it is known whether a board
        has enough compounds."""

    @property
    def name(self) -> str:
        """The name of the ranker: its weights, the vocabulary if it is another one, and whether it
        uses the models.
        """
        return ranker_name(name_here(self.weights.name), with_models=self.meanings is not None)

    def board(self, puzzle: Puzzle, clue: str | None, budget: Budget | None = None) -> RankedBoard:
        """Find the pieces of a board, with the model's terms of its words; see `widened`.

        Raises PermanentError for a board that cannot be ranked, TooManyPiecesError, and
        BudgetSpentError if the budget's stop is set meanwhile.
        """
        if not can_rank(puzzle):
            raise PermanentError(NOT_RANKED)
        # Nothing keeps the first pieces while more are searched, to save memory.
        return self.widened(self._pieces(puzzle, clue, budget, KEPT), clue, budget)

    def _pieces(
        self, puzzle: Puzzle, clue: str | None, budget: Budget | None, kept: int
    ) -> RankedBoard:
        stop = None if budget is None else budget.stop
        board = ranked_board(puzzle, self.vocabulary, stop, kept)
        go_on(budget)
        return self.told(board, clue)

    def widened(
        self, board: RankedBoard, clue: str | None, budget: Budget | None = None
    ) -> RankedBoard:
        """Search for more spangrams if a board has fewer covers than are listed.

        Its theme words leave so little that an improbable spangram may be the meant one: first from
        more compounds, then a strip that is no known text.
        """
        if len(self.listed(board, LISTED, budget)) == LISTED:
            return board
        if len(board.found.compounds) >= KEPT:
            puzzle = board.puzzle
            del board
            board = self._pieces(puzzle, clue, budget, KEPT_WIDE)
            go_on(budget)
            if len(self.listed(board, LISTED, budget)) == LISTED:
                return board
        return self._with_strips(board, budget)

    def _with_strips(self, board: RankedBoard, budget: Budget | None) -> RankedBoard:
        stop = None if budget is None else budget.stop
        board = with_strips(board, self.vocabulary, stop)
        go_on(budget)
        return board

    def listed(
        self, board: RankedBoard, k: int = LISTED, budget: Budget | None = None
    ) -> list[Scored]:
        """List the k covers with the highest scores of the search. Raises BudgetSpentError."""
        known = self._listed.get(board)
        if known is not None and k == LISTED:
            return known
        score = self.weights.search if self.meanings else self.weights.search_alone
        found = best_covers(board, score, k, budget)
        if k == LISTED:
            self._listed[board] = found
        return found

    def told(self, board: RankedBoard, clue: str | None) -> RankedBoard:
        """Fill in the model's terms of a board's words."""
        if self.meanings is None:
            return board
        words = board.found.words.word
        return board.with_meaning(self.meanings.word_terms(words, clue, self.weights.wordness))

    def rank(
        self, puzzle: Puzzle, clue: str | None = None, k: int = LISTED,
        budget: Budget | None = None,
    ) -> tuple[RankedCover, ...]:  # fmt: skip
        """Rank the k best covers of a board; see `ranked`."""
        return self.ranked(puzzle, clue, k, budget)[1]

    def ranked(
        self, puzzle: Puzzle, clue: str | None = None, k: int = LISTED,
        budget: Budget | None = None,
    ) -> tuple[RankedBoard, tuple[RankedCover, ...]]:  # fmt: skip
        """Rank the k best covers of a board, with strips where the first one is doubtful.

        Raises PermanentError, TooManyPiecesError and BudgetSpentError.
        """
        board = self.board(puzzle, clue, budget)
        covers = self.rank_pieces(board, clue, k, budget)
        if self.meanings is not None and board.tier < WITH_STRIPS and is_doubtful(covers):
            board = self._with_strips(board, budget)
            covers = self.rank_pieces(board, clue, k, budget)
        return board, covers

    def rank_pieces(
        self, board: RankedBoard, clue: str | None, k: int = LISTED, budget: Budget | None = None
    ) -> tuple[RankedCover, ...]:
        """Rank the covers of a board with known pieces."""
        go_on(budget)
        listed = self.listed(board, k, budget)
        go_on(budget)
        if not listed:
            return ()
        texts = texts_of(board, listed, self.vocabulary)
        scores, signals = self._judged(board, listed, texts, clue, budget)
        mass = np.exp(scores - scores.max())
        shares = mass / mass.sum()
        # Stable: equal covers stay in the order of the search, which is canonical.
        order = np.argsort(-scores, kind="stable")
        return tuple(
            self._cover(board, listed[i], texts.spangrams[i], float(shares[i]), signals[i])
            for i in order.tolist()
        )

    def _judged(
        self, board: RankedBoard, listed: list[Scored], texts: CoverTexts, clue: str | None,
        budget: Budget | None,
    ) -> tuple[npt.NDArray[np.float64], list[dict[str, float]]]:  # fmt: skip
        """Score covers in nats, with each signal's contribution relative to the list's mean."""
        if self.meanings is None:
            values = np.array([cover.score for cover in listed], np.float64) / NATS
            scores = values / self.weights.alone_temperature
            return scores, [{"words and geometry": float(s - scores.mean())} for s in scores]
        rows = cover_features(board, listed, clue, self.meanings, self.weights.learned)
        go_on(budget)
        so_far = rows @ self.weights.cover
        themes = theme_features(so_far, texts.words, texts.spangrams, clue, self.meanings)
        as_read = themes @ self.weights.theme[1:]
        shares = (rows - rows.mean(axis=0)) * self.weights.cover * self.weights.theme[0]
        groups = {"words and geometry": ("additive",), **GROUPS}
        signals = [
            {
                name: float(sum(row[FEATURES.index(feature)] for feature in features))
                for name, features in groups.items()
            }
            | {SIGNAL: float(read)}
            for row, read in zip(shares, as_read, strict=True)
        ]
        return so_far * self.weights.theme[0] + as_read, signals

    def _cover(
        self, board: RankedBoard, scored: Scored, components: tuple[str, ...], confidence: float,
        signals: dict[str, float],
    ) -> RankedCover:  # fmt: skip
        found, lexicon = board.found, self.vocabulary.lexicon
        theme = sorted(scored.theme, key=lambda row: min(found.words.cells_on(row)))
        return RankedCover(
            spangram=spell(scored.spangram, found, lexicon),
            components=components,
            theme_words=tuple(spell(("word", row), found, lexicon) for row in theme),
            confidence=confidence,
            scored=scored,
            signals=signals,
        )

    def explain_words(self, board: RankedBoard, cover: RankedCover) -> dict[str, dict[str, float]]:
        """Return the contribution of each term of the search for each word of a cover, in nats."""
        score = self.weights.search if self.meanings else self.weights.search_alone
        explained: dict[str, dict[str, float]] = {}
        for role, (kind, row) in enumerate(cover.scored.pieces):
            table = board.compound if kind == "compound" else board.spangram
            added = board.theme[row] * score.theme if role else table[row] * score.spangram
            names = THEME_TERMS if role else SPANGRAM_TERMS
            word = spell((kind, row), board.found, self.vocabulary.lexicon)
            explained[word] = {
                name: float(nats) for name, nats in zip(names, added, strict=True) if nats
            }
        return explained


def is_doubtful(covers: Sequence[RankedCover]) -> bool:
    """Return whether the first cover is so improbable that its spangram may be no known text."""
    if not covers:
        return False
    first = covers[0]
    nats = first.scored.score / NATS / len(first.scored.pieces)
    return nats + SURE * first.confidence < DOUBTFUL


def go_on(budget: Budget | None) -> None:
    """Raise BudgetSpentError if the budget's stop is set, as a search does."""
    if budget is not None and budget.stopped is not None:
        raise BudgetSpentError(OUT_OF_SECONDS)


@lru_cache(maxsize=1)
def default_ranker() -> Ranker:
    """Open the ranker of this machine, without the models if one is not installed."""
    vocabulary = ranking_vocabulary()
    meanings = open_meanings(vocabulary) if are_models_installed() else None
    take_one_thread()
    return Ranker(fitted_weights(), vocabulary, meanings)


def take_one_thread() -> None:
    """Make this process multiply matrices in one thread.

    The matrices of a ranking are small: a second thread mostly waits for the first, at a core's
    cost, and parallel rankings would wait for one another's.
    """
    threadpool_limits(1, user_api="blas")


def open_meanings(vocabulary: Vocabulary) -> Meanings:
    """Open the models and the vectors of the vocabulary."""
    return Meanings(open_vectors(sentence_model(), vocabulary), language_model())
