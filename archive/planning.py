"""Planning a run: leave out what is answered, batch the small jobs, divide and spread large ones.

Puzzles may come as a stream of any length. A plan is made in one pass, batch by batch; one batch
is held back, so that chunks become shorter when the end is in sight (`archive.chunking`). Memory
beside the batches: 16 bytes a job, to know it again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from archive.ahead import ahead
from archive.answers import read_answers
from archive.chunking import cut
from archive.columns import arrays_of
from archive.costs import Estimator
from archive.games import keep_game
from archive.jobs import Keys, KeySet, ids_of, name_jobs
from archive.lake import Lake, conform
from archive.memory import give_back
from archive.runfiles import (
    SegmentTakenError,
    folder,
    part_row,
    read_json,
    read_segment,
    stream_segment,
    write_json,
)
from archive.stages import first_stage
from archive.tables import manifest_schema
from solvers.algebra import Ask, Budget, Game, canonical_json, digest
from solvers.errors import PermanentError

SPLIT_AHEAD_MAX = 4096
BATCH_ROWS = 16_384
"""Puzzles named, compared, estimated, sorted and cut at once."""
DIVIDE_S = 20.0
"""A job that is expected to take longer is divided before anybody works on it ..."""
DIVIDED_S = 5.0
"""... into parts of about so many seconds, if all goes well, ..."""
DIVIDED_PARTS_MAX = 64
"""... but no more of them than that."""
LARGEST_TOLD = 5
"""Jobs that an estimate names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeJob:
    """One of the jobs of a run that are expected to take longest."""

    puzzle_id: str
    size: int
    cost_s: float


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
    longest_s: float
    """Seconds that the longest chunk is expected to take."""
    largest: tuple[LargeJob, ...]
    """The jobs that are expected to take longest, LARGEST_TOLD of them."""


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
    plan = _Plan(lake, game, puzzles, ask, budget, worker_count, split_ahead)
    try:
        try:
            plan.write_manifest()
        except SegmentTakenError:
            # A planner that died, or one that plans the same jobs just now, was faster: its chunks
            # hold the same jobs, cut and divided by what it expected of them.
            plan.take_manifest()
    except _AlreadyPlannedError:
        return plan.run_id
    plan.estimator.keep_sample(plan.run_id)
    write_json(
        lake,
        f"{folder(plan.run_id)}/plan.json",
        {
            "run_id": plan.run_id,
            "game": game.name,
            "ask": str(ask),
            "budget": asdict(budget),
            "rules": game.rules,
            "lexicon_id": game.lexicon_id,
            "solver_version": game.solver_version,
            "split_ahead": split_ahead,
            "job_count": plan.job_count,
            "answered_count": plan.answered_count,
            "divided_count": plan.divided_count,
            "cost_s": round(plan.cost_s, 3),
            "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        },
    )
    return plan.run_id


def estimate_run(
    lake: Lake,
    game: Game[Any, Any],
    puzzles: pa.Table | Iterable[pa.Table],
    ask: Ask,
    budget: Budget,
    *,
    worker_count: int = 2,
    split_ahead: int = 1,
) -> Estimate:
    """Say what `plan_run` would plan, and write nothing."""
    plan = _Plan(lake, game, puzzles, ask, budget, worker_count, split_ahead)
    for _ in plan.chunks():
        pass
    return Estimate(
        job_count=plan.job_count,
        answered_count=plan.answered_count,
        repeated_count=plan.repeated_count,
        divided_count=plan.divided_count,
        chunk_count=len(plan.chunk_cost_s),
        cost_s=plan.cost_s,
        longest_s=max(plan.chunk_cost_s, default=0.0),
        largest=tuple(plan.largest),
    )


class _AlreadyPlannedError(Exception):
    """The run is in the lake, planned to its end."""


@dataclass(frozen=True, slots=True)
class _Jobs:
    """Open jobs: their manifest columns but the number, and what each is expected to take."""

    rows: pa.Table
    cost_s: npt.NDArray[np.float64]


class _Plan:
    """One pass over the puzzles of a run."""

    def __init__(
        self,
        lake: Lake,
        game: Game[Any, Any],
        puzzles: pa.Table | Iterable[pa.Table],
        ask: Ask,
        budget: Budget,
        worker_count: int,
        split_ahead: int,
    ) -> None:
        if not 1 <= split_ahead <= SPLIT_AHEAD_MAX:
            raise PermanentError(f"split_ahead is {split_ahead}; expected 1 to {SPLIT_AHEAD_MAX}")
        self._lake, self._game, self._ask, self._budget = lake, game, ask, budget
        self._worker_count, self._split_ahead = worker_count, split_ahead
        tables = [puzzles] if isinstance(puzzles, pa.Table) else iter(puzzles)
        self._tables = (
            table.slice(start, BATCH_ROWS)
            for table in tables
            for start in range(0, table.num_rows, BATCH_ROWS)
        )
        self.estimator = Estimator(lake, game, ask)
        self._seen = KeySet()
        self._key_sum = np.zeros(2, np.uint64)
        self._open_count = 0
        self._cut_s = 0.0
        self.job_count = self.answered_count = self.repeated_count = self.divided_count = 0
        self.chunk_cost_s: list[float] = []
        self.largest: list[LargeJob] = []

    @property
    def cost_s(self) -> float:
        """Seconds that one core is expected to take for all chunks."""
        return sum(self.chunk_cost_s)

    @property
    def run_id(self) -> str:
        """Name the run by its question and its jobs, whatever their order, once all are known."""
        game, limits = self._game, canonical_json(asdict(self._budget))
        asked = (game.name, game.rules, game.lexicon_id, str(self._ask), limits)
        jobs = (str(self._open_count), *(f"{half:016x}" for half in self._key_sum.tolist()))
        return digest("run", *asked, str(self._split_ahead), *jobs)

    def write_manifest(self) -> None:
        """Stream the chunks into the first segment; a run without jobs has none."""
        give_back()
        chunks = ahead(self.chunks(self._check_unplanned))
        first = next(chunks, None)
        if first is None:
            return
        keep_game(self._lake, self._game)

        def all_chunks() -> Iterator[pa.Table]:
            yield first
            yield from chunks

        stream_segment(
            self._lake, lambda: self.run_id, "plan", all_chunks(), self.chunk_cost_s, first.schema
        )

    def take_manifest(self) -> None:
        """Tell of the chunks that stand in the lake, not of those that were made."""
        segment = read_segment(self._lake, self.run_id, 0)
        self.chunk_cost_s = list(segment.chunk_cost_s)
        path = f"{folder(self.run_id)}/manifest/seg-00000.parquet"
        divided: set[int] = set()
        for rows in self._lake.iter_row_groups(path, ["job_no", "part_path"]):
            is_part = pc.not_equal(rows.column("part_path"), "")
            divided.update(rows.column("job_no").filter(is_part).to_pylist())
        self.divided_count = len(divided)

    def _check_unplanned(self) -> None:
        """Raise _AlreadyPlannedError if the lake has the run, once all jobs are known."""
        path = f"{folder(self.run_id)}/plan.json"
        if self._open_count and read_json(self._lake, path) is not None:
            raise _AlreadyPlannedError

    def chunks(self, at_the_end: Callable[[], None] = lambda: None) -> Iterator[pa.Table]:
        """Make the chunks of the plan, as rows of its manifest.

        `at_the_end` is called when all jobs are known, before the chunks that are left.
        """
        held: deque[_Jobs] = deque()
        for jobs in self._open_jobs():
            held.append(jobs)
            if len(held) > 1:
                # More may come than is held: as much as there has been, for all one knows.
                yield from self._cut(held, self._cut_s)
        at_the_end()
        if held:
            yield from self._cut(held, 0.0)

    def _open_jobs(self) -> Iterator[_Jobs]:
        """Drop repeated puzzles and answered jobs; name the others and estimate what they take."""
        answers = read_answers(self._lake, self._game.name, self._ask, self._budget)
        for table in self._tables:
            if pc.any(pc.not_equal(table.column("game"), self._game.name)).as_py():
                raise PermanentError(f"expected puzzles of game {self._game.name!r} only")
            keys = name_jobs(self._game, table.column("puzzle_id"), self._ask)
            fresh = self._seen.add(keys)
            is_open = fresh & ~answers.hold(keys)
            self.repeated_count += int((~fresh).sum())
            self.answered_count += int((fresh & ~is_open).sum())
            self._open_count += int(is_open.sum())
            if is_open.any():
                yield self._jobs(table, keys, is_open)
            del table, keys
            give_back()

    def _jobs(
        self,
        table: pa.Table,
        keys: Keys,
        is_open: npt.NDArray[np.bool_],
    ) -> _Jobs:
        if not is_open.all():
            table, keys = table.filter(pa.array(is_open)), keys[is_open]
        self._key_sum += keys.sum(axis=0, dtype=np.uint64)
        empty = pa.repeat(pa.scalar(""), len(keys))
        head = {
            # Numbered when its place in the plan is known.
            "job_no": pa.array(np.zeros(len(keys), np.int64)),
            "job_id": ids_of(keys),
            "ask": pa.repeat(pa.scalar(str(self._ask)), len(keys)),
            "part": empty,
            "part_path": empty,
        }
        columns = {**head, **{name: table.column(name) for name in table.column_names}}
        rows = conform(pa.table(columns), manifest_schema(table.schema))
        cost_s = self.estimator.expect(keys, arrays_of(table))
        self._tell_largest(table, cost_s)
        return _Jobs(rows, cost_s)

    def _tell_largest(self, table: pa.Table, cost_s: npt.NDArray[np.float64]) -> None:
        most = np.argsort(-cost_s, kind="stable")[:LARGEST_TOLD].tolist()
        names, sizes = table.column("puzzle_id"), table.column("size")
        self.largest += [
            LargeJob(puzzle_id=names[i].as_py(), size=sizes[i].as_py(), cost_s=float(cost_s[i]))
            for i in most
        ]
        self.largest.sort(key=lambda job: -job.cost_s)
        del self.largest[LARGEST_TOLD:]

    def _cut(self, held: deque[_Jobs], to_come_s: float) -> Iterator[pa.Table]:
        """Cut the front into chunks, those jobs first that are expected to take longest."""
        jobs = held.popleft()
        left_s = to_come_s + sum(float(part.cost_s.sum()) for part in held)
        order = np.argsort(-jobs.cost_s, kind="stable")
        cost_s = jobs.cost_s[order]
        self._cut_s += float(cost_s.sum())
        divided = len(cost_s) if self._split_ahead > 1 else int((cost_s >= DIVIDE_S).sum())
        for row in order[:divided].tolist():
            yield from self._divided(jobs.rows.slice(row, 1), float(jobs.cost_s[row]))
        rows = jobs.rows
        if divided or (np.diff(order) < 0).any():
            rows = rows.take(pa.array(order[divided:]))
        bounds = cut(cost_s[divided:], left_s, self._worker_count, len(self.chunk_cost_s))
        for start, stop in bounds:
            numbers = np.arange(self.job_count, self.job_count + stop - start)
            self.job_count += stop - start
            self.chunk_cost_s.append(float(cost_s[divided + start : divided + stop].sum()))
            yield rows.slice(start, stop - start).set_column(
                0, rows.schema.field(0), pa.array(numbers)
            )

    def _divided(self, job: pa.Table, cost_s: float) -> Iterator[pa.Table]:
        """Divide a job into chunks of one part each; what will not divide stays whole.

        A count that can go by stages begins with the one part of the first.
        """
        job = job.set_column(0, job.schema.field(0), pa.array([self.job_count], pa.int64()))
        self.job_count += 1
        into = self._split_ahead
        if into == 1:
            into = min(max(2, round(cost_s / DIVIDED_S)), DIVIDED_PARTS_MAX)
        try:
            puzzle = self._game.from_arrays(arrays_of(job), 0)
            stage = self._ask.kind == "count" and first_stage(self._game, puzzle, self._budget)
            parts = stage or self._game.split(puzzle, self._ask, None, into)
        except PermanentError:
            # Whatever is wrong with the board, solving it says so in its result.
            stage, parts = None, []
        if len(parts) <= 1 and not stage:
            self.chunk_cost_s.append(cost_s)
            yield job
            return
        self.divided_count += 1
        self.chunk_cost_s += [cost_s / len(parts)] * len(parts)
        for i, part in enumerate(parts):
            yield part_row(job, part, str(i))
