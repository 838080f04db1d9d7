"""Ranks: where official solutions stand among the best ones of their boards."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from nightgrid.archive.games import archive_plug
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import ranks_schema
from nightgrid.archive.results.results import find_results, solutions_of
from nightgrid.solvers.algebra import Ask, Game, Status
from nightgrid.solvers.question import question_of


def ranks_path(game: str) -> str:
    """Name the table of a game's ranks."""
    return f"gold/{game}_ranks.parquet"


def official_ranks(lake: Lake, game: Game[Any, Any], editions: pa.Table, ask: Ask) -> pa.Table:
    """Look every official solution up among those that `best(k)` found, 1 for the first.

    The game tells which solutions are the same. An edition whose board was not solved has no rank
    and its status says why.
    """
    rows = [row for row in editions.to_pylist() if row["official_solution"] is not None]
    question = question_of(game, ask)
    jobs = {row["puzzle_id"]: question.job_id(row["puzzle_id"]) for row in rows}
    results = {row["job_id"]: row for row in find_results(lake, jobs.values()).to_pylist()}
    solutions = solutions_of(lake, {job: row["run_id"] for job, row in results.items()})
    found = []
    for edition in rows:
        job = jobs[edition["puzzle_id"]]
        status = results[job]["status"] if job in results else "pending"
        best = solutions.get(job, [])
        row = {name: edition[name] for name in ("game", "date", "level", "revision", "puzzle_id")}
        row |= {
            "ask": str(ask),
            "status": status,
            "best_count": len(best) if status in (Status.SOLVED, Status.UNSOLVABLE) else None,
            "official_rank": _rank(game, json.loads(edition["official_solution"]), best),
        }
        found.append(row)
    return pa.Table.from_pylist(found, schema=ranks_schema(game.name))


def _rank(game: Game[Any, Any], official: Any, best: list[str]) -> int | None:
    wanted = game.solution_from_json(official)
    is_same = archive_plug(game.name).is_same
    for rank, text in enumerate(best, 1):
        if is_same(wanted, game.solution_from_json(json.loads(text))):
            return rank
    return None
