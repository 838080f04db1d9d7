"""Carry one part of a staged count on: gather its states, advance, leave them for others.

A process keeps the tables of a count from one of its parts to the next: to prepare a board takes
longer than a small part, and memory that is asked for anew has to be cleared by the system, page by
page, before it can be used.
"""

from __future__ import annotations

import threading
from typing import Any

import pyarrow as pa

from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import PARTS
from nightgrid.solvers.algebra import COST_COLUMNS, Budget, Outcome, Status
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.layered_count import LayeredCount
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.chunks.result_rows import Row, heads_of, outcome_row, result_row
from nightgrid.workers.freed_memory import give_back, keep_freed
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

KEPT_SECONDS = 20.0
"""Tables that no part has asked for in this time are given up: longer than a barrier lasts, as a
rule, and short beside what else a worker may want the memory for."""

Key = tuple[str, str, str]
"""Lake, run and job: they settle board and budget."""


def carry(
    lake: Lake, ref: ChunkRef, run: Run, game: Game[Any, Any], rows: pa.Table, part: StagePart
) -> pa.Table | None:
    """Work a chunk that is one part of a staged count; return its PARTS, of one row.

    None when states that it needs are gone: another worker has done the part meanwhile, or the
    chunks that left them are worked again. States that are to be carried on lie in the chunk's
    frontier by then. A part without room comes back split into halves.
    """
    (head,) = heads_of(rows)
    puzzle = game.from_arrays(arrays_of(rows), 0)
    key = (lake.url, run.run_id, head["job_id"])
    count = kept_tables.take(key, run.budget) or game.layered(puzzle, run.budget)
    if count is None:
        raise PermanentError(f"part {head['part_path']} is of a count by layers; this has none")
    keep_freed()
    has_room = _gather(lake, ref, count, part)
    if has_room is None:
        kept_tables.keep(key, count)
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
            layers=count.layers,
            row_words=count.row_words,
            rows=tuple((begins[1:] - begins[:-1]).tolist()),
            layout=count.layout,
            kept=0 if part.until is None else kept,
        )
        row = result_row(head, CARRIED, None, children=carried.to_json())
    else:
        whole: Outcome[Any] = Outcome(status=Status.SOLVED, count=count.total())
        # The game knows which counts a result cannot hold.
        ask = run.question.ask
        row = outcome_row(game, ask, head, game.merge(puzzle, ask, [whole]))
    row |= {name: getattr(count.statistics, name) for name in COST_COLUMNS}
    kept_tables.keep(key, count)
    return pa.Table.from_pylist([row], PARTS)


def _gather(lake: Lake, ref: ChunkRef, count: LayeredCount, part: StagePart) -> bool | None:
    """Fetch the states of a part.

    Returns whether there is room for them, or None if the part is done.
    """
    if part.layer == 0:
        count.begin()
        _, begins = count.by_bucket()
        first, last = part.buckets
        if begins[first] == begins[last]:
            # Half of a first part: the empty board falls into a bucket of the other half.
            count.clear()
        return True
    count.clear()
    before = sources(lambda number: read_segment(lake, ref.run_id, number), ref)
    for source in before:
        try:
            for states, begins in read_frontier(lake, source, part, count.layout):
                if not count.hold(states, begins):
                    return False
        except LostFrontierError as error:
            log.warning("states lost", chunk=source.name, reason=str(error))
            # An old message needs what has been taken on and deleted.
            if not lake.exists(ref.result_path):
                # Neither is there without the other, and a chunk without its part is not done.
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


class KeptTables:
    """At most one count, which is taken out while it is in use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: tuple[Key, LayeredCount] | None = None
        self._timer: threading.Timer | None = None

    def take(self, key: Key, budget: Budget) -> LayeredCount | None:
        """Take the count of a job, as good as new; a count of another job is given up."""
        with self._lock:
            kept = self._empty()
        if kept is None or kept[0] != key:
            return None
        kept[1].renew(budget)
        return kept[1]

    def keep(self, key: Key, count: LayeredCount) -> None:
        """Keep a count that is done with for the job's next part."""
        with self._lock:
            self._empty()
            self._kept = (key, count)
            self._timer = threading.Timer(KEPT_SECONDS, self.drop)
            self._timer.daemon = True
            self._timer.start()

    def drop(self) -> None:
        """Drop what is kept, and return freed memory to the system."""
        with self._lock:
            kept = self._empty()
        if kept is not None:
            del kept
            give_back()

    def _empty(self) -> tuple[Key, LayeredCount] | None:
        kept, self._kept = self._kept, None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        return kept


kept_tables = KeptTables()
