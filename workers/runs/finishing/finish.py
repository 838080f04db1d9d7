"""Finish a run: one result row for every job, whole or merged from its parts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.json_files import read_json, write_json
from nightgrid.archive.lake.schemas import BUDGET_COLUMNS, RESULTS, SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.statuses import FINAL, is_among
from nightgrid.archive.words.binding import game_of
from nightgrid.solvers.algebra import COST_COLUMNS, Outcome, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game, over_budget
from nightgrid.solvers.question import Question
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.runs.finishing.gathering import ANSWER, Buckets, ahead, gather
from nightgrid.workers.runs.job_keys import Answers, Known, keys_of, read_answers
from nightgrid.workers.runs.listed import merged_ranks, settle_files, statistics_of
from nightgrid.workers.runs.manifest import Run, open_run, read_done
from nightgrid.workers.runs.run_files import done_path, folder, plan_path, segment_path
from nightgrid.workers.runs.staged import CARRIED
from nightgrid.workers.runs.unanswered_jobs import statuses_of

_UNRECOVERABLE = (Status.POISON, Status.INVALID)
"""Statuses of a part that decide the status of the job."""
_AS_OUTCOMES = ("value", "value_at_least", "value_at_most", "truncated", "reason")
"""Columns of parts that are fields of outcomes."""
JOINED_BYTES = 2**26
"""Most JSON bytes of one job's solutions that are joined from its parts."""
SOLUTION_ROWS = 16_384
"""Rows of a row group of solutions."""


def finish_run(lake: Lake, run_id: str) -> dict[str, Any]:
    """Write the results and solutions of a run whose chunks are all done, then DONE.json.

    Returns the content of DONE.json, and deletes all other files of the run. A finished run is not
    changed. A job that another run has answered meanwhile keeps that answer. Memory is bounded by
    some ten thousand rows: longer runs are sorted on disk. Raises DamagedResultError if a chunk
    result is missing or damaged.
    """
    try:
        return read_done(lake, run_id) or _finish(lake, run_id)
    except PermanentError:
        # Another driver that finishes the run deletes what this one reads.
        done = read_done(lake, run_id)
        if done is None:
            raise
        return done


def _finish(lake: Lake, run_id: str) -> dict[str, Any]:
    run, plan = open_run(lake, run_id), read_json(lake, plan_path(run_id))
    if plan is None:
        raise PermanentError(f"run {run_id} is not planned to its end; expected every job")
    counts: Counter[str] = Counter()
    result_path, solution_path = f"results/{run_id}.parquet", f"solutions/{run_id}.parquet"
    solved, files = False, 0
    with Buckets(ANSWER, run.puzzle_count or run.job_count, run.question.ask.kind) as answers:
        divided = gather(lake, run, answers)
        if divided:
            answers.add(_merged(lake, run, divided))
        others = read_answers(
            lake,
            run.question,
            run.budget,
            but_of=run_id,
            again=statuses_of(run.retry),
            listed_bytes=run.solution_bytes,
        )

        def kept() -> Iterator[pa.Table]:
            return (_unanswered(table, others) for table in answers.tables())

        if run.question.ask.kind == "all":
            files = settle_files(lake, run, kept())
        if run.question.ask.kind != "count":
            solved = _write(lake, solution_path, _solution_tables(run, kept()), SOLUTIONS)
        written = _write(lake, result_path, _result_tables(run, kept(), counts), RESULTS)
    return end_run(
        lake,
        plan,
        counts,
        chunks=len(run.chunks()),
        results=result_path if written else None,
        solutions=solution_path if solved else None,
        solution_files=files,
    )


def end_run(
    lake: Lake, plan: Mapping[str, Any], counts: Mapping[str, int], **files: int | str | None
) -> dict[str, Any]:
    """Write DONE.json, which repeats the plan, then delete all other files of the run."""
    path = done_path(plan["run_id"])
    done = {
        **plan,
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "result_count": sum(counts.get(status, 0) for status in Status),
        "statuses": {str(status): counts[status] for status in Status if counts.get(status)},
        "kernel_ns": counts.get("kernel_ns", 0),
        **files,
    }
    write_json(lake, path, done)
    lake.empty_folder(folder(plan["run_id"]), but=path)
    return done


