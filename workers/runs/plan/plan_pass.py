"""One pass over the puzzles of a run: skip answered ones, estimate, sort, cut into chunks.

Puzzles are a stream of any length, processed in batches. One batch is held back, so that chunks
become shorter near the end. Memory besides the batches: 16 bytes a job.

Chunks are cut by guided self-scheduling (Polychronopoulos and Kuck, 1987): a chunk is a fixed share
of the remaining work, so chunks are long at first and short at the end. Within a batch the most
expensive jobs come first, and drivers send chunks in this order (longest processing time first,
Graham, 1969): the last chunks are short.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.ingest.puzzles import subjects_of
from nightgrid.archive.lake.arrow_to_numpy import arrays_of, slice_arrays
from nightgrid.archive.lake.conforming import conform
from nightgrid.archive.lake.schemas import MANIFEST_HEAD, manifest_schema
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import RESULTS_FOLDER
from nightgrid.archive.skipped_files import skipped_files
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.question import Question, question_of
from nightgrid.workers.runs.finishing.ended import set_damaged_aside
from nightgrid.workers.runs.job_keys import (
    Answers,
    Keys,
    KeySet,
    Known,
    ids_of,
    keys_of,
    name_jobs,
    read_answers,
)
from nightgrid.workers.runs.manifest import Segment, manifest_row
from nightgrid.workers.runs.run_files import CHUNKS_MAX, segment_path
from nightgrid.workers.runs.staged import first_stage
from nightgrid.workers.runs.unanswered_jobs import Retry, statuses_of

CHUNK_MAX_S = 4.0
"""Maximum expected work of a chunk of many jobs."""
CHUNK_MIN_S = 0.05
"""Below this, messages and files would cost more than the work."""
CHUNK_MAX_ROWS = 32_768
SHARES_PER_WORKER = 4
"""A chunk is this share of the remaining work for each worker: estimates of single jobs are off by
a factor of two, those of chunks by less."""
BATCH_ROWS = CHUNK_MAX_ROWS
"""Puzzles that are named, compared, estimated, sorted and cut at once."""
DIVIDE_S = 20.0
"""A job expected to take longer is divided before a worker starts it ..."""
DIVIDED_S = 5.0
"""... into parts of about so many seconds, if all goes well, ..."""
DIVIDED_PARTS_MAX = 64
"""... but no more of them than that."""
DIVIDED_MAX = (CHUNKS_MAX - BATCH_ROWS) // DIVIDED_PARTS_MAX
"""Jobs of one batch that are divided: its chunks are one segment."""
IDLE_S = 3.0
"""A job expected to take longer is divided if workers would be idle meanwhile. For shorter ones it
does not pay: each stage of a count waits for messages and files, and an on-demand one for the
chunks of other runs."""
CLOSE_ROWS = 64
"""A batch of so few boards is estimated closely, by `Game.close_cost_s`: some 0.01 ms a board."""
LARGEST_NAMED = 5
"""Number of jobs that an estimate names."""
_HEAD = pa.schema([f for f in MANIFEST_HEAD if f.name in ("job_no", "job_id", "part_path")])


@dataclass(frozen=True, slots=True)
class Asking:
    """The question of a run: the lake, the game, and the budget of each job."""

    lake: Lake
    game: Game[Any, Any]
    """Bound to its rules and lexicon."""
    ask: Ask
    budget: Budget
    worker_count: int = 2
    """Processes that chunks are cut for."""
    retry: Retry | None = None
    """Which unanswered jobs are solved again."""
    expected_s: float = 0.0
    """A lower bound of every job's expected time."""
    solution_bytes: int | None = None
    """Bytes of solutions that a job may list; None: the worker's setting."""
    divide_into: int = 1
    """Parts of a small on-demand job that is over its small budget; 1: it stays whole."""
    puzzle: str | None = None
    """The board of an on-demand job as JSON, for its result."""

    @property
    def listed_bytes(self) -> int | None:
        """`solution_bytes`, if the run lists solutions."""
        return self.solution_bytes if self.ask.kind == "all" else None

    @property
    def question(self) -> Question:
        """What the answers depend on."""
        return question_of(self.game, self.ask)

    def read_answers(self) -> Answers:
        """Read which jobs need no work; damaged results are set aside and do not count."""
        again = statuses_of(self.retry)
        answers = read_answers(
            self.lake, self.question, self.budget, again=again, listed_bytes=self.solution_bytes
        )
        if any(path.startswith(f"{RESULTS_FOLDER}/") for path in skipped_files()):
            set_damaged_aside(self.lake)
        return answers


PlannedChunk = tuple[pa.Table, float]
"""The manifest rows of a chunk, and the seconds that it is expected to take."""
_Jobs = tuple[pa.Table, npt.NDArray[np.float64]]
"""Manifest rows of open jobs, not numbered yet, and the expected seconds of each."""


