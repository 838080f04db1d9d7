"""`solve --rank`: the covers of a board in the order in which they may have been meant."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from nightgrid.archive.games.plug import ranker_name
from nightgrid.archive.games.strands.playing.conditioned import open_play
from nightgrid.archive.games.strands.playing.play import Play
from nightgrid.archive.games.strands.ranking.plugged import ALONE
from nightgrid.archive.games.strands.ranking.ranker import Ranker, Ranking, default_ranker
from nightgrid.service.games.strands.signals import why_lines
from nightgrid.service.terminal.console import duration, sentence_of
from nightgrid.service.terminal.progress import OnceLine
from nightgrid.solvers.algebra import Budget, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reasons import BudgetSpentError, ReasonCode
from nightgrid.solvers.strands.pieces.pieces import TooManyPiecesError
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.ranking.board import RULES
from nightgrid.solvers.strands.ranking.budgets import timed
from nightgrid.solvers.strands.ranking.covers import cover_of
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.solution import Cover, cover_to_json
from nightgrid.solvers.strands.states.engine import reason_of

SHOWN = 5
"""Covers that are listed; --json has all that were ranked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSearch:
    """The likeliest covers of a board."""

    status: Status
    solutions: tuple[Cover, ...] = ()
    ranking: Ranking | None = None
    words: tuple[Mapping[str, Mapping[str, float]], ...] = ()
    """The nats that each term of the search adds, for each cover by word."""
    clue: str | None = None
    reason_code: ReasonCode | None = None
    reason: str = ""
    took_ns: int = 0
    lists_itself: bool = True

    @property
    def ranker(self) -> str:
        """Name of the weights, as `nightgrid rank` and services name them; "" without a ranking."""
        if self.ranking is None:
            return ""
        return ranker_name(self.ranking.weights, with_models=self.ranking.with_model)

    def sentence(self) -> str:
        """Say what was found, and what spoke for the first cover."""
        if self.ranking is None or not self.solutions:
            return sentence_of(self.reason) if self.reason else "No cover was found to rank."
        first = self.ranking.covers[0]
        lines = [
            f"{len(self.ranking.covers)} covers ranked in {duration(self.took_ns)} by "
            f"{self.ranker}" + ("" if self.clue else ", without a clue") + ":"
        ]
        for place, cover in enumerate(self.ranking.covers[:SHOWN], 1):
            words = ", ".join(cover.theme_words)
            spangram = " ".join(cover.components)
            lines.append(f"  {place}. {cover.confidence:6.1%}  {spangram}: {words}")
        more = len(self.ranking.covers) - SHOWN
        if more > 0:
            lines.append(f"  and {more:,} more; --json has all of them")
        apart = {"".join(first.components): " ".join(first.components)}
        terms = {apart.get(word, word): nats for word, nats in self.words[0].items()}
        lines += why_lines(first.signals, terms)
        if not self.ranking.with_model:
            lines.append(sentence_of(ALONE))
        return "\n".join(lines)

    def to_json(self, game: Any) -> dict[str, Any]:  # noqa: ARG002 - the contract of searches
        """Write it in the names of an outcome, with confidence and signals beside each cover."""
        value: dict[str, Any] = {
            "search": "rank",
            "status": str(self.status),
            "wall_ns": self.took_ns,
            "reason_code": self.reason_code,
            "reason": self.reason,
            "clue": self.clue,
        }
        if self.ranking is None:
            return value | {"solutions": []}
        ranked = zip(self.ranking.covers, self.solutions, self.words, strict=True)
        return value | {
            "weights": self.ranking.weights,
            "with_model": self.ranking.with_model,
            "solutions": [
                cover_to_json(cover)
                | {
                    "confidence": round(one.confidence, 6),
                    "signals": {name: round(nats, 3) for name, nats in one.signals.items()},
                    "words": {
                        word: {term: round(nats, 3) for term, nats in terms.items()}
                        for word, terms in words.items()
                    },
                }
                for one, cover, words in ranked
            ],
        }


def rank_board(rules: Rules, puzzle: Puzzle, clue: str | None, budget: Budget) -> RankedSearch:
    """Rank the covers of a board under the game's own rules.

    Raises PermanentError for other rules, and for a board that cannot be ranked.
    """
    if rules.normal() != RULES:
        raise PermanentError("--rank knows the game's own rules; give it no options of rules")
    ranker = default_ranker(_progress())
    started = time.perf_counter_ns()
    try:
        with timed(budget) as own:
            found = _ranked(ranker, puzzle, clue, own)
    except TooManyPiecesError as error:
        found = RankedSearch(
            status=Status.OVER_BUDGET, reason_code=ReasonCode.CAPACITY, reason=str(error)
        )
    except BudgetSpentError as error:
        why = reason_of(error)
        found = RankedSearch(status=Status.OVER_BUDGET, reason_code=why.code, reason=why.sentence)
    return replace(found, clue=clue, took_ns=time.perf_counter_ns() - started)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedPlay:
    """A board that is played, and what ranks its covers."""

    play: Play
    ranker: str
    """As RankedSearch.ranker."""
    with_model: bool


def opened_play(puzzle: Puzzle, clue: str | None, budget: Budget) -> OpenedPlay:
    """Begin to play a board; the budget is that of each ranking.

    Raises PermanentError for a board that cannot be ranked, or not within the budget.
    """
    ranker = default_ranker(_progress())
    with within_budget():
        play = open_play(ranker, puzzle, clue, budget)
    return OpenedPlay(play=play, ranker=ranker.name, with_model=ranker.meanings is not None)


@contextmanager
def within_budget() -> Iterator[None]:
    """Raise PermanentError where a ranking in the block ends without covers."""
    try:
        yield
    except TooManyPiecesError as error:
        raise PermanentError(str(error)) from error
    except BudgetSpentError as error:
        raise PermanentError(f"ranking ended: {reason_of(error).sentence}") from error


def _ranked(ranker: Ranker, puzzle: Puzzle, clue: str | None, budget: Budget) -> RankedSearch:
    board = ranker.board(puzzle, clue, budget)
    ranking = ranker.rank_pieces(board, clue, budget=budget)
    covers = tuple(cover_of(board, one.scored, ranker.vocabulary) for one in ranking.covers)
    return RankedSearch(
        status=Status.SOLVED if covers else Status.UNSOLVABLE,
        solutions=covers,
        ranking=ranking,
        words=tuple(ranker.explain_words(board, one) for one in ranking.covers),
    )


@functools.cache
def _progress() -> OnceLine:
    """Make the line of the vectors: one, since rankers are known by it."""
    return OnceLine("vectors of the vocabulary")
