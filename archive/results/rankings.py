"""Ranked covers of boards as the lake keeps them: a file for each board, clue and ranker.

A ranking depends on its board, on the clue and on what ranks: all three name it. So the same
ranking is never made twice, and a file that is there is never changed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from nightgrid.archive.games import ranking_plug
from nightgrid.archive.games.plug import ALONE_SUFFIX, Ranked, Ranker
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RANKINGS
from nightgrid.solvers.algebra import Budget, Status
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reasons import ReasonCode

FOLDER = "rankings"
SUFFIX = ".parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingRequest:
    """A request to rank a board, with the clue that players see."""

    puzzle: Any
    """A board of the game whose covers are ranked."""
    clue: str | None

    def ranking_id(self, ranker: str) -> str:
        """Name its ranking by a ranker."""
        clue = "" if self.clue is None else f"clue {self.clue}"
        return digest("ranking", self.puzzle.puzzle_id, clue, ranker)

    def to_json(self) -> dict[str, Any]:
        """Write it as it travels in messages."""
        return {"puzzle": self.puzzle.to_json(), "clue": self.clue}

    @classmethod
    def from_json(cls, value: Any) -> RankingRequest:
        """Read it as `to_json` writes it. Raises PermanentError for anything else."""
        if not isinstance(value, Mapping) or set(value) != {"puzzle", "clue"}:
            raise PermanentError("a board to rank has other keys; expected puzzle and clue")
        if not (value["clue"] is None or isinstance(value["clue"], str)):
            raise PermanentError(f"clue is {value['clue']!r:.60}; expected a text or null")
        return cls(puzzle=ranking_plug().read_board(value["puzzle"]), clue=value["clue"])


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
    """File a ranking unless it is there; tell whether it was filed now."""
    kept = {**row, "covers": json.dumps(row["covers"], separators=(",", ":"))}
    table = pa.Table.from_pylist([kept], RANKINGS)
    return lake.create_table(ranking_path(row["ranking_id"]), table)


def rank(ranker: Ranker, request: RankingRequest, budget: Budget | None = None) -> dict[str, Any]:
    """Rank the covers of a board and return the row, whatever its status; `covers` are JSON values.

    See nightgrid.archive.games.plug.Ranked for a row of covers.
    """
    ranks = ranking_plug()
    if not ranks.can_rank(request.puzzle):
        return failed_row(ranker.name, request, Status.INVALID, ranks.NOT_RANKED)
    begun, spent = time.perf_counter(), time.process_time()
    found = ranks.rank(ranker, request.puzzle, request.clue, budget)
    return _row(ranker.name, request, found) | {
        "seconds": time.perf_counter() - begun,
        "processor_s": time.process_time() - spent,
    }


def failed_row(
    ranker: str, request: RankingRequest, status: Status, reason: str,
    code: ReasonCode = ReasonCode.INVALID_PUZZLE,
) -> dict[str, Any]:  # fmt: skip
    """Write a ranking that has no covers, with the reason."""
    return _row(ranker, request, Ranked(status=status, reason_code=code, reason=reason))


def _row(ranker: str, request: RankingRequest, found: Ranked) -> dict[str, Any]:
    return {
        "ranking_id": request.ranking_id(ranker),
        "puzzle_id": request.puzzle.puzzle_id,
        "game": ranking_plug().GAME,
        "clue": request.clue,
        "ranker": ranker,
        "with_model": not ranker.endswith(ALONE_SUFFIX),
        "status": str(found.status),
        "reason_code": None if found.reason_code is None else str(found.reason_code),
        "reason": found.reason,
        "cover_count": len(found.covers),
        "tier": found.tier,
        "seconds": 0.0,
        "processor_s": 0.0,
        "covers": list(found.covers),
    }
