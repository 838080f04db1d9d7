"""Finishing a run: one result row for every job, whole or merged from its parts."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from archive.answers import FINAL, answered_jobs, final_jobs
from archive.columns import arrays_of
from archive.games import open_game
from archive.lake import Lake
from archive.runfiles import (
    Run,
    done_places,
    folder,
    open_run,
    read_done,
    read_expanded,
    write_json,
)
from archive.tables import MANIFEST_HEAD, PARTS, RESULTS, SOLUTIONS
from solvers.algebra import Budget, Game, Outcome, Statistics, Status
from solvers.errors import PermanentError

SPLIT = "split"
"""Status of a part that came back divided; its children carry the outcome."""
ANOTHER_PART = "another part of the job is over budget"
"""Reason of parts that are not worked any more, because they cannot save their job."""
_JOB = pa.schema([*MANIFEST_HEAD, pa.field("puzzle_id", pa.string(), nullable=False)])
_HOPELESS = (Status.POISON, Status.INVALID)
"""Statuses of a part that decide the job, whatever the other parts say."""


def finish_run(lake: Lake, run_id: str) -> dict[str, Any]:
    """Write the results and solutions of a run whose every chunk is done, then DONE.json.

    Returns what DONE.json says. A finished run is left as it is; a job that another run has
    answered meanwhile keeps that answer. Raises PermanentError while chunks are missing.
    """
    done = read_done(lake, run_id)
    if done is not None:
        return done
    run = open_run(lake, run_id)
    table, solutions = _results(lake, run) if run.job_count else (RESULTS.empty_table(), [])
    result_path, solution_path = f"results/{run_id}.parquet", f"solutions/{run_id}.parquet"
    table = _unanswered(lake, table, result_path, run.budget)
    if solutions:
        kept = set(table.column("job_id").to_pylist())
        rows = [row for row in solutions if row["job_id"] in kept]
        lake.write_table(solution_path, pa.Table.from_pylist(rows, SOLUTIONS))
    if table.num_rows:
        lake.write_table(result_path, table)
    counts = Counter(table.column("status").to_pylist())
    done = {
        "run_id": run_id,
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "result_count": table.num_rows,
        "statuses": {str(status): counts[status] for status in Status if counts[status]},
        "kernel_ns": pc.sum(table.column("kernel_ns")).as_py() or 0,
        "results": result_path if table.num_rows else None,
        "solutions": solution_path if solutions else None,
    }
    write_json(lake, f"{folder(run_id)}/DONE.json", done)
    return done


def _unanswered(lake: Lake, table: pa.Table, own_path: str, budget: Budget) -> pa.Table:
    """Leave out what others have answered; a final answer yields only to a final one."""
    for path in lake.list("results"):
        if path != own_path and path.endswith(".parquet") and table.num_rows:
            ids = table.column("job_id")
            final = pc.is_in(table.column("status"), value_set=FINAL)
            seen = pc.or_(
                pc.is_in(ids, value_set=final_jobs(lake, [path])),
                pc.and_not(pc.is_in(ids, value_set=answered_jobs(lake, budget, [path])), final),
            )
            if pc.any(seen).as_py():
                table = table.filter(pc.invert(seen))
    return table


def _results(lake: Lake, run: Run) -> tuple[pa.Table, list[dict[str, Any]]]:
    leaves = _leaves(lake, run)
    job_no = leaves.column("job_no").to_numpy()
    leaf_count = np.bincount(job_no, minlength=run.job_count)
    if len(leaf_count) != run.job_count or not leaf_count.all():
        raise PermanentError(
            f"run {run.run_id}: {int((leaf_count == 0).sum())} jobs have no outcome; "
            "expected one for each"
        )
    whole = pc.equal(leaves.column("part_path"), "").to_numpy()
    if (whole & (leaf_count[job_no] > 1)).any():
        raise PermanentError(f"run {run.run_id}: a job has two outcomes; expected one")
    singles = leaves.filter(pa.array(whole))
    singles = singles.take(pc.sort_indices(singles.column("job_no")))
    jobs = lake.read_table(f"{folder(run.run_id)}/manifest/seg-00000.parquet", _JOB)
    if run.split_ahead > 1:
        # Parts of one job follow one another.
        numbers = jobs.column("job_no").to_numpy()
        jobs = jobs.take(pa.array(np.unique(numbers, return_index=True)[1]))
    jobs = jobs.take(pc.sort_indices(jobs.column("job_no")))
    table = _rows(run, singles, jobs.take(singles.column("job_no")))
    solutions = _solution_rows(run, table, singles.column("solutions"))
    divided = leaves.filter(pa.array(~whole))
    if divided.num_rows:
        merged, more = _merged(lake, run, divided)
        table = pa.concat_tables([table, merged])
        table = table.take(pc.sort_indices(table.column("job_id")))
        solutions = sorted(solutions + more, key=lambda row: (row["job_id"], row["rank"]))
    return table, solutions


def _leaves(lake: Lake, run: Run) -> pa.Table:
    """Read the outcomes that count: not of chunks broken up, not of rows that went on."""
    base = f"{folder(run.run_id)}/parts"
    chunks = run.chunks()
    done = done_places(lake, run.run_id)
    missing = [ref.name for ref in chunks if ref.place not in done]
    if missing:
        raise PermanentError(
            f"run {run.run_id}: {len(missing)} chunks are not done, the first is {missing[0]}"
        )
    expanded = read_expanded(lake, run)
    if not expanded and len(done) == len(chunks):
        leaves = lake.read_table(base, PARTS)
    else:
        tables = []
        for ref in chunks:
            part = lake.read_table(ref.part_path, PARTS)
            if ref.place in expanded:
                went_on = pa.array(sorted(expanded[ref.place]), pa.int64())
                part = part.filter(pc.invert(pc.is_in(part.column("job_no"), value_set=went_on)))
            tables.append(part)
        leaves = pa.concat_tables(tables)
    if pc.any(pc.equal(leaves.column("status"), SPLIT)).as_py():
        raise PermanentError(f"run {run.run_id}: a part came back split and nothing went on")
    return leaves


def _rows(run: Run, outcomes: pa.Table, jobs: pa.Table) -> pa.Table:
    rows = outcomes.num_rows

    def constant(text: str) -> pa.Array:
        return pa.repeat(pa.scalar(text), rows)

    columns = {
        "job_id": outcomes.column("job_id"),
        "puzzle_id": jobs.column("puzzle_id"),
        "game": constant(run.game),
        "ask": jobs.column("ask"),
        "rules": constant(run.rules),
        "lexicon_id": constant(run.lexicon_id),
        "solver_version": constant(run.solver_version),
        "status": outcomes.column("status"),
        "count": outcomes.column("count"),
        "value": outcomes.column("value"),
        "reason": outcomes.column("reason"),
        "states": outcomes.column("states"),
        "nodes": outcomes.column("nodes"),
        "parts": pa.repeat(pa.scalar(1, pa.int32()), rows),
        "kernel_ns": outcomes.column("kernel_ns"),
        "table_bytes": outcomes.column("table_bytes"),
        "run_id": constant(run.run_id),
    }
    return pa.table(columns, schema=RESULTS)


def _solution_rows(run: Run, table: pa.Table, solutions: pa.ChunkedArray) -> list[dict[str, Any]]:
    if solutions.null_count == len(solutions):
        return []
    return [
        _solution_row(run, job, puzzle, ask, rank, solution)
        for job, puzzle, ask, text in zip(
            table.column("job_id").to_pylist(),
            table.column("puzzle_id").to_pylist(),
            table.column("ask").to_pylist(),
            solutions.to_pylist(),
            strict=True,
        )
        if text is not None
        for rank, solution in enumerate(json.loads(text))
    ]


def _solution_row(
    run: Run, job: str, puzzle: str, ask: str, rank: int, solution: Any
) -> dict[str, Any]:
    return {
        "job_id": job,
        "puzzle_id": puzzle,
        "game": run.game,
        "ask": ask,
        "rank": rank,
        "solution": json.dumps(solution, separators=(",", ":")),
        "run_id": run.run_id,
    }


def _merged(lake: Lake, run: Run, leaves: pa.Table) -> tuple[pa.Table, list[dict[str, Any]]]:
    """Merge the parts of every divided job, in the order of their paths."""
    game = open_game(lake, run.game, run.rules, run.lexicon_id)
    by_job: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in leaves.to_pylist():
        by_job[row["job_no"]].append(row)
    for rows in by_job.values():
        _check_disjoint(run, rows)
    results, solutions = [], []
    manifest_path = f"{folder(run.run_id)}/manifest/seg-00000.parquet"
    for job_no, jobs in _manifest_rows(lake, run, manifest_path, set(by_job)).items():
        rows = sorted(by_job[job_no], key=lambda row: path_key(row["part_path"]))
        puzzle = game.from_arrays(arrays_of(jobs), 0)
        outcome = merge_outcomes(game, puzzle, run, rows)
        head = jobs.select(["job_id", "puzzle_id", "ask"]).to_pylist()[0]
        results.append(
            {
                **head,
                "game": run.game,
                "rules": run.rules,
                "lexicon_id": run.lexicon_id,
                "solver_version": run.solver_version,
                "status": str(outcome.status),
                "count": outcome.count,
                "value": outcome.value,
                "reason": outcome.reason,
                "states": sum(row["states"] for row in rows),
                "nodes": sum(row["nodes"] for row in rows),
                "parts": len(rows),
                "kernel_ns": sum(row["kernel_ns"] for row in rows),
                "table_bytes": max(row["table_bytes"] for row in rows),
                "run_id": run.run_id,
            }
        )
        solutions += [
            _solution_row(run, head["job_id"], head["puzzle_id"], head["ask"], rank, solution)
            for rank, solution in enumerate(outcome.solutions)
        ]
    return pa.Table.from_pylist(results, RESULTS), solutions


def merge_outcomes(
    game: Game[Any, Any], puzzle: Any, run: Run, rows: Sequence[Mapping[str, Any]]
) -> Outcome[Any]:
    """Merge PARTS rows of one job, sorted by path, into its outcome, solutions as JSON values."""
    for status in _HOPELESS:
        for row in rows:
            if row["status"] == status:
                return Outcome(status=status, reason=f"part {row['part_path']}: {row['reason']}")
    outcome = game.merge(
        puzzle,
        run.ask,
        [
            Outcome(
                status=Status(row["status"]),
                count=None if row["count"] is None else int(row["count"]),
                value=row["value"],
                solutions=tuple(
                    game.solution_from_json(value) for value in json.loads(row["solutions"] or "[]")
                ),
                truncated=row["truncated"],
                statistics=Statistics(
                    states=row["states"],
                    nodes=row["nodes"],
                    kernel_ns=row["kernel_ns"],
                    table_bytes=row["table_bytes"],
                ),
                reason=row["reason"],
            )
            for row in rows
        ],
    )
    reason = outcome.reason
    if outcome.status is Status.OVER_BUDGET and reason in ("", ANOTHER_PART):
        over = [row["reason"] for row in rows if row["status"] == Status.OVER_BUDGET]
        told = next((text for text in over if text != ANOTHER_PART), reason)
        # What a part adds about itself, such as a bound, does not hold for the whole job.
        reason = told.partition(";")[0]
    return Outcome(
        status=outcome.status,
        count=outcome.count,
        value=outcome.value,
        solutions=tuple(game.solution_to_json(solution) for solution in outcome.solutions),
        truncated=outcome.truncated,
        reason=reason,
    )


def path_key(path: str) -> tuple[int, ...]:
    """Order part paths: "" before "2" before "2.10" before "10"."""
    return tuple(int(step) for step in path.split(".")) if path else ()


def child_path(path: str, index: int) -> str:
    """Name the place of a child among its siblings."""
    return f"{path}.{index}" if path else str(index)


def _check_disjoint(run: Run, rows: Sequence[Mapping[str, Any]]) -> None:
    """Refuse to merge a part with itself or with a part of it."""
    paths = sorted(path_key(row["part_path"]) for row in rows)
    for one, other in pairwise(paths):
        if other[: len(one)] == one:
            raise PermanentError(
                f"run {run.run_id}: job {rows[0]['job_id']} has two outcomes for part {one}"
            )


def _manifest_rows(lake: Lake, run: Run, path: str, wanted: set[int]) -> dict[int, pa.Table]:
    """Read the manifest rows of some jobs, one table each, by job number."""
    found: dict[int, pa.Table] = {}
    values = pa.array(sorted(wanted), pa.int64())
    for index in range(len(run.segments[0].chunk_rows)):
        group = lake.read_row_group(path, index)
        hits = group.filter(pc.is_in(group.column("job_no"), value_set=values))
        for i, job_no in enumerate(hits.column("job_no").to_pylist()):
            found[job_no] = hits.slice(i, 1)
    return dict(sorted(found.items()))
