"""What ranks Strands, as nightgrid.archive.games.plug.RankingPlug wants it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nightgrid.archive.games.plug import ALONE_SUFFIX, Ranked, ranker_name
from nightgrid.archive.games.strands.ranking import misses
from nightgrid.archive.games.strands.ranking.misses import EARLIER_MISSES, MISSES
from nightgrid.solvers.algebra import Arrays, Budget, Status
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError
from nightgrid.solvers.reasons import BudgetSpentError, ReasonCode
from nightgrid.solvers.strands.puzzle import Puzzle

if TYPE_CHECKING:
    from nightgrid.archive.games.strands.ranking.ranker import RankedCover, Ranker
    from nightgrid.solvers.strands.ranking.board import RankedBoard
    from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary

__all__ = [
    "ALONE", "EARLIER_MISSES", "GAME", "MISSES", "NOT_RANKED", "board_at", "can_rank",
    "fitted_until", "measure", "open_ranker", "rank", "ranker_here", "read_board", "warm",
]  # fmt: skip
GAME = "strands"
ALONE = (
    "ranked without the meaning of words and clue, by how common each word is and how it lies on "
    "the board: its models are not installed (docs/how-to/rank-covers.md)"
)
NOT_RANKED = (
    "only boards of up to 63 cells with a known number of theme words are ranked; give theme_words"
)
SMALL, SMALL_CLUE = Puzzle(board=("HOTD", "GOGO", "CATS", "SCAT"), theme_words=2), "pets"
"""A board that is ranked in no time."""
FEW_COVERS = Puzzle(board=("QZJX", "XJZQ", "QZJX", "XJZQ"), theme_words=2)
"""One that has no cover: strips are looked for, too (nightgrid.solvers.strands.ranking.strips)."""


def read_board(value: Any) -> Puzzle:
    """See RankingPlug."""
    return Puzzle.from_json(value)


def board_at(arrays: Arrays, row: int) -> Puzzle:
    """See RankingPlug."""
    from nightgrid.solvers.strands.columns import from_arrays

    return from_arrays(arrays, row)


def can_rank(puzzle: Puzzle) -> bool:
    """See RankingPlug."""
    from nightgrid.solvers.strands.ranking import search

    return search.can_rank(puzzle)


def ranker_here() -> str:
    """See RankingPlug."""
    from nightgrid.archive.games.strands.ranking.meaning import are_models_installed
    from nightgrid.archive.games.strands.ranking.weights import name_here

    return ranker_name(name_here(), with_models=are_models_installed())


def fitted_until(ranker: str) -> str | None:
    """See RankingPlug."""
    from nightgrid.archive.games.strands.ranking.weights import provenance_of

    known = provenance_of(ranker.removesuffix(ALONE_SUFFIX))
    return None if known is None else str(known["to"])


def open_ranker() -> Ranker:
    """See RankingPlug."""
    from nightgrid.archive.games.strands.ranking.ranker import default_ranker

    return default_ranker()


def warm(ranker: Ranker) -> None:
    """See RankingPlug."""
    for puzzle in (SMALL, FEW_COVERS):
        ranker.rank(puzzle, SMALL_CLUE)


def rank(ranker: Ranker, puzzle: Puzzle, clue: str | None, budget: Budget | None) -> Ranked:
    """See RankingPlug."""
    from nightgrid.archive.games.strands.ranking.ranker import go_on
    from nightgrid.solvers.strands.pieces.pieces import TooManyPiecesError
    from nightgrid.solvers.strands.ranking.budgets import timed
    from nightgrid.solvers.strands.states.engine import reason_of

    try:
        with timed(budget or Budget()) as own:
            board = ranker.board(puzzle, clue, own)
            ranking = ranker.rank_pieces(board, clue, budget=own)
            covers = []
            for one in ranking.covers:
                go_on(own)
                covers.append(_cover_json(ranker, board, one))
    except TooManyPiecesError as error:
        return _failed(Status.OVER_BUDGET, str(error), ReasonCode.CAPACITY)
    except BudgetSpentError as error:
        why = reason_of(error)
        return _failed(Status.OVER_BUDGET, why.sentence, why.code)
    except (InvalidPuzzleError, PermanentError) as error:
        return _failed(Status.INVALID, str(error), ReasonCode.INVALID_PUZZLE)
    status = Status.SOLVED if covers else Status.UNSOLVABLE
    return Ranked(status=status, covers=covers, tier=ranking.tier)


def measure(official: Any, covers: Sequence[Mapping[str, Any]]) -> tuple[int | None, str | None]:
    """See RankingPlug."""
    return misses.measure(official, covers, _vocabulary)


def _vocabulary() -> Vocabulary:
    from nightgrid.archive.games.strands.ranking.vocabularies import ranking_vocabulary

    return ranking_vocabulary()


def _failed(status: Status, reason: str, code: ReasonCode) -> Ranked:
    return Ranked(status=status, reason_code=code, reason=reason)


def _cover_json(ranker: Ranker, board: RankedBoard, one: RankedCover) -> dict[str, Any]:
    from nightgrid.solvers.strands.ranking.covers import cover_of
    from nightgrid.solvers.strands.solution import cover_to_json

    return {
        "spangram": one.spangram,
        "components": list(one.components),
        "theme_words": list(one.theme_words),
        "confidence": round(one.confidence, 6),
        "signals": {name: round(nats, 3) for name, nats in one.signals.items()},
        "words": {
            word: {term: round(nats, 3) for term, nats in terms.items()}
            for word, terms in ranker.explain_words(board, one).items()
        },
        "cover": cover_to_json(cover_of(board, one.scored, ranker.vocabulary)),
    }
