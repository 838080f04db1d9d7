"""File answers in a process of its own, whose writing takes no turn from the event loop."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Sequence

from nightgrid.solvers.errors import TransientError
from nightgrid.workers.cluster.child_processes import child_environment
from nightgrid.workers.ondemand.filer import to_line
from nightgrid.workers.processes import wait
from nightgrid.workers.settings import Settings

MODULE = "nightgrid.workers.ondemand.filer"
END_S = 10.0


class FilingProcess:
    """A process that files answers, started anew when it has ended. Used by one thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Start the process; where that fails, it is tried again with what is to be filed."""
        with contextlib.suppress(OSError):
            self._started()

    def put(self, answers: Sequence[bytes]) -> None:
        """File answers, each as the process takes it.

        Raises TransientError where they were not filed, or may not have been: to file them twice
        does no harm.
        """
        try:
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(to_line(answers) + b"\n")
            process.stdin.flush()
            told = process.stdout.readline()
        except OSError as error:
            self.end()
            raise TransientError(f"the process that files answers: {error}") from error
        if not told:
            self.end()
            raise TransientError("the process that files answers has ended")
        why = json.loads(told)
        if why:
            raise TransientError(why)

    def end(self) -> None:
        """Let the process end; one that does not is killed."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        if not wait(process, END_S):
            process.kill()
            process.wait()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", MODULE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=child_environment(self._settings),
                start_new_session=True,
            )
        return self._process
