"""Plan a run, segment by segment, while workers may already solve the first ones.

`plan_pass` finds the open jobs and cuts them into chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, TypeAlias

import pyarrow as pa

from nightgrid.archive.lake.json_files import read_json, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.words.binding import keep_game
from nightgrid.workers.logs import get_logger
from nightgrid.workers.runs.finishing.ended import ensure_plan
from nightgrid.workers.runs.finishing.finish import end_run
from nightgrid.workers.runs.job_keys import Answers
from nightgrid.workers.runs.manifest import (
    SegmentTakenError,
    add_segment,
    has_plan,
    has_run,
    read_segment,
    read_segments,
)
from nightgrid.workers.runs.plan.plan_pass import Asking, PlannedChunk, PlanPass
from nightgrid.workers.runs.run_files import asked_path, plan_path
from nightgrid.workers.runs.status import next_name
from nightgrid.workers.tracing import span

log = get_logger("nightgrid.planner")

FIRST_ROWS = 2_048
"""Puzzles of the first segment, which is written soon so that workers can start. Each further one
has twice as many, up to BATCH_ROWS."""

Puzzles: TypeAlias = pa.Table | Callable[[], Iterable[pa.Table]]
"""A puzzles table, or a function that returns any number of them for each pass."""


def plan_run(
    asking: Asking, puzzles: Puzzles, answers: Answers | None = None, known_count: int = 0
) -> str:
    """Plan one job per distinct puzzle that the lake has not answered yet; return the run's id.

    The game's lexicon is put into the lake. The run is named after its question, its budget and its
    jobs, in a pass of its own over the puzzles: the same jobs are the same run, with all the work
    done for it. `answers` are those of the lake, if the caller has read them; `known_count` is how
    many answered puzzles the caller has left out, and is added to those of the plan.
    """
    lake, answers = asking.lake, answers or asking.read_answers()
    jobs = PlanPass(asking, answers)
    for table in _tables(puzzles):
        jobs.find(table)
    run_id = jobs.run_id()
    if jobs.open_count:
        # A run of the same jobs may have ended without answering them, or lost its results.
        run_id = next_name(lake, run_id, more=True)
        ensure_plan(lake, run_id)
        with span("plan", run=run_id, game=asking.game.name):
            begin_run(asking, run_id, puzzle_count=jobs.open_count)
            extend_run(asking, puzzles, run_id, answers, known_count)
    else:
        # All runs without jobs have the same name, whatever their answered puzzles are.
        _write_plan(asking, run_id, 0, jobs, known_count)
    return run_id


def begin_run(asking: Asking, run_id: str, *, puzzle_count: int) -> None:
    """Create a run whose id identifies its question and puzzles; `extend_run` plans it.

    Does nothing if the run exists. `puzzle_count` is the number of puzzles.
    """
    if has_run(asking.lake, run_id):
        return
    keep_game(asking.lake, asking.game)
    write_json(asking.lake, asked_path(run_id), _asked(asking, run_id, puzzle_count))


def extend_run(
    asking: Asking,
    puzzles: Puzzles,
    run_id: str,
    answers: Answers | None = None,
    known_count: int = 0,
) -> None:
    """Plan the rest of a run that was begun, while drivers may work it.

    Continues after a planner that was killed, or next to one that lives: segments in the manifest
    are kept, and nothing is planned twice. `answers` and `known_count` are as in `plan_run`.
    """
    lake = asking.lake
    while not has_plan(lake, run_id):
        plan = PlanPass(asking, answers)
        try:
            _add_missing(lake, plan, _tables(puzzles), run_id)
        except SegmentTakenError:
            continue
        begun = read_json(lake, asked_path(run_id)) or {}
        _write_plan(asking, run_id, begun.get("puzzle_count", 0), plan, known_count)


def _tables(puzzles: Puzzles) -> Iterable[pa.Table]:
    return [puzzles] if isinstance(puzzles, pa.Table) else puzzles()


def estimate_run(asking: Asking, puzzles: Puzzles) -> PlanPass:
    """Make the pass of `extend_run` without writing; return it for its counts."""
    plan = PlanPass(asking)
    for _ in plan.chunks(_tables(puzzles), FIRST_ROWS):
        pass
    return plan


def _add_missing(lake: Lake, plan: PlanPass, tables: Iterable[pa.Table], run_id: str) -> None:
    """Add segments to a run until all jobs of a pass are in its manifest.

    Raises SegmentTakenError if another planner adds one meanwhile: its jobs must not be planned
    again.
    """
    known = read_segments(lake, run_id)
    for segment in known:
        if segment.kind == "plan":
            plan.take_over(run_id, segment)
    number = len(known)
    for chunks in plan.chunks(tables, FIRST_ROWS):
        number = add_plan(lake, run_id, number, chunks)


def add_plan(lake: Lake, run_id: str, number: int, planned: Iterable[PlannedChunk]) -> int:
    """Add a segment under the first number from `number` on that no driver has taken.

    Returns the number after it. Raises SegmentTakenError if another planner has taken one.
    """
    chunks, seconds = zip(*planned, strict=True)
    cost_s = [round(s, 4) for s in seconds]
    while True:
        try:
            add_segment(lake, run_id, number, "plan", (), chunks, cost_s)
        except SegmentTakenError:
            # Usually a driver's, of rows that came back split.
            if read_segment(lake, run_id, number).kind == "plan":
                raise
        else:
            return number + 1
        number += 1


def _asked(asking: Asking, run_id: str, puzzle_count: int) -> dict[str, Any]:
    return {
        "run_id": run_id,
        **asking.question.to_json(),
        "budget": asking.budget.limits,
        **({} if asking.listed_bytes is None else {"solution_bytes": asking.listed_bytes}),
        "retry": asking.retry,
        **({} if asking.divide_into < 2 else {"divide_into": asking.divide_into}),
        **({} if asking.puzzle is None else {"puzzle": asking.puzzle}),
        "puzzle_count": puzzle_count,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _write_plan(
    asking: Asking, run_id: str, puzzle_count: int, plan: PlanPass, known_count: int
) -> None:
    planned = {
        "job_count": plan.job_count,
        "answered_count": plan.answered_count + known_count,
        "poison_count": plan.poison_count,
        "divided_count": plan.divided_count,
    }
    about = _asked(asking, run_id, puzzle_count) | planned
    if not plan.job_count:
        end_run(asking.lake, about, {})
        return
    write_json(asking.lake, plan_path(run_id), about)
    log.info(
        "run planned",
        run=run_id,
        game=asking.question.game,
        jobs=plan.job_count,
        known=plan.answered_count + known_count,
        divided=plan.divided_count,
        expected_s=round(plan.cost_s, 3),
    )