class PlanPass:
    """One pass over the puzzles of a run; its counts are final at the end."""

    def __init__(self, asking: Asking, answers: Answers | None = None) -> None:
        """Start a pass; None: read the answers of the lake."""
        self._asking = asking
        self._question = asking.question
        self._answers = answers or asking.read_answers()
        self._seen = KeySet()
        self.open_count = self.answered_count = self.repeated_count = 0
        self.poison_count = 0
        """Jobs among those answered that are poison."""
        self.job_count = self.divided_count = self.chunk_count = 0
        self.cost_s = 0.0
        """Seconds that the chunks so far are expected to take one core."""
        self.largest: list[dict[str, Any]] = []
        """The most expensive jobs: puzzle_id, size and expected seconds of each."""
        self._key_sum = np.zeros(2, np.uint64)

    def find(self, puzzles: pa.Table) -> tuple[Keys, npt.NDArray[np.bool_]]:
        """Return the id of each row's job, and which jobs are open: neither repeated nor answered.

        Raises PermanentError for puzzles of another game.
        """
        if pc.any(pc.not_equal(puzzles.column("game"), self._question.game)).as_py():
            raise PermanentError(f"expected puzzles of game {self._question.game!r} only")
        keys = name_jobs(self._question, subjects_of(puzzles))
        fresh, known = self._seen.add(keys), self._answers.flags(keys)
        is_answered = (known & (Known.FINAL | Known.GIVEN_UP)) != 0
        is_poison = (known & (Known.POISON | Known.FINAL)) == Known.POISON
        is_open = fresh & ~is_answered
        self.poison_count += int((fresh & is_poison).sum())
        self.repeated_count += int((~fresh).sum())
        self.answered_count += int((fresh & is_answered).sum())
        self.open_count += int(is_open.sum())
        halves = keys[is_open].view(">u8").reshape(-1, 2)
        self._key_sum += halves.sum(axis=0, dtype=np.uint64)
        return keys, is_open

    def run_id(self) -> str:
        """Return the id of a run of the open jobs, independent of their order."""
        jobs = [str(self.open_count), *(f"{half:016x}" for half in self._key_sum.tolist())]
        if self._asking.listed_bytes is not None:
            jobs.append(str(self._asking.listed_bytes))
        return self._question.run_id(self._asking.budget, tuple(jobs))

    def take_over(self, run_id: str, segment: Segment) -> None:
        """Count the jobs of a `plan` segment in the lake, so that they are not planned again."""
        rows = self._asking.lake.read_table(segment_path(run_id, segment.number), _HEAD)
        numbers = rows.column("job_no").to_numpy()
        self._seen.add(keys_of(rows.column("job_id")))
        self.job_count = max(self.job_count, int(numbers.max()) + 1)
        is_part = pc.not_equal(rows.column("part_path"), "").to_numpy()
        self.divided_count += len(np.unique(numbers[is_part]))
        self.chunk_count += len(segment.chunk_rows)
        self.cost_s += sum(segment.chunk_cost_s)

    def chunks(self, tables: Iterable[pa.Table], first_rows: int) -> Iterator[list[PlannedChunk]]:
        """Make the chunks of each batch of puzzles; the first has at most `first_rows`."""
        held: _Jobs | None = None
        for table in batches(tables, first_rows):
            keys, is_open = self.find(table)
            if not is_open.any():
                continue
            jobs = self._estimate(table, keys, is_open)
            if held is not None:
                # Assume that as much is still to come as there has been.
                yield self._cut(held, self.cost_s + float(jobs[1].sum()))
            held = jobs
        if held is not None:
            yield self._cut(held, 0.0)

    def _estimate(self, table: pa.Table, keys: Keys, is_open: npt.NDArray[np.bool_]) -> _Jobs:
        if not is_open.all():
            table, keys = table.filter(pa.array(is_open)), keys[is_open]
        empty = pa.repeat(pa.scalar(""), len(keys))
        head = {
            # Numbered when the job is put into a chunk.
            "job_no": pa.array(np.zeros(len(keys), np.int64)),
            "job_id": ids_of(keys),
            "ask": pa.repeat(pa.scalar(str(self._question.ask)), len(keys)),
            "part": empty,
            "part_path": empty,
        }
        columns = {**head, **{name: table.column(name) for name in table.column_names}}
        rows = conform(pa.table(columns), manifest_schema(table.schema))
        asking = self._asking
        by_game_s = expected_s(asking.game, asking.ask, arrays_of(table))
        cost_s = np.maximum(by_game_s, asking.expected_s)
        self._note_largest(table, cost_s)
        return rows, cost_s

    def _note_largest(self, table: pa.Table, cost_s: npt.NDArray[np.float64]) -> None:
        most = np.argsort(-cost_s, kind="stable")[:LARGEST_NAMED]
        jobs = table.select(["puzzle_id", "size"]).take(pa.array(most)).to_pylist()
        self.largest += [
            {**job, "seconds": float(cost_s[i])} for job, i in zip(jobs, most, strict=True)
        ]
        self.largest.sort(key=lambda job: -job["seconds"])
        del self.largest[LARGEST_NAMED:]

    def _cut(self, jobs: _Jobs, left_s: float) -> list[PlannedChunk]:
        """Cut a batch into chunks, the most expensive jobs first.

        `left_s` is the expected work after these jobs.
        """
        rows, cost_s = jobs
        order = np.argsort(-cost_s, kind="stable")
        rows, cost_s = rows.take(pa.array(order)), cost_s[order]
        divided = min(int((cost_s >= self._divided_from_s(left_s)).sum()), DIVIDED_MAX)
        chunks: list[PlannedChunk] = []
        for row in range(divided):
            chunks += self._divided(self._numbered(rows.slice(row, 1)), float(cost_s[row]))
        for start, stop in cut(cost_s[divided:], left_s, self._asking.worker_count):
            chunk = self._numbered(rows.slice(divided + start, stop - start))
            chunks.append((chunk, float(cost_s[divided + start : divided + stop].sum())))
        self.chunk_count += len(chunks)
        self.cost_s += float(cost_s.sum())
        return chunks

    def _numbered(self, rows: pa.Table) -> pa.Table:
        numbers = np.arange(self.job_count, self.job_count + len(rows))
        self.job_count += len(rows)
        return rows.set_column(0, rows.schema.field(0), pa.array(numbers))

    def _divided_from_s(self, left_s: float) -> float:
        """Return the expected seconds from which on a job is divided."""
        workers = self._asking.worker_count
        # A job longer than a fair share of the work would keep the others waiting.
        fair_s = left_s / max(1, workers)
        return DIVIDE_S if workers < 2 else min(DIVIDE_S, max(IDLE_S, 1.001 * fair_s))

    def _divided(self, job: pa.Table, cost_s: float) -> list[PlannedChunk]:
        """Divide a job into chunks of one part each; an indivisible one stays whole.

        A count by stages starts with the one part of its first stage.
        """
        # One for each worker: more repeat more of each other's search (Strands: 9 % in two, 26 % in
        # four, 49 % in eight).
        into = min(max(2, round(cost_s / DIVIDED_S), self._asking.worker_count), DIVIDED_PARTS_MAX)
        try:
            game, ask = self._asking.game, self._asking.ask
            puzzle = game.from_arrays(arrays_of(job), 0)
            stage = ask.kind == "count" and first_stage(game, puzzle, self._asking.budget)
            # A worker that lists counts first, so it knows what the parts hold.
            is_listing = ask.kind == "all"
            parts = stage or ([] if is_listing else game.split(puzzle, ask, None, into))
        except PermanentError:
            # Whatever is wrong with the board, solving it reports that in its result.
            stage, parts = None, []
        if len(parts) <= 1 and not stage:
            return [(job, cost_s)]
        self.divided_count += 1
        return [
            (manifest_row(job, part, str(i)), cost_s / len(parts)) for i, part in enumerate(parts)
        ]


