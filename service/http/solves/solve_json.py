"""Jobs as JSON, from data that was read before."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from nightgrid.archive.results.statuses import FINAL
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.question import Question

API = "/v1/solves"
DONE, FAILED = "done", "failed"


def solve_json(
    job_id: str,
    state: str,
    question: Question,
    puzzle_id: str,
    puzzle: Mapping[str, Any] | None,
    *,
    references: Sequence[str] = (),
    created_at: float | None,
    ended_at: float | None,
    row: Mapping[str, Any] | None = None,
    progress: Mapping[str, Any] | None = None,
    reason: str = "",
) -> dict[str, Any]:
    """Return a job in a state, with its result row if it is answered; Unix times.

    Poison counts as failed. `puzzle` is None if the lake does not have it.
    """
    at = f"{API}/{job_id}"
    answer = None
    if row is not None:
        answer = answer_json(row, created_at, ended_at)
        state = FAILED if row["status"] == "poison" else state
    return {
        "id": job_id,
        "state": state,
        "game": question.game,
        "puzzle_id": puzzle_id,
        "references": list(references),
        "ask": str(question.ask),
        "rules": question.rules,
        "lexicon_id": question.lexicon_id,
        "puzzle": puzzle,
        "created_at": _written(created_at),
        "ended_at": _written(ended_at),
        "place": None,
        "progress": progress,
        "answer": answer,
        "reason": reason or (row["reason"] if row else ""),
        "links": {
            "self": at,
            "events": f"{at}/events",
            "solutions": f"{at}/solutions",
            "picture": f"{at}/picture.svg",
        },
    }


def is_final(solve: Mapping[str, Any]) -> bool:
    """Return whether a job has a final answer, which is complete in its JSON."""
    answer = solve["answer"]
    return answer is not None and answer["status"] in FINAL and solve["puzzle"] is not None


def is_over(solve: Mapping[str, Any]) -> bool:
    """Return whether a job has ended, with or without an answer."""
    return solve["state"] not in ("queued", "running")


def answer_json(
    row: Mapping[str, Any], created_at: float | None = None, ended_at: float | None = None
) -> dict[str, Any]:
    """Return a result row as the answer of a job; Unix times."""
    ask, count = Ask.parse(row["ask"]), None if row["count"] is None else int(row["count"])
    listed = 0 if ask.kind == "count" else count or 0
    if ask.limit is not None:
        listed = min(listed, ask.limit)
    wall_s = None
    if created_at is not None and ended_at is not None:
        wall_s = round(max(0.0, ended_at - created_at), 4)
    return {
        "status": row["status"],
        "count": None if count is None else str(count),
        "value": row["value"],
        "truncated": ask.kind == "all" and ask.limit is not None and listed == ask.limit,
        "reason_code": row["reason_code"],
        "reason": row["reason"],
        "states": str(row["states"]),
        "nodes": str(row["nodes"]),
        "kernel_s": row["kernel_ns"] / 1e9,
        "wall_s": wall_s,
        "solver_version": row["solver_version"],
        "solutions_stored": listed,
    }


def _written(at: float | None) -> str | None:
    if at is None:
        return None
    return dt.datetime.fromtimestamp(at, dt.UTC).isoformat(timespec="milliseconds")
