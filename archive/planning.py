"""Planning a run: once and entirely, or segment by segment while workers are at it already.

What there is to plan, and how it is cut into chunks, is `archive.plan_pass`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from archive.ahead import ahead
from archive.games import keep_game
from archive.jobs import KeySet, keys_of
from archive.lake import Lake
from archive.plan_pass import LargeJob, Piece, PlanPass
from archive.runfiles import (
    SegmentTakenError,
    asked_path,
    folder,
    has_plan,
    read_json,
    read_segment,
    read_segments,
    segment_path,
    stream_plan,
    write_json,
)
from solvers.algebra import Ask, Budget, Game
from solvers.question import Question, question_of

SEGMENT_ROWS = 2_048
"""Rows of the first segment of a run that is worked while it is planned, about, and of the first
batch of its puzzles: soon written. Every other has twice as many as the one before, ..."""
SEGMENT_ROWS_MAX = 262_144
"""... but no more than these: every segment is one file more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a run would be and cost, without planning it."""

    job_count: int
    answered_count: int
    """Jobs that the lake has answered."""
    repeated_count: int
    """Puzzles that stood in the corpus before."""
    divided_count: int
    """Jobs that are divided before anybody works on them."""
    chunk_count: int
    cost_s: float
    """Seconds that one core is expected to take."""
    largest: tuple[LargeJob, ...]
    """The jobs that are expected to take longest, a few of them."""


def plan_run(
    lake: Lake,
    game: Game[Any, Any],
    puzzles: pa.Table | Iterable[pa.Table],
    ask: Ask,
    budget: Budget,
    *,
    worker_count: int = 2,
    split_ahead: int = 1,
) -> str:
    """Plan one job per distinct puzzle that the lake has not answered yet; return the run's id.

    `puzzles` is one table or any number of them, with the schema of the game's puzzles table;
    rules and lexicon are those that the game is bound to, and the lexicon is put into the lake.
    The same question about the same puzzles within the same budget is the same run: planned once,
    it is found again, with all the work done for it. Jobs are numbered in the order of the plan:
    expensive ones first, as far as they are held together. With `split_ahead` above 1 every job
    that can be is divided into about so many parts before anybody works on it, each in a chunk of
    its own; otherwise only those are that are expected to take long.
    """
    plan = PlanPass(lake, game, puzzles, ask, budget, worker_count, split_ahead)

    def check_unplanned() -> None:
        # The name of the run is known now.
        if plan.open_count and has_plan(lake, plan.run_id):
            raise _AlreadyPlannedError

    try:
        _write_whole(lake, game, plan, ahead(plan.pieces(check_unplanned)))
    except _AlreadyPlannedError:
        return plan.run_id
    except SegmentTakenError:
        # A planner that died, or one that plans the same jobs just now, was faster: its chunks
        # hold the same jobs, cut and divided by what it expected of them.
        _tell_of(lake, plan)
    plan.estimator.keep_sample(plan.run_id)
    _write_plan(lake, plan, plan.run_id, _asked(plan.question, budget, split_ahead))
    return plan.run_id


def begin_run(
    lake: Lake,
    game: Game[Any, Any],
    ask: Ask,
    budget: Budget,
    run_id: str,
    *,
    puzzle_count: int,
) -> None:
    """Let a run be worked that is not planned yet, under a name that its caller vouches for.

    The same name has to mean the same question about the same puzzles, of which there are
    `puzzle_count`. `extend_run` plans it.
    """
    if read_json(lake, asked_path(run_id)) is not None:
        return
    keep_game(lake, game)
    asked = _asked(question_of(game, ask), budget, 1, puzzle_count)
    write_json(lake, asked_path(run_id), {"run_id": run_id, **asked, "created_at": _now()})


def extend_run(
    lake: Lake,
    game: Game[Any, Any],
    puzzles: Callable[[], Iterable[pa.Table]],
    ask: Ask,
    budget: Budget,
    run_id: str,
    *,
    worker_count: int = 2,
) -> None:
    """Plan what is missing of a run that was begun, while drivers may be at it, to the end.

    As `plan_run`, but segment by segment; `puzzles` is called for a pass over them. A planner that
    was killed anywhere is followed up by the same call, and so is one that lives: what is in the
    manifest stands, and nothing is planned twice.
    """
    while not has_plan(lake, run_id):
        plan = PlanPass(lake, game, puzzles(), ask, budget, worker_count, 1, SEGMENT_ROWS)
        try:
            _add_missing(lake, plan, run_id)
        except SegmentTakenError:
            continue
        plan.estimator.keep_sample(run_id)
        begun = read_json(lake, asked_path(run_id)) or {}
        asked = _asked(plan.question, budget, 1, begun.get("puzzle_count", 0))
        _write_plan(lake, plan, run_id, asked)


def estimate_run(
    lake: Lake,
    game: Game[Any, Any],
    puzzles: pa.Table | Iterable[pa.Table],
    ask: Ask,
    budget: Budget,
    *,
    worker_count: int = 2,
) -> Estimate:
    """Say what `extend_run` would plan, and write nothing."""
    plan = PlanPass(lake, game, puzzles, ask, budget, worker_count, 1, SEGMENT_ROWS)
    for _ in plan.pieces():
        pass
    return Estimate(
        job_count=plan.job_count,
        answered_count=plan.answered_count,
        repeated_count=plan.repeated_count,
        divided_count=plan.divided_count,
        chunk_count=plan.chunk_count,
        cost_s=plan.cost_s,
        largest=tuple(plan.largest),
    )


class _AlreadyPlannedError(Exception):
    """The run is in the lake, planned to its end."""


class _Writing:
    """The chunks of a segment that is being written, and what is to be said of them at its end."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._pieces = pieces
        self.cost_s: list[float] = []
        self.divided = False

    def chunks(self) -> Iterator[pa.Table]:
        """Hand the chunks on to the file."""
        for piece in self._pieces:
            self.cost_s += piece.cost_s
            self.divided |= piece.is_divided
            yield from piece.chunks

    def about(self) -> tuple[list[float], bool]:
        """Tell what each chunk is expected to take, and whether jobs are divided."""
        return self.cost_s, self.divided


