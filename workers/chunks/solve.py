"""Solve one chunk: from its row group in the manifest to its chunk result.

Kernels release the GIL and check a stop flag where they check the clock; a thread sets it once the
lake says that the run is cancelled.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
from structlog.contextvars import bind_contextvars

from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.schemas import UNASKED
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.words.binding import game_of
from nightgrid.archive.words.dictionaries import MissingDictionaryError
from nightgrid.solvers.errors import (
    NightgridError,
    PermanentError,
    RefusalError,
    TransientError,
)
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.workers.chunks.refusals import check_solver_version, refusing
from nightgrid.workers.chunks.solved_rows import (
    as_small,
    promote,
    solve_rows,
)
from nightgrid.workers.chunks.stage_part import carry, drop_tables
from nightgrid.workers.logs import get_logger
from nightgrid.workers.metrics import count_rows
from nightgrid.workers.runs.attempt_notes import Note, read_note, take_back, write_note
from nightgrid.workers.runs.manifest import Run, open_run, read_done
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.runs.staged import drop_frontiers, stage_part
from nightgrid.workers.runs.status import drops_states, is_cancelled
from nightgrid.workers.settings import Settings
from nightgrid.workers.tracing import span

log = get_logger("nightgrid.worker")

STOP_POLL_SECONDS = 0.8
"""Interval of checks whether the run is cancelled; shorter chunks are never checked."""
Ended = Literal["solved", "done", "stale", "returned"]
"""How a chunk ended: solved now; result existed already; run cancelled or attempt failed; or states
that it needs are missing and have to be recomputed."""


def solve_chunk(
    lake: Lake,
    ref: ChunkRef,
    settings: Settings,
    worker: str,
    *,
    small: bool = False,
) -> Ended:
    """Solve every row of a chunk and write its chunk result, unless another execution was faster.

    Which rows come back split depends on time, so the first result is kept: a driver may have read
    it. A `small` chunk is solved within the small budget of on-demand work, and a row over it comes
    back divided or alone. The attempt of `worker` is noted in the lake before the work begins. If
    the run is cancelled meanwhile, the work stops without a result. The ids of run and chunk stay
    bound to log lines.

    Raises TransientError if the lake fails, RefusalError if this process cannot work the run (not
    in its lake, lake not writable, another solver version, words missing), and errors of a solver
    that are not about one puzzle.
    """
    bind_contextvars(run=ref.run_id, chunk=ref.name)
    with _watching(lake, ref.run_id) as stop:
        try:
            return _worked(lake, ref, settings, worker, stop, small=small)
        except Exception as error:
            if stop.reason_code is not None and not isinstance(error, RefusalError):
                # A search that was stopped may raise; that says nothing about the puzzle.
                take_back(lake, ref, worker)
                return "stale"
            if isinstance(error, TransientError):
                take_back(lake, ref, worker)
            raise
        except BaseException:
            # This process was asked to exit.
            take_back(lake, ref, worker)
            raise


@contextmanager
def _watching(lake: Lake, run_id: str) -> Iterator[Stop]:
    """Yield the stop flag for the work in the block; it is set when the run is cancelled."""
    stop, over = Stop(), threading.Event()

    def watch() -> None:
        while not over.wait(STOP_POLL_SECONDS):
            # If the lake fails now, try again next time.
            with suppress(NightgridError):
                if is_cancelled(lake, run_id):
                    log.info("stopped", about=run_id, reason=str(ReasonCode.CANCELLED))
                    stop.set(ReasonCode.CANCELLED)
                    return

    threading.Thread(target=watch, name="stop", daemon=True).start()
    try:
        yield stop
    finally:
        over.set()


def _name_work(game: Game[Any, Any], rows: pa.Table) -> None:
    """Bind the game to log lines, and the job if the chunk has one row."""
    bind_contextvars(game=game.name)
    if rows.num_rows == 1:
        bind_contextvars(job=rows.column("job_id")[0].as_py())
        with suppress(PermanentError):
            bind_contextvars(puzzle=game.puzzle_id(game.from_arrays(arrays_of(rows), 0)))


def _worked(
    lake: Lake, ref: ChunkRef, settings: Settings, worker: str, stop: Stop, *, small: bool
) -> Ended:
    with refusing():
        state = _superseded(lake, ref)
        if state is not None:
            return state
        head = open_run_head(lake, ref.run_id)
        run = replace(head, budget=replace(head.budget, stop=stop))
        if small:
            run, settings = as_small(run, settings)
        rows = lake.read_row_groups(ref.manifest_path, [ref.chunk], without=UNASKED)
        game = game_of(lake, run.question)
        check_solver_version(run, game)
        _name_work(game, rows)
        write_note(lake, ref, Note(worker=worker))
    stage = stage_part(rows.column("part")[0].as_py())
    if stage is None:
        drop_tables()
        kernel = span("kernel", game=game.name, rows=rows.num_rows)
        with refusing(MissingDictionaryError), kernel:
            part: pa.Table | None = solve_rows(lake, game, run, rows, settings)
            if run.budget.limits != head.budget.limits:
                part = promote(part)
    else:
        with refusing(), span("kernel", game=game.name, rows=rows.num_rows, staged=True):
            part = carry(lake, ref, run, game, rows, stage)
        if drops_states(lake, ref.run_id):
            # The process that cancelled the run has deleted all other states.
            drop_frontiers(lake, ref.run_id, [ref.key])
    if part is None:
        take_back(lake, ref, worker)
        return "done" if lake.exists(ref.result_path) else "returned"
    if run.budget.stopped is not None:
        take_back(lake, ref, worker)
        return "stale"
    with refusing():
        with span("file", rows=rows.num_rows):
            created = lake.write_table(ref.result_path, part, new=True)
        if created:
            _count_rows(game.name, part)
    return "solved" if created else "done"


def _count_rows(game: str, part: pa.Table) -> None:
    counted = pc.value_counts(part.column("status")).to_pylist()
    statuses = {each["values"]: each["counts"] for each in counted}
    costs = {name: pc.sum(part.column(name)).as_py() or 0 for name in ("states", "kernel_ns")}
    count_rows(game, statuses, **costs)


def _superseded(lake: Lake, ref: ChunkRef) -> Ended | None:
    """Return why a chunk needs no work: a message may arrive twice or late."""
    if lake.exists(ref.result_path) or read_done(lake, ref.run_id) is not None:
        return "done"
    note = read_note(lake, ref)
    has_failed = note is not None and note.failure is not None
    return "stale" if has_failed or is_cancelled(lake, ref.run_id) else None


@lru_cache(maxsize=64)
def open_run_head(lake: Lake, run_id: str) -> Run:
    """Open a run once per process: its question never changes (its segments may)."""
    return open_run(lake, run_id)
