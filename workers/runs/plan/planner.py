"""Planning a run, segment by segment, while workers may be at it already.

`plan_pass` finds what there is to plan, and cuts it into chunks.
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
from nightgrid.workers.runs.job_keys import Answers
from nightgrid.workers.runs.manifest import (
    SegmentTakenError,
    add_segment,
    has_plan,
    has_run,
    read_segment,
    read_segments,
)
from nightgrid.workers.runs.plan.plan_pass import (
    Asking,
    Piece,
    PlanPass,
)
from nightgrid.workers.runs.run_files import asked_path, plan_path
from nightgrid.workers.runs.status import next_name
from nightgrid.workers.tracing import span

log = get_logger("nightgrid.planner")

FIRST_ROWS = 2_048
"""Puzzles of the first segment, which is soon written, so that workers can begin. Each further one
has twice as many, up to BATCH_ROWS."""

Puzzles: TypeAlias = pa.Table | Callable[[], Iterable[pa.Table]]
"""A table, or what gives any number of them for each pass, with the schema of the puzzles table."""


def plan_run(
    asking: Asking, puzzles: Puzzles, answers: Answers | None = None, known_count: int = 0
) -> str:
    """Plan one job per distinct puzzle that the lake has not answered yet; return the run's id.

    The lexicon that the game is bound to is put into the lake. The run is named after its question,
    its budget and its jobs, for which the puzzles are passed over once more: the same jobs are the
    same run, planned once and found again, with all the work done for it. Expensive jobs come
    first, as far as they are held together. `answers` is what the lake has answered, if it was read
    before, and `known_count` how many answered puzzles the caller has left out: the plan counts
    them in.
    """
    lake, answers = asking.lake, answers or asking.read_answers()
    jobs = PlanPass(asking, answers)
    for table in _tables(puzzles):
        jobs.find(table)
    run_id = jobs.run_id()
    if jobs.open_count:
        if asking.retry is not None:
            # A run of the same jobs may have given them up.
            run_id = next_name(lake, run_id, more=True)
        ensure_plan(lake, run_id)
        with span("plan", run=run_id, game=asking.game.name):
            begin_run(asking, run_id, puzzle_count=jobs.open_count)
            extend_run(asking, puzzles, run_id, answers, known_count)
    else:
        # All runs without jobs have one name: what is answered may be other puzzles each time.
        _write_plan(asking, run_id, 0, jobs, known_count)
    return run_id


def begin_run(asking: Asking, run_id: str, *, puzzle_count: int) -> None:
    """Let a run be worked that is not planned yet, under a name that its caller vouches for.

    The same name has to mean the same question about the same puzzles, of which there are
    `puzzle_count`. `extend_run` plans it. What is begun or planned stays as it is.
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
    """Plan what is missing of a run that was begun, while drivers may be at it, to the end.

    A planner that was killed anywhere is followed up by the same call, and so is one that lives:
    what is in the manifest stands, and nothing is planned twice. `answers` is what the lake has
    answered, if it was read before, and `known_count` as in `plan_run`.
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
    """Return the pass that `extend_run` would make, at its end, and write nothing."""
    plan = PlanPass(asking)
    for _ in plan.pieces(_tables(puzzles), FIRST_ROWS):
        pass
    return plan


def _add_missing(lake: Lake, plan: PlanPass, tables: Iterable[pa.Table], run_id: str) -> None:
    """Add segments to a run until all jobs of a pass are in its manifest.

    Raises SegmentTakenError when another planner has added one meanwhile: what it holds must not
    be planned again.
    """
    known = read_segments(lake, run_id)
    for segment in known:
        if segment.kind == "plan":
            plan.take_over(run_id, segment)
    number = len(known)
    for pieces in plan.pieces(tables, FIRST_ROWS):
        number = add_plan(lake, run_id, number, pieces)


def add_plan(lake: Lake, run_id: str, number: int, pieces: Iterable[Piece]) -> int:
    """Add a segment under the first number from `number` on that no driver has taken.

    Returns the number after it. Raises SegmentTakenError where another planner has taken one.
    """
    chunks = [chunk for piece in pieces for chunk in piece.chunks]
    cost_s = [round(s, 4) for piece in pieces for s in piece.cost_s]
    while True:
        try:
            add_segment(lake, run_id, number, "plan", (), chunks, cost_s)
        except SegmentTakenError:
            # Most often what came back split to a driver.
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
        "cost_s": round(plan.cost_s, 6),
    }
    about = _asked(asking, run_id, puzzle_count) | planned
    write_json(asking.lake, plan_path(run_id), about)
    if plan.job_count:
        log.info(
            "run planned",
            run=run_id,
            game=asking.question.game,
            jobs=plan.job_count,
            known=plan.answered_count + known_count,
            divided=plan.divided_count,
            expected_s=round(plan.cost_s, 3),
        )
