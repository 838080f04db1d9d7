"""How far the run of a job on demand is: chunks, states, and what the rest is expected to take."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock

from cachetools import LRUCache, cached

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Expected
from nightgrid.solvers.errors import NightgridError
from nightgrid.workers.caches import BoundedCache
from nightgrid.workers.ondemand.jobs.forecast import forecast
from nightgrid.workers.runs.chunk_results import read_result
from nightgrid.workers.runs.manifest import Run, Segment, open_run
from nightgrid.workers.runs.run_files import ChunkKey, ChunkRef, done_chunks, segment_path
from nightgrid.workers.runs.staged.stages import StagePart, stage_part

READ_AT_ONCE = 100
"""Results of chunks that one look reads; the next look reads further ones."""
KEPT = 10_000
RUNS_KEPT = 100
_COLUMNS = ("states", "kernel_ns")
_spent: BoundedCache[tuple[str, str], tuple[int, float]] = BoundedCache(KEPT)
"""States and kernel seconds of results that were read: they never change."""
_segments: BoundedCache[tuple[str, str], tuple[Segment, ...]] = BoundedCache(RUNS_KEPT)
"""The segments of runs that were looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """How far a run is. Times in seconds of one core."""

    chunks_done: int
    chunks_total: int
    states: int
    """States of the chunks that are done."""
    expected_s: float | None
    """What all known chunks take: measured if done, else expected; None: not known."""
    left_s: float | None
    """What the others take."""


def open_again(lake: Lake, run_id: str) -> Run:
    """Open a run that is looked at again and again: each of its segments is read once.

    Raises what `open_run` raises.
    """
    key = (lake.url, run_id)
    run = open_run(lake, run_id, _segments.get(key) or ())
    _segments.put(key, run.segments)
    return run


def progress_of(lake: Lake, run: Run, expected: Expected | None = None) -> RunProgress:
    """Tell how far a run is. Raises TransientError where the lake does not answer.

    `expected` is what the run's one job is expected to take, if its game has said so.
    """
    done = done_chunks(lake, run.run_id)
    states, worked_s, planned_done_s, planned_left_s = 0, 0.0, 0.0, 0.0
    read, unplanned, unread = 0, 0, READ_AT_ONCE
    costs = {
        (segment.number, chunk): cost_s
        for segment in run.segments
        for chunk, cost_s in enumerate(segment.chunk_cost_s)
    }
    refs = run.chunks()
    for ref in refs:
        cost_s = costs.get(ref.key)
        if ref.key not in done:
            planned_left_s += cost_s or 0.0
            unplanned += cost_s is None
            continue
        unread -= (lake.url, ref.result_path) not in _spent
        if unread < 0:
            worked_s, planned_done_s = worked_s + (cost_s or 0.0), planned_done_s + (cost_s or 0.0)
            continue
        here = _spent_on(lake, ref)
        states, worked_s, read = states + here[0], worked_s + here[1], read + 1
        planned_done_s += cost_s or 0.0
    left_s = None
    if not unplanned or read:
        # What chunks took so far over what was expected of them; few say little.
        factor = (worked_s + planned_left_s) / max(planned_done_s + planned_left_s, 1e-9)
        # Those that others have become were not expected: they are taken to be like the rest.
        left_s = planned_left_s * factor + unplanned * worked_s / max(1, read)
    expected_s = None if left_s is None else worked_s + left_s
    if expected is not None and expected.passed:
        share = _passed(lake, run, done, expected.passed)
        expected_s, left_s = forecast(expected.seconds, worked_s, share)
    return RunProgress(
        chunks_done=len(done),
        chunks_total=len(refs),
        states=states,
        expected_s=expected_s,
        left_s=left_s,
    )


def _spent_on(lake: Lake, ref: ChunkRef) -> tuple[int, float]:
    key = (lake.url, ref.result_path)
    known = _spent.get(key)
    if known is not None:
        return known
    found = (0, 0.0)
    # A damaged result is worked again; until then nothing is said of it.
    with suppress(NightgridError):
        table = read_result(lake, ref, _COLUMNS)
        states, kernel_ns = (sum(table.column(name).to_pylist()) for name in _COLUMNS)
        found = states, kernel_ns / 1e9
        _spent.put(key, found)
    return found


def _passed(lake: Lake, run: Run, done: set[ChunkKey], shares: Sequence[float]) -> float:
    """Tell which share of a count by layers is done: that of the layers before its last stage, and
    of those of this stage as much as of its chunks.
    """
    stages = [s for s in run.segments if s.kind in ("plan", "stage")]
    last = stages[-1] if stages else None
    part = None if last is None else _first_part(lake, run.run_id, last.number)
    if last is None or part is None:
        return 0.0
    many = len(last.chunk_rows)
    ended = sum((last.number, chunk) in done for chunk in range(many))
    before = _share_at(shares, part.layer)
    if part.until is None:
        # Where it will stop is not known before it has.
        return before
    return before + (_share_at(shares, part.until) - before) * ended / max(1, many)


def _share_at(shares: Sequence[float], layer: int) -> float:
    return shares[min(layer, len(shares) - 1)]


@cached(LRUCache(KEPT), lambda lake, *of: (lake.url, *of), Lock())
def _first_part(lake: Lake, run_id: str, segment: int) -> StagePart | None:
    """Read the first part of a segment, which never changes; None for one of another count."""
    rows = lake.read_row_group(segment_path(run_id, segment), 0)
    return stage_part(rows.column("part")[0].as_py())
