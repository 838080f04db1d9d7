"""Short answers: what the lake knows of puzzles, a line a question, without any solution."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel, Field

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import find_results_of_puzzles
from nightgrid.archive.results.statuses import FINAL
from nightgrid.solvers.algebra import Ask, Status
from nightgrid.solvers.registry import game_plug

COLUMNS = (
    "job_id",
    "puzzle_id",
    "game",
    "ask",
    "rules",
    "lexicon_id",
    "solver_version",
    "status",
    "count",
    "value",
    "reason_code",
    "reason",
    "kernel_ns",
    "run_id",
)


class ShortAnswer(BaseModel):
    """An answer without its solutions."""

    id: str = Field(description="Of the job: GET /v1/solves/{id} has the whole answer.")
    ask: str
    rules: str = Field(description='In one line; "" for the game\'s own, or a game without.')
    lexicon_id: str
    solver_version: str
    status: str = Field(description="solved, unsolvable, over_budget, invalid or poison.")
    count: str | None = Field(description="Exact number of solutions, in decimal.")
    value: int | None = Field(description="What the best solution is worth.")
    reason_code: str | None
    reason: str
    kernel_s: float
    solutions_stored: int = Field(description="Solutions that the lake has of it.")


def short_answers(lake: Lake, puzzle_ids: Collection[str]) -> dict[str, list[ShortAnswer]]:
    """Look up what is known of puzzles, by puzzle, the usual question first."""
    if not puzzle_ids:
        return {}
    rows = find_results_of_puzzles(lake, puzzle_ids, COLUMNS).to_pylist()
    found: dict[str, list[ShortAnswer]] = {}
    for row in sorted(rows, key=_rank):
        found.setdefault(row["puzzle_id"], []).append(_short(row))
    return found


def _rank(row: Mapping[str, Any]) -> tuple[bool, bool, int, str, str]:
    """Order answers: those to the usual ask, those that are final, those with fewer rules said."""
    is_usual = row["ask"] == str(game_plug(row["game"]).usual_ask)
    return (not is_usual, row["status"] not in FINAL, len(row["rules"]), row["ask"], row["job_id"])


def _short(row: Mapping[str, Any]) -> ShortAnswer:
    count = None if row["count"] is None else int(row["count"])
    return ShortAnswer(
        id=row["job_id"],
        count=None if count is None else str(count),
        kernel_s=row["kernel_ns"] / 1e9,
        solutions_stored=_stored(Ask.parse(row["ask"]), row["status"], count),
        **{
            name: row[name]
            for name in (
                "ask",
                "rules",
                "lexicon_id",
                "solver_version",
                "status",
                "value",
                "reason_code",
                "reason",
            )
        },
    )


def _stored(ask: Ask, status: str, count: int | None) -> int:
    """Tell how many solutions a job has left in the lake; `best` counts more than it lists."""
    if ask.kind == "count" or status != Status.SOLVED:
        return 0
    if ask.kind == "best":
        return ask.limit or 0 if count is None else min(count, ask.limit or 0)
    return 1 if ask.kind == "first" else count or 0
