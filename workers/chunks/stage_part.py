"""Run one part of a staged count: gather its states, advance them by layers, write the rest.

A process keeps the tables of a count for its next part, until it does other work or some seconds
have passed. Preparing a board takes longer than a small part, and the system has to clear new
memory page by page.
"""

from __future__ import annotations

import threading
from typing import Any

import pyarrow as pa

from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.schemas import PARTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import COST_COLUMNS, Budget, Outcome, Status
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.layered_count import LayeredCount
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.chunks.result_rows import Row, heads_of, outcome_row, result_row
from nightgrid.workers.freed_memory import trim
from nightgrid.workers.logs import get_logger
from nightgrid.workers.runs.finishing.gathering import SPLIT
from nightgrid.workers.runs.manifest import Run, read_segment
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.runs.staged import (
    CARRIED,
    Carried,
    LostFrontierError,
    StagePart,
    frontier_path,
    read_frontier,
    sources,
    write_frontier,
)

log = get_logger("nightgrid.worker")

Key = tuple[str, str, str]
"""Lake, run and job; they determine board and budget."""
KEPT_SECONDS = 20.0
"""Longer than the usual wait for the next stage; an idle process must not hold gigabytes."""
_kept: list[tuple[Key, LayeredCount, threading.Timer]] = []
"""At most one count; popped while it is in use."""


def carry(
    lake: Lake, ref: ChunkRef, run: Run, game: Game[Any, Any], rows: pa.Table, part: StagePart
) -> pa.Table | None:
    """Run a chunk that is one part of a staged count; return its single PARTS row.

    None if states that it needs are missing: another worker has done the part meanwhile, or the
    chunks that wrote them run again. When this returns, states for the next stage are in the
    chunk's frontier. A part that does not fit comes back split into halves.
    """
    (head,) = heads_of(rows)
    puzzle = game.from_arrays(arrays_of(rows), 0)
    key = (lake.url, run.run_id, head["job_id"])
    count = take_tables(key, run.budget) or game.layered(puzzle, run.budget)
    if count is None:
        raise PermanentError(f"part {head['part_path']} is of a count by layers; this has none")
    has_room = _gather(lake, ref, count, part)
    if has_room is None:
        keep_tables(key, count)
        return None
    reached, kept = part.layer, len(count.rows)
    stopped = None if has_room else ReasonCode.TABLE_BYTES
    if stopped is None:
        last = count.layers if part.until is None else part.until
        reached, stopped = count.advance(part.layer, last, part.carry_rows)
    if stopped is not None:
        row = _stopped(head, part, reached, stopped)
    elif reached < count.layers and len(count.rows):
        states, begins = count.by_bucket()
        write_frontier(lake, ref, reached, states, begins, count.layout)
        carried = Carried(
            layer=reached,
            row_words=count.row_words,
            rows=tuple((begins[1:] - begins[:-1]).tolist()),
            kept=0 if part.until is None else kept,
        )
        row = result_row(head, CARRIED, None, children=carried.to_json())
    else:
        whole: Outcome[Any] = Outcome(status=Status.SOLVED, count=count.total())
        # The game knows which counts do not fit into a result.
        ask = run.question.ask
        row = outcome_row(game, ask, head, game.merge(puzzle, ask, [whole]))
    row |= {name: getattr(count.statistics, name) for name in COST_COLUMNS}
    if row["status"] in (CARRIED, SPLIT):
        keep_tables(key, count)
    return pa.Table.from_pylist([row], PARTS)


def _gather(lake: Lake, ref: ChunkRef, count: LayeredCount, part: StagePart) -> bool | None:
    """Read the states of a part.

    Returns whether they fit, or None if some are missing.
    """
    if part.layer == 0:
        count.begin()
        _, begins = count.by_bucket()
        first, last = part.buckets
        if begins[first] == begins[last]:
            # Half of a first part: the empty board is in a bucket of the other half.
            count.clear()
        return True
    count.clear()
    before = sources(lambda number: read_segment(lake, ref.run_id, number), ref)
    for source in before:
        try:
            states, begins = read_frontier(lake, source, part, count.layout)
            if len(states) and not count.hold(states, begins):
                return False
        except LostFrontierError as error:
            log.warning("states lost", chunk=source.name, reason=str(error))
            # If the part is done, this is an old message, and its states were deleted.
            if not lake.exists(ref.result_path):
                # A chunk result without its states is deleted, so that the driver recomputes both.
                for gone in before:
                    if gone == source or not lake.exists(frontier_path(gone)):
                        lake.delete(gone.result_path)
                        lake.delete(frontier_path(gone))
            return None
    return count.gather_held()


def _stopped(head: Row, part: StagePart, reached: int, code: ReasonCode) -> Row:
    halves, reason = part.halves(reached), Reason(code=code)
    if not code.is_budget or len(halves) == 1:
        return result_row(head, str(Status.OVER_BUDGET), reason)
    children = canonical_json([half.to_json() for half in halves])
    return result_row(head, SPLIT, reason, children=children)


def keep_tables(key: Key, count: LayeredCount) -> None:
    """Keep a count for the next part of its job, for KEPT_SECONDS."""
    timer = threading.Timer(KEPT_SECONDS, drop_tables)
    timer.daemon = True
    timer.start()
    _kept[:] = [(key, count, timer)]


def take_tables(key: Key, budget: Budget) -> LayeredCount | None:
    """Take the kept count of a job, reset for its next part; drop that of another job."""
    kept, _kept[:] = list(_kept), []
    for owner, count, timer in kept:
        timer.cancel()
        if owner == key:
            count.renew(budget)
            return count
    return None


def drop_tables() -> None:
    """Drop the kept count, and return freed memory to the system."""
    for _, _, timer in list(_kept):
        timer.cancel()
        _kept.clear()
        trim()
