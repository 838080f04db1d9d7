"""`solve --rank`: the covers of a board in the order in which they may have been meant."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from nightgrid.archive.games.plug import ALONE_SUFFIX
from nightgrid.archive.games.strands.playing.conditioned import open_play
from nightgrid.archive.games.strands.playing.play import Play
from nightgrid.archive.games.strands.ranking.meant import MeantGame
from nightgrid.archive.games.strands.ranking.plugged import ALONE
from nightgrid.archive.games.strands.ranking.ranker import default_ranker
from nightgrid.service.games.strands.signals import why_lines
from nightgrid.service.terminal.console import duration, sentence_of
from nightgrid.service.terminal.progress import OnceLine
from nightgrid.solvers.algebra import MEANT, Budget, Outcome, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reasons import BudgetSpentError, ReasonCode
from nightgrid.solvers.strands.pieces.pieces import TooManyPiecesError
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.solution import Cover, cover_from_json
from nightgrid.solvers.strands.states.engine import reason_of

SHOWN = 5
"""Covers that are listed; --json has all that were ranked."""


def ranked_lines(covers: Sequence[Mapping[str, Any]], ranker: str, took_ns: int) -> list[str]:
    """Write the likeliest covers of a job of `meant`, and what spoke for the first of them."""
    if not covers:
        return ["No cover was found to rank."]
    first = covers[0]
    clue = "" if first["clue"] else ", without a clue"
    lines = [f"{len(covers)} covers ranked in {duration(took_ns)} by {ranker}{clue}:"]
    for place, cover in enumerate(covers[:SHOWN], 1):
        words = ", ".join(entry["word"] for entry in cover["theme_words"])
        spangram = " ".join(cover["components"])
        lines.append(f"  {place}. {cover['confidence']:6.1%}  {spangram}: {words}")
    more = len(covers) - SHOWN
    if more > 0:
        lines.append(f"  and {more:,} more; --json has all of them")
    apart = {first["spangram"]["word"]: " ".join(first["components"])}
    terms = {apart.get(word, word): nats for word, nats in first["words"].items()}
    lines += why_lines(first["signals"], terms)
    if ranker.endswith(ALONE_SUFFIX):
        lines.append(sentence_of(ALONE))
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSearch:
    """The likeliest covers of a board."""

    outcome: Outcome[Mapping[str, Any]]
    ranker: str
    """What ranked, as jobs have it in the place of a solver's version."""
    clue: str | None
    took_ns: int
    lists_itself: bool = True

    @property
    def status(self) -> Status:
        """How the ranking ended."""
        return self.outcome.status

    @property
    def solutions(self) -> tuple[Cover, ...]:
        """The covers, to be drawn."""
        return tuple(map(cover_from_json, self.outcome.solutions))

    @property
    def reason_code(self) -> ReasonCode | None:
        """Why there is no answer."""
        return self.outcome.reason_code

    @property
    def reason(self) -> str:
        """The same for people."""
        return self.outcome.reason

    def sentence(self) -> str:
        """Say what was found, and what spoke for the first cover."""
        if self.reason:
            return sentence_of(self.reason)
        return "\n".join(ranked_lines(self.outcome.solutions, self.ranker, self.took_ns))

    def to_json(self, game: Any) -> dict[str, Any]:  # noqa: ARG002 - the contract of searches
        """Write it in the names of an outcome, with confidence and signals beside each cover."""
        return {
            "search": "rank",
            "status": str(self.status),
            "wall_ns": self.took_ns,
            "reason_code": self.reason_code,
            "reason": self.reason,
            "clue": self.clue,
            "weights": self.ranker.removesuffix(ALONE_SUFFIX),
            "with_model": not self.ranker.endswith(ALONE_SUFFIX),
            "solutions": list(self.outcome.solutions),
        }


def rank_board(rules: str, puzzle: Puzzle, clue: str | None, budget: Budget) -> RankedSearch:
    """Rank the covers of a board under the game's own rules.

    Raises PermanentError for other rules, and for a board that cannot be ranked.
    """
    game = MeantGame(rules)
    board = game.clued(puzzle, clue)
    game.open(_progress())
    started = time.perf_counter_ns()
    outcome = game.solve(board, MEANT, None, budget)
    return RankedSearch(
        outcome=outcome,
        ranker=game.solver_version,
        clue=clue,
        took_ns=time.perf_counter_ns() - started,
    )


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


@functools.cache
def _progress() -> OnceLine:
    """Make the line of the vectors: one, since rankers are known by it."""
    return OnceLine("vectors of the vocabulary")