def _write(lake: Lake, path: str, tables: Iterator[pa.Table], schema: pa.Schema) -> bool:
    """Write tables that are not empty, one row group each; return whether there was any."""
    full = (table for table in ahead(tables) if len(table))
    first = next(full, None)
    if first is not None:
        lake.write_row_groups(path, chain([first], full), schema)
    return first is not None


def _unanswered(table: pa.Table, others: Answers) -> pa.Table:
    """Drop jobs that other runs have answered; a final answer yields only to a final one."""
    keys = keys_of(table.column("job_id"))
    final = is_among(table.column("status"), FINAL).to_numpy()
    taken = others.have(keys, Known.FINAL) | (others.have(keys, Known.GIVEN_UP) & ~final)
    return table.filter(pa.array(~taken)) if taken.any() else table


def _result_tables(
    run: Run, answers: Iterable[pa.Table], counts: Counter[str]
) -> Iterator[pa.Table]:
    """Build result rows from answers; add their statuses and `kernel_ns` to `counts`."""
    constants = {
        **run.question.to_json(),
        "puzzle": run.puzzle,
        "run_id": run.run_id,
        **dict(zip(BUDGET_COLUMNS, run.budget.limits.values(), strict=False)),
        "budget_solution_bytes": run.solution_bytes,
    }
    for rows in answers:
        columns = {
            name: pa.repeat(pa.scalar(constants.get(name), RESULTS.field(name).type), len(rows))
            for name in (*constants, *BUDGET_COLUMNS)
        }
        columns |= {name: rows.column(name) for name in rows.column_names}
        for found in rows.column("status").value_counts().to_pylist():
            counts[found["values"]] += found["counts"]
        counts["kernel_ns"] += pc.sum(rows.column("kernel_ns")).as_py() or 0
        yield pa.table({name: columns[name] for name in RESULTS.names}, schema=RESULTS)


def _solution_tables(run: Run, answers: Iterable[pa.Table]) -> Iterator[pa.Table]:
    found: list[dict[str, Any]] = []
    for rows in answers:
        columns = rows.select(["job_id", "puzzle_id", "solutions"])
        for batch in columns.to_batches(max_chunksize=SOLUTION_ROWS):
            for row in batch.to_pylist():
                solutions = json.loads(row.pop("solutions") or "[]")
                found += solution_rows(run.question, run.run_id, solutions=solutions, **row)
                while len(found) >= SOLUTION_ROWS:
                    yield pa.Table.from_pylist(found[:SOLUTION_ROWS], SOLUTIONS)
                    del found[:SOLUTION_ROWS]
    yield pa.Table.from_pylist(found, SOLUTIONS)


def solution_rows(
    question: Question, run_id: str, job_id: str, puzzle_id: str, solutions: Iterable[Any]
) -> list[dict[str, Any]]:
    """Return the rows of the solutions of a job, JSON values in canonical order."""
    return [
        {
            "job_id": job_id,
            "puzzle_id": puzzle_id,
            "game": question.game,
            "ask": str(question.ask),
            "rank": rank,
            "solution": json.dumps(solution, separators=(",", ":")),
            "run_id": run_id,
        }
        for rank, solution in enumerate(solutions)
    ]


