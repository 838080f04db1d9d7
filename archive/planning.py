"""Planning a run: leave out what is answered, batch the small jobs, put large ones alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from archive.answers import answered_jobs
from archive.lake import Lake, conform
from archive.runfiles import add_segment, folder, read_json, write_json
from archive.tables import manifest_schema
from solvers.algebra import Ask, Budget, Game, canonical_json, digest, job_id
from solvers.errors import PermanentError

CHUNK_COST_MAX = 4096.0
"""Rows of ordinary cost that one chunk holds at most: 1-2 s of work."""
CHUNK_COST_MIN = 32.0
"""Below this a chunk would cost more in messages and files than in work."""
CHUNKS_PER_WORKER = 16
"""Chunks planned for each worker at least, so that all have work and progress shows."""
ORDINARY_SIZE = 16
"""Dominoes up to which a board is ordinary; each one more about doubles what is to be expected."""

CostFunction = Callable[[pa.Table], npt.NDArray[np.float64]]


def size_cost(puzzles: pa.Table) -> npt.NDArray[np.float64]:
    """Estimate the cost of every puzzle from its `size`, in units of an ordinary board."""
    size = puzzles.column("size").to_numpy().astype(np.float64)
    cost: npt.NDArray[np.float64] = np.exp2(np.clip(size - ORDINARY_SIZE, 0.0, 32.0))
    return cost


def plan_run(
    lake: Lake,
    game: Game[Any, Any],
    puzzles: pa.Table,
    ask: Ask,
    budget: Budget,
    *,
    rules: str = "",
    lexicon_id: str = "",
    worker_count: int = 2,
    cost: CostFunction = size_cost,
) -> str:
    """Plan one job per distinct puzzle that the lake has not answered yet; return the run's id.

    `puzzles` carries the schema of the game's puzzles table. The same question about the same
    puzzles within the same budget is the same run: planned once, it is found again, with all the
    work done for it. Jobs are numbered in the order of their job_id.
    """
    jobs, answered = _open_jobs(lake, game, puzzles, ask, budget, rules, lexicon_id)
    ids = jobs.column("job_id").to_pylist()
    limits = asdict(budget)
    run_id = digest("run", game.name, str(ask), canonical_json(limits), *ids)
    plan_path = f"{folder(run_id)}/plan.json"
    if jobs.num_rows and read_json(lake, plan_path) is not None:
        return run_id
    schema = manifest_schema(puzzles.schema)
    created_at = datetime.now(UTC).isoformat(timespec="seconds")
    if jobs.num_rows:
        costs = cost(jobs)
        chunks = _chunks(
            conform(jobs, schema), costs, _chunk_cost(float(costs.sum()), worker_count)
        )
        add_segment(lake, run_id, 0, "plan", (), chunks, schema)
    plan = {
        "run_id": run_id,
        "game": game.name,
        "ask": str(ask),
        "budget": limits,
        "rules": rules,
        "lexicon_id": lexicon_id,
        "solver_version": game.solver_version,
        "job_count": jobs.num_rows,
        "answered_count": answered,
        "created_at": created_at,
    }
    write_json(lake, plan_path, plan)
    return run_id


def _open_jobs(
    lake: Lake,
    game: Game[Any, Any],
    puzzles: pa.Table,
    ask: Ask,
    budget: Budget,
    rules: str,
    lexicon_id: str,
) -> tuple[pa.Table, int]:
    """Name the jobs, drop repeated puzzles and answered jobs, sort by job_id."""
    if pc.any(pc.not_equal(puzzles.column("game"), game.name)).as_py():
        raise PermanentError(f"expected puzzles of game {game.name!r} only")
    puzzles = _distinct(puzzles)
    version = game.solver_version
    ids = pa.array(
        [
            job_id(
                puzzle_id=puzzle_id,
                ask=ask,
                solver_version=version,
                rules=rules,
                lexicon_id=lexicon_id,
            )
            for puzzle_id in puzzles.column("puzzle_id").to_pylist()
        ],
        pa.string(),
    )
    is_open = pc.invert(pc.is_in(ids, value_set=answered_jobs(lake, budget)))
    opened, ids = puzzles.filter(is_open), ids.filter(is_open)
    order = pc.sort_indices(ids)
    opened, ids = opened.take(order), ids.take(order)
    rows = len(ids)
    empty = pa.repeat(pa.scalar(""), rows)
    head = {
        "job_no": pa.array(np.arange(rows, dtype=np.int64)),
        "job_id": ids,
        "ask": pa.repeat(pa.scalar(str(ask)), rows),
        "part": empty,
        "part_path": empty,
    }
    columns = {**head, **{name: opened.column(name) for name in opened.column_names}}
    return pa.table(columns), puzzles.num_rows - rows


def _distinct(puzzles: pa.Table) -> pa.Table:
    codes = puzzles.column("puzzle_id").combine_chunks().dictionary_encode().indices
    _, first = np.unique(codes.to_numpy(), return_index=True)
    if len(first) == puzzles.num_rows:
        return puzzles
    return puzzles.take(pa.array(np.sort(first)))


def _chunk_cost(total: float, worker_count: int) -> float:
    share = total / (CHUNKS_PER_WORKER * max(1, worker_count))
    return min(max(share, CHUNK_COST_MIN), CHUNK_COST_MAX)


def _chunks(jobs: pa.Table, cost: npt.NDArray[np.float64], chunk_cost: float) -> list[pa.Table]:
    """Cut the jobs into chunks of about `chunk_cost`: large jobs alone and first."""
    alone = np.flatnonzero(cost >= chunk_cost)
    alone = alone[np.argsort(-cost[alone], kind="stable")]
    small = np.flatnonzero(cost < chunk_cost)
    chunks = [jobs.take(pa.array([row])) for row in alone]
    if len(small):
        before = np.cumsum(cost[small]) - cost[small]
        number = np.floor_divide(before, chunk_cost)
        bounds = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(small)]
        rest = jobs.take(pa.array(small)) if len(alone) else jobs
        chunks += [rest.slice(a, b - a) for a, b in pairwise(bounds)]
    return chunks
