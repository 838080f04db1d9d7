"""Planning a run: leave out what is answered, batch the small jobs, put large ones alone."""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from archive.answers import answered_jobs
from archive.columns import arrays_of
from archive.games import job_of, keep_game
from archive.lake import Lake, conform
from archive.runfiles import (
    CHUNKS_MAX,
    SegmentTakenError,
    add_segment,
    folder,
    part_row,
    read_json,
    write_json,
)
from archive.tables import manifest_schema
from solvers.algebra import Ask, Budget, Game, canonical_json, digest
from solvers.errors import PermanentError

CHUNK_MAX_S = 1.0
"""Seconds of expected work that one chunk of many holds at most."""
CHUNK_MIN_S = 0.01
"""Below this a chunk would cost more in messages and files than in work."""
CHUNKS_PER_WORKER = 16
"""Chunks planned for each worker at least, so that all have work and progress shows."""
CHUNKS_OF_A_PLAN = CHUNKS_MAX // 4
"""Chunks of a large run, about: they grow beyond CHUNK_MAX_S rather than become more."""
SPLIT_AHEAD_MAX = 4096
COST_ROWS = 65_536
"""Rows whose cost is estimated at once, which bounds the memory for their columns."""


def plan_run(
    lake: Lake,
    game: Game[Any, Any],
    puzzles: pa.Table,
    ask: Ask,
    budget: Budget,
    *,
    worker_count: int = 2,
    split_ahead: int = 1,
) -> str:
    """Plan one job per distinct puzzle that the lake has not answered yet; return the run's id.

    `puzzles` carries the schema of the game's puzzles table; rules and lexicon are those that the
    game is bound to, and the lexicon is put into the lake. The same question about the same
    puzzles within the same budget is the same run: planned once, it is found again, with all the
    work done for it. Jobs are numbered in the order of their job_id. With `split_ahead` above 1
    every job that can be is divided into about so many parts before anybody works on it, each in a
    chunk of its own: what one large board needs to keep many workers busy.
    """
    if not 1 <= split_ahead <= SPLIT_AHEAD_MAX:
        raise PermanentError(f"split_ahead is {split_ahead}; expected 1 to {SPLIT_AHEAD_MAX}")
    jobs, answered = _open_jobs(lake, game, puzzles, ask, budget)
    ids = jobs.column("job_id").to_pylist()
    limits = asdict(budget)
    asked = (game.name, game.rules, game.lexicon_id, str(ask), canonical_json(limits))
    run_id = digest("run", *asked, str(split_ahead), *ids)
    plan_path = f"{folder(run_id)}/plan.json"
    if jobs.num_rows and read_json(lake, plan_path) is not None:
        return run_id
    schema = manifest_schema(puzzles.schema)
    created_at = datetime.now(UTC).isoformat(timespec="seconds")
    if jobs.num_rows:
        keep_game(lake, game)
        jobs = conform(jobs, schema)
        costs = _costs(game, jobs, ask)
        if split_ahead > 1:
            chunks = _parts(game, jobs, costs, ask, split_ahead)
        else:
            chunks = _chunks(jobs, costs, _chunk_s(float(costs.sum()), worker_count))
        # A planner that died, or one that plans the same jobs just now, may have been faster: its
        # chunks hold the same jobs.
        with contextlib.suppress(SegmentTakenError):
            add_segment(lake, run_id, 0, "plan", (), chunks, schema)
    plan = {
        "run_id": run_id,
        "game": game.name,
        "ask": str(ask),
        "budget": limits,
        "rules": game.rules,
        "lexicon_id": game.lexicon_id,
        "solver_version": game.solver_version,
        "split_ahead": split_ahead,
        "job_count": jobs.num_rows,
        "answered_count": answered,
        "created_at": created_at,
    }
    write_json(lake, plan_path, plan)
    return run_id


def _open_jobs(
    lake: Lake, game: Game[Any, Any], puzzles: pa.Table, ask: Ask, budget: Budget
) -> tuple[pa.Table, int]:
    """Name the jobs, drop repeated puzzles and answered jobs, sort by job_id."""
    if pc.any(pc.not_equal(puzzles.column("game"), game.name)).as_py():
        raise PermanentError(f"expected puzzles of game {game.name!r} only")
    puzzles = _distinct(puzzles)
    names = puzzles.column("puzzle_id").to_pylist()
    ids = pa.array([job_of(game, name, ask) for name in names], pa.string())
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


def _costs(game: Game[Any, Any], jobs: pa.Table, ask: Ask) -> npt.NDArray[np.float64]:
    """Estimate the seconds that every job takes."""
    starts = range(0, jobs.num_rows, COST_ROWS)
    return np.concatenate([game.cost_s(arrays_of(jobs.slice(s, COST_ROWS)), ask) for s in starts])


def _chunk_s(total_s: float, worker_count: int) -> float:
    share_s = total_s / (CHUNKS_PER_WORKER * max(1, worker_count))
    bounded_s = min(max(share_s, CHUNK_MIN_S), CHUNK_MAX_S)
    return max(bounded_s, total_s / CHUNKS_OF_A_PLAN)


def _chunks(jobs: pa.Table, cost_s: npt.NDArray[np.float64], chunk_s: float) -> list[pa.Table]:
    """Cut the jobs into chunks of about `chunk_s`: large jobs alone and first."""
    alone = np.flatnonzero(cost_s >= chunk_s)
    alone = alone[np.argsort(-cost_s[alone], kind="stable")]
    small = np.flatnonzero(cost_s < chunk_s)
    chunks = [jobs.take(pa.array([row])) for row in alone]
    if len(small):
        before = np.cumsum(cost_s[small]) - cost_s[small]
        number = np.floor_divide(before, chunk_s)
        bounds = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(small)]
        rest = jobs.take(pa.array(small)) if len(alone) else jobs
        chunks += [rest.slice(a, b - a) for a, b in pairwise(bounds)]
    return chunks


def _parts(
    game: Game[Any, Any], jobs: pa.Table, cost_s: npt.NDArray[np.float64], ask: Ask, into: int
) -> list[pa.Table]:
    """Divide every job, one chunk a part, large jobs first; what will not divide stays whole."""
    chunks = []
    arrays = arrays_of(jobs)
    for row in np.argsort(-cost_s, kind="stable").tolist():
        job = jobs.slice(row, 1)
        try:
            parts = game.split(game.from_arrays(arrays, row), ask, None, into)
        except PermanentError:
            # Whatever is wrong with the board, solving it says so in its result.
            parts = []
        if len(parts) > 1:
            chunks += [part_row(job, part, str(i)) for i, part in enumerate(parts)]
        else:
            chunks.append(job)
    return chunks