def _merged(lake: Lake, run: Run, by_job: Mapping[int, list[dict[str, Any]]]) -> pa.Table:
    """Merge the parts of each divided job."""
    game = game_of(lake, run.question)
    results = []
    for job_no, jobs in _manifest_rows(lake, run, set(by_job)):
        rows = sorted(by_job[job_no], key=lambda row: path_key(row["part_path"]))
        puzzle = game.from_arrays(arrays_of(jobs), 0)
        outcome = merge_outcomes(game, puzzle, run, rows)
        solutions = list(outcome.solutions)
        in_files = outcome.count and not solutions
        results.append(
            {
                "job_id": rows[0]["job_id"],
                "puzzle_id": rows[0]["puzzle_id"],
                "status": str(outcome.status),
                "count": outcome.count,
                "value": outcome.value,
                "reason_code": outcome.reason_code,
                "reason": outcome.reason,
                "parts": len(rows),
                **{name: sum(row[name] for row in rows) for name in COST_COLUMNS},
                "table_bytes": max(row["table_bytes"] for row in rows),
                "solutions": None if in_files else json.dumps(solutions, separators=(",", ":")),
            }
        )
    return pa.Table.from_pylist(results, ANSWER)


def merge_outcomes(
    game: Game[Any, Any], puzzle: Any, run: Run, rows: Sequence[Mapping[str, Any]]
) -> Outcome[Any]:
    """Merge PARTS rows of one job, sorted by path, into its outcome, solutions as JSON values."""
    for status in _UNRECOVERABLE:
        for row in rows:
            if row["status"] == status:
                reason = f"part {row['part_path']}: {row['reason']}"
                code = row["reason_code"] and ReasonCode(row["reason_code"])
                return Outcome(status=status, reason_code=code, reason=reason)
    # The outcomes of later stages cover the states that a stage passed on.
    last = rows[-1]
    rows = [row for row in rows if row["status"] != CARRIED]
    if last["status"] == CARRIED and all(row["status"] != Status.OVER_BUDGET for row in rows):
        raise PermanentError(
            f"run {run.run_id}: job {last['job_id']} has states that were not carried on"
        )
    listed = merged_ranks(rows)
    if listed is not None:
        return listed
    if sum(len(row["solutions"] or "") for row in rows) > JOINED_BYTES:
        sentence = f"parts of a board that was not counted have more than {JOINED_BYTES:,} bytes"
        spent = Reason(code=ReasonCode.SOLUTION_BYTES, sentence=sentence)
        return over_budget(spent, statistics_of(rows))
    outcome = game.merge(puzzle, run.question.ask, [_outcome_of(game, row) for row in rows])
    solutions = tuple(game.solution_to_json(solution) for solution in outcome.solutions)
    return replace(outcome, solutions=solutions)


def _outcome_of(game: Game[Any, Any], row: Mapping[str, Any]) -> Outcome[Any]:
    """Return the outcome of a part from its PARTS row."""
    solutions = json.loads(row["solutions"] or "[]")
    return Outcome(
        status=Status(row["status"]),
        count=None if row["count"] is None else int(row["count"]),
        solutions=tuple(game.solution_from_json(value) for value in solutions),
        statistics=statistics_of([row]),
        reason_code=row["reason_code"] and ReasonCode(row["reason_code"]),
        **{name: row[name] for name in _AS_OUTCOMES},
    )


def path_key(path: str) -> tuple[int, ...]:
    """Sort key of part paths: "" before "2" before "2.10" before "10"."""
    return tuple(int(step) for step in path.split(".")) if path else ()


def child_path(path: str, index: int) -> str:
    """Return the path of a child part."""
    return f"{path}.{index}" if path else str(index)


def _manifest_rows(lake: Lake, run: Run, wanted: set[int]) -> Iterator[tuple[int, pa.Table]]:
    """Yield the number and the first manifest row of some jobs."""
    left = set(wanted)
    for segment in run.segments:
        if segment.kind != "plan" or not left:
            continue
        path = segment_path(run.run_id, segment.number)
        with lake.open_parquet(path) as file:
            for index in range(file.num_row_groups):
                numbers = file.read_row_group(index, ["job_no"]).column("job_no").to_pylist()
                here = {n: i for i, n in enumerate(numbers) if n in left}
                if here:
                    group = file.read_row_group(index)
                    for job_no, i in here.items():
                        yield job_no, group.slice(i, 1)
                    left -= here.keys()
