"""File answers of the service's own processes: all that came meanwhile in one go.

A client has its answer before it lies in the lake, half a second later. A service
that is killed in between has answered, and has promised nothing more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Protocol

from nightgrid.solvers.errors import NightgridError
from nightgrid.workers.bounded_cache import BoundedCache
from nightgrid.workers.logs import get_logger

log = get_logger("nightgrid.http")

PAUSE_S = 0.5
"""How long answers are gathered before they are written together."""
RETRY_S = 1.0
GATHERED_MAX = 10_000
"""Answers that are kept while the lake does not answer; further ones are asked again one day."""
END_S = 10.0


class Files(Protocol):
    """What files answers: a process of its own, see `FilingProcess`."""

    def begin(self) -> None:
        """Prepare for that."""

    def put(self, answers: Sequence[bytes]) -> None:
        """File answers together, each as nightgrid.workers.ondemand.filer takes it.

        Raises NightgridError where that may not have happened.
        """

    def end(self) -> None:
        """File no more."""


class Filing:
    """Gathers answers, and has them filed, in a thread of its own."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._wanted = threading.Condition()
        self._answers: dict[str, bytes] = {}
        self._passed_over: BoundedCache[str, bool] = BoundedCache(GATHERED_MAX)
        """Jobs whose answers came when GATHERED_MAX others waited: the lake has none of them."""
        self._is_ending = False
        self._thread = threading.Thread(target=self._run, name="filing", daemon=True)

    def begin(self) -> None:
        """Begin to write."""
        self._thread.start()

    def end(self) -> None:
        """Write what is left, and end."""
        with self._wanted:
            self._is_ending = True
            self._wanted.notify_all()
        if self._thread.is_alive():
            self._thread.join(END_S)

    def add(self, job_id: str, answer: bytes) -> None:
        """Have the answer to a job written soon."""
        with self._wanted:
            if len(self._answers) < GATHERED_MAX:
                self._answers[job_id] = answer
                self._passed_over.drop(job_id)
                self._wanted.notify_all()
            else:
                self._passed_over.put(job_id, True)

    def holds(self, job_id: str) -> bool:
        """Tell whether an answer came here that does not lie in the lake."""
        with self._wanted:
            return job_id in self._answers or job_id in self._passed_over

    def has_passed_over(self, job_id: str) -> bool:
        """Tell whether the answer to a job came here and was not kept."""
        with self._wanted:
            return job_id in self._passed_over

    def wait_for(self, job_id: str, timeout_s: float) -> bool:
        """Wait until an answer lies in the lake, at most so long.

        Tells whether it lies there, if it is one of those that came here.
        """
        with self._wanted:
            is_done = self._wanted.wait_for(lambda: job_id not in self._answers, timeout_s)
        return is_done and job_id not in self._passed_over

    def _run(self) -> None:
        try:
            self._files.begin()
            self._file_all()
        finally:
            self._files.end()

    def _file_all(self) -> None:
        while True:
            with self._wanted:
                self._wanted.wait_for(lambda: self._answers or self._is_ending)
                if self._is_ending and not self._answers:
                    return
            if not self._is_ending:
                time.sleep(PAUSE_S)
            with self._wanted:
                taken = dict(self._answers)
            try:
                self._files.put(list(taken.values()))
            except (NightgridError, OSError) as error:
                log.warning("answers not filed", answers=len(taken), error=str(error))
                if self._is_ending:
                    return
                time.sleep(RETRY_S)
                continue
            with self._wanted:
                for job_id in taken:
                    del self._answers[job_id]
                self._wanted.notify_all()