def _write_whole(lake: Lake, game: Game[Any, Any], plan: PlanPass, pieces: Iterator[Piece]) -> None:
    """Stream all chunks into the first segment; a run without jobs has none."""
    first = next(pieces, None)
    if first is None:
        return
    keep_game(lake, game)
    writing = _Writing(chain([first], pieces))
    schema = first.chunks[0].schema
    stream_plan(lake, writing.chunks(), schema, writing.about, lambda: segment_path(plan.run_id, 0))


def _tell_of(lake: Lake, plan: PlanPass) -> None:
    """Tell of the chunks that stand in the lake, not of those that were made."""
    segment = read_segment(lake, plan.run_id, 0)
    plan.cost_s = sum(segment.chunk_cost_s)
    divided: set[int] = set()
    for rows in lake.iter_row_groups(segment_path(plan.run_id, 0), ["job_no", "part_path"]):
        is_part = pc.not_equal(rows.column("part_path"), "")
        divided.update(rows.column("job_no").filter(is_part).to_pylist())
    plan.divided_count = len(divided)


def _add_missing(lake: Lake, plan: PlanPass, run_id: str) -> None:
    """Add segments to a run until all jobs of a pass are in its manifest.

    Raises SegmentTakenError when another planner has added one meanwhile: what it holds must not
    be planned again.
    """
    known = read_segments(lake, run_id)
    for segment in known:
        if segment.kind == "plan":
            plan.take_over(run_id, segment)
    seen = len(known)

    def next_path() -> str:
        nonlocal seen
        # Most often there is nothing new, or what came back split to a driver.
        for segment in read_segments(lake, run_id, seen):
            if segment.kind == "plan":
                raise SegmentTakenError(f"run {run_id}: another planner has added to it")
            seen += 1
        return segment_path(run_id, seen)

    pieces = ahead(plan.pieces())
    rows = SEGMENT_ROWS
    for first in pieces:
        writing = _Writing(_some(chain([first], pieces), rows))
        stream_plan(lake, writing.chunks(), first.chunks[0].schema, writing.about, next_path)
        seen += 1
        rows = min(2 * rows, SEGMENT_ROWS_MAX)
    if not lake.is_exclusive and not _holds(lake, plan, run_id):
        # Planners have written over one another. Nobody is at the run yet: plan it anew.
        for path in lake.list(f"{folder(run_id)}/manifest"):
            lake.delete(path)
        raise SegmentTakenError(f"run {run_id}: planners have written over one another")


def _holds(lake: Lake, plan: PlanPass, run_id: str) -> bool:
    """Tell whether the manifest has the very jobs of a pass, each under one number."""
    jobs = KeySet()
    numbers: set[int] = set()
    for segment in read_segments(lake, run_id):
        for rows in lake.iter_row_groups(
            segment_path(run_id, segment.number), ["job_no", "job_id"]
        ):
            jobs.add(keys_of(rows.column("job_id")))
            numbers.update(rows.column("job_no").to_pylist())
    return len(jobs) == len(numbers) == plan.job_count and plan.has_all(jobs)


def _some(pieces: Iterator[Piece], rows: int) -> Iterator[Piece]:
    """Take pieces until there are so many rows."""
    for piece in pieces:
        yield piece
        rows -= sum(chunk.num_rows for chunk in piece.chunks)
        if rows <= 0:
            return


def _asked(
    question: Question, budget: Budget, split_ahead: int, puzzle_count: int = 0
) -> dict[str, Any]:
    return {
        **question.to_json(),
        "budget": asdict(budget),
        "split_ahead": split_ahead,
        "puzzle_count": puzzle_count,
    }


def _write_plan(lake: Lake, plan: PlanPass, run_id: str, asked: dict[str, Any]) -> None:
    about = {
        "run_id": run_id,
        **asked,
        "job_count": plan.job_count,
        "answered_count": plan.answered_count,
        "divided_count": plan.divided_count,
        "cost_s": round(plan.cost_s, 3),
        "created_at": _now(),
    }
    write_json(lake, f"{folder(run_id)}/plan.json", about)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