def expected_s(
    game: Game[Any, Any], ask: Ask, arrays: dict[str, npt.NDArray[Any]]
) -> npt.NDArray[np.float64]:
    """Estimate the seconds that each row of columns takes one core."""
    cost_s = game.cost_s(arrays, ask)
    if len(cost_s) <= CLOSE_ROWS:
        for row in range(len(cost_s)):
            closely = game.close_cost_s(slice_arrays(arrays, row, row + 1), ask)
            if closely is not None:
                cost_s[row] = closely
    return cost_s


def batches(tables: Iterable[pa.Table], first_rows: int) -> Iterator[pa.Table]:
    """Cut and join tables into batches of `first_rows`, then twice as many, up to BATCH_ROWS."""
    rows, held = min(first_rows, BATCH_ROWS), list[pa.Table]()
    for table in tables:
        held.append(table)
        while sum(map(len, held)) >= rows:
            joined = pa.concat_tables(held)
            yield joined.slice(0, rows)
            held, rows = [joined.slice(rows)], min(2 * rows, BATCH_ROWS)
    if any(map(len, held)):
        yield pa.concat_tables(held)


def chunk_s(left_s: float, worker_count: int) -> float:
    """Return the expected seconds of the next chunk, given those of the remaining work."""
    share_s = left_s / (SHARES_PER_WORKER * max(1, worker_count))
    return min(max(share_s, CHUNK_MIN_S), CHUNK_MAX_S)


def cut(
    cost_s: npt.NDArray[np.float64], stop_left_s: float, worker_count: int
) -> Iterator[tuple[int, int]]:
    """Cut jobs, the most expensive first, into chunks: yield where each begins and ends.

    `stop_left_s` is the expected work after these jobs. A job as long as a chunk gets its own.
    """
    upto = np.cumsum(cost_s)
    total = float(upto[-1]) if len(upto) else 0.0
    start = 0
    while start < len(cost_s):
        before = float(upto[start - 1]) if start else 0.0
        wanted = chunk_s(total - before + stop_left_s, worker_count)
        stop = int(np.searchsorted(upto, before + wanted, side="left")) + 1
        stop = min(max(stop, start + 1), start + CHUNK_MAX_ROWS, len(cost_s))
        if stop - start > 1 and cost_s[start] >= wanted:
            stop = start + 1
        yield start, stop
        start = stop
