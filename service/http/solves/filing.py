"""Answers to small boards, filed many at a time by a process of its own."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from pydantic_core import to_json

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.without_pandas import keep_pandas_out
from nightgrid.archive.results.asked import AskedPuzzle, keep_asked
from nightgrid.solvers.errors import NightgridError, TransientError
from nightgrid.workers.logs import get_logger
from nightgrid.workers.ondemand.answers import Answer, put_answers
from nightgrid.workers.processes import die_with_parent, lower_priority
from nightgrid.workers.settings import Settings

log = get_logger("nightgrid.http")

FILE_PAUSE_S, FILE_RETRY_S = 0.25, 1.0
"""How long answers are gathered before they are filed together, and when a failure is retried."""
FILING_NICENESS = 5
"""Filing gives way to the boards of clients."""
UNFILED_MAX = 10_000
"""Answers kept in memory while the lake fails; boards become jobs beyond that."""
END_S = 10.0


def to_item(answer: Answer, puzzle: AskedPuzzle) -> bytes:
    """Write an answer that was worked whole, and the puzzle it is about, as JSON to be filed.

    Raises ValueError for a text that is no Unicode, such as half a character.
    """
    return to_json((answer.row, answer.solutions, puzzle))


class FilingProcess:
    """A process that files answers: a thread that does would hold the interpreter of the service.

    Used by one thread, once it was started.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool: ProcessPoolExecutor | None = None

    def start(self) -> None:
        """Start the process, unless it was."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                1,
                multiprocessing.get_context("spawn"),
                initializer=_begin_filing,
                initargs=(self._settings,),
            )
            self._pool.submit(be_warm)

    def put(self, answers: Sequence[bytes]) -> None:
        """File answers and the puzzles they are about, see `to_item`; none: end the process.

        Raises NightgridError or OSError where they may not be filed: to file them twice does no
        harm.
        """
        if not answers:
            if self._pool is not None:
                self._pool.shutdown()
            return
        self.start()
        assert self._pool is not None
        try:
            self._pool.submit(_file, answers).result()
        except BrokenProcessPool as error:
            self._pool = None
            raise TransientError("the process that files answers has ended") from error


class Filing:
    """Gathers answers, and files all that came meanwhile in one write for each table."""

    def __init__(self, put: Callable[[Sequence[bytes]], None]) -> None:
        """File nothing yet; `put` files answers, and ends with none."""
        self._put = put
        self._changed = threading.Condition()
        self._unfiled: dict[str, bytes] = {}
        self._is_ending = False
        self._thread = threading.Thread(target=self._run, name="filing", daemon=True)

    @property
    def has_room(self) -> bool:
        """Return whether another answer can be kept until it is filed."""
        return len(self._unfiled) < UNFILED_MAX

    def begin(self) -> None:
        """Begin to file."""
        self._thread.start()

    def end(self) -> None:
        """File what is left, and end."""
        with self._changed:
            self._is_ending = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(END_S)

    def add(self, job_id: str, answer: bytes) -> None:
        """File an answer soon."""
        with self._changed:
            self._unfiled[job_id] = answer
            if len(self._unfiled) == 1:
                self._changed.notify_all()

    def wait_for(self, job_id: str, timeout_s: float) -> bool:
        """Wait until a job's answer is in the lake if it came here; False after the timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: job_id not in self._unfiled, timeout_s)

    def _run(self) -> None:
        try:
            self._file_all()
        finally:
            self._put([])

    def _file_all(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._unfiled or self._is_ending)
                if self._is_ending and not self._unfiled:
                    return
            if not self._is_ending:
                time.sleep(FILE_PAUSE_S)
            taken = dict(self._unfiled)
            try:
                self._put(list(taken.values()))
            except (NightgridError, OSError) as error:
                log.warning("answers not filed", answers=len(taken), error=str(error))
                if self._is_ending:
                    return
                time.sleep(FILE_RETRY_S)
                continue
            with self._changed:
                for job_id in taken:
                    del self._unfiled[job_id]
                self._changed.notify_all()


# -- in the process that files -----------------------------------------------------------------

_lake: Lake


def _begin_filing(settings: Settings) -> None:
    global _lake
    begin_process()
    lower_priority(FILING_NICENESS)
    _lake = Lake.open(settings.lake)


def _file(filed: Sequence[bytes]) -> None:
    items: list[tuple[Any, Any, Any]] = [json.loads(each) for each in filed]
    keep_asked(_lake, [AskedPuzzle(*puzzle) for _, _, puzzle in items])
    put_answers(_lake, [Answer(row=row, solutions=solutions) for row, solutions, _ in items])


def begin_process() -> None:
    """Begin a process of the service, in a session of its own.

    Where sessions share cores, it has as much of them as a worker of a batch; and where it lowers
    its priority, the service keeps that of its own session.
    """
    die_with_parent()
    keep_pandas_out()
    os.setsid()
    # Ctrl-C is for the service, which ends its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def be_warm() -> None:
    """Run after the initializer of a process, as anything does."""
