"""Ranked covers of boards as the lake keeps them: a file for each board, clue and ranker.

A ranking depends on its board, on the clue and on what ranks: all three name it. So the same
ranking is never made twice, and a file that is there is never changed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RANKINGS
from nightgrid.solvers.algebra import Budget, Status, digest
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError
from nightgrid.solvers.reasons import BudgetSpentError, ReasonCode
from nightgrid.solvers.strands.puzzle import Puzzle

if TYPE_CHECKING:
    from nightgrid.archive.games.strands.ranking.ranker import Ranker

GAME = "strands"
FOLDER = "rankings"
SUFFIX = ".parquet"
ALONE_SUFFIX = "-alone"
"""Ends the name of a ranker without the sentence model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A board that is to be ranked, with what the player is told of it."""

    puzzle: Puzzle
    clue: str | None

    def ranking_id(self, ranker: str) -> str:
        """Name its ranking by a ranker."""
        clue = "" if self.clue is None else f"clue {self.clue}"
        return digest("ranking", self.puzzle.puzzle_id, clue, ranker)

    def to_json(self) -> dict[str, Any]:
        """Write it as it travels in messages."""
        return {"puzzle": self.puzzle.to_json(), "clue": self.clue}

    @classmethod
    def from_json(cls, value: Any) -> Wanted:
        """Read it as `to_json` writes it. Raises PermanentError for anything else."""
        if not isinstance(value, Mapping) or set(value) != {"puzzle", "clue"}:
            raise PermanentError("a board to rank has other keys; expected puzzle and clue")
        if not (value["clue"] is None or isinstance(value["clue"], str)):
            raise PermanentError(f"clue is {value['clue']!r:.60}; expected a text or null")
        return cls(puzzle=Puzzle.from_json(value["puzzle"]), clue=value["clue"])


def ranker_name(ranker: Ranker) -> str:
    """Name what ranks: its weights, and whether the sentence model takes part."""
    return ranker.weights.name + ("" if ranker.meanings is not None else ALONE_SUFFIX)


def ranker_here() -> str:
    """Name what ranks on this machine; opens neither vocabulary nor model."""
    from nightgrid.archive.games.strands.ranking.minilm import is_installed
    from nightgrid.archive.games.strands.ranking.weights import NAME

    return NAME + ("" if is_installed() else ALONE_SUFFIX)


def ranking_path(ranking_id: str) -> str:
    """Name the file of a ranking."""
    return f"{FOLDER}/{ranking_id}{SUFFIX}"


def known_rankings(lake: Lake) -> set[str]:
    """Name the rankings that the lake has."""
    names = (path.rpartition("/")[2] for path in lake.list(FOLDER))
    return {name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)}


def find_ranking(lake: Lake, ranking_id: str) -> dict[str, Any] | None:
    """Read a ranking, its covers as JSON values; None where the lake has none of that name."""
    rows = lake.read_table(ranking_path(ranking_id), RANKINGS).to_pylist()
    if not rows:
        return None
    row: dict[str, Any] = rows[0]
    return row | {"covers": json.loads(row["covers"])}


def keep_ranking(lake: Lake, row: Mapping[str, Any]) -> bool:
    """File a ranking unless it is there; tell whether it was not."""
    kept = {**row, "covers": json.dumps(row["covers"], separators=(",", ":"))}
    table = pa.Table.from_pylist([kept], RANKINGS)
    return lake.create_table(ranking_path(row["ranking_id"]), table)


def rank(ranker: Ranker, wanted: Wanted, budget: Budget | None = None) -> dict[str, Any]:
    """Rank the covers of a board; whatever it comes to is a row, its `covers` JSON values.

    A row of covers has spangram, components, theme_words, confidence, signals, cover (as any
    solution, with paths) and words: by word what each term of the search adds, in nats.
    """
    from nightgrid.archive.games.strands.ranking.ranker import NOT_RANKED
    from nightgrid.solvers.strands.pieces.pieces import TooManyPiecesError
    from nightgrid.solvers.strands.ranking.search import can_rank
    from nightgrid.solvers.strands.states.engine import reason_of

    if not can_rank(wanted.puzzle):
        return failed_row(ranker_name(ranker), wanted, Status.INVALID, NOT_RANKED)
    begun, spent = time.perf_counter(), time.process_time()
    try:
        board = ranker.board(wanted.puzzle, wanted.clue)
        ranking = ranker.rank_pieces(board, wanted.clue, budget=budget)
        covers = [_cover_json(ranker, board, one) for one in ranking.covers]
    except TooManyPiecesError as error:
        found = _failed(ranker, wanted, Status.OVER_BUDGET, str(error), ReasonCode.CAPACITY)
    except BudgetSpentError as error:
        why = reason_of(error)
        found = _failed(ranker, wanted, Status.OVER_BUDGET, why.sentence, why.code)
    except (InvalidPuzzleError, PermanentError) as error:
        found = _failed(ranker, wanted, Status.INVALID, str(error), ReasonCode.INVALID_PUZZLE)
    else:
        found = _row(ranker_name(ranker), wanted, covers) | {"tier": ranking.tier}
    return found | {
        "seconds": time.perf_counter() - begun,
        "processor_s": time.process_time() - spent,
    }


def failed_row(
    ranker: str, wanted: Wanted, status: Status, reason: str,
    code: ReasonCode = ReasonCode.INVALID_PUZZLE,
) -> dict[str, Any]:  # fmt: skip
    """Write a ranking that has no covers, with the reason."""
    about = {"status": str(status), "reason_code": str(code), "reason": reason}
    return _row(ranker, wanted, []) | about


def _failed(
    ranker: Ranker, wanted: Wanted, status: Status, reason: str, code: ReasonCode
) -> dict[str, Any]:
    return failed_row(ranker_name(ranker), wanted, status, reason, code)


def _row(ranker: str, wanted: Wanted, covers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "ranking_id": wanted.ranking_id(ranker),
        "puzzle_id": wanted.puzzle.puzzle_id,
        "game": GAME,
        "clue": wanted.clue,
        "ranker": ranker,
        "with_model": not ranker.endswith(ALONE_SUFFIX),
        "status": str(Status.SOLVED if covers else Status.UNSOLVABLE),
        "reason_code": None,
        "reason": "",
        "cover_count": len(covers),
        "tier": 0,
        "seconds": 0.0,
        "processor_s": 0.0,
        "covers": covers,
    }


def _cover_json(ranker: Ranker, board: Any, one: Any) -> dict[str, Any]:
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
