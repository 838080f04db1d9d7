"""Processes on this machine: children that never outlive us, and locks that one holds at a time."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

from nightgrid.solvers.errors import PermanentError, TransientError

_PR_SET_PDEATHSIG = 1
NICE_MAX = 19
_NO_FOLDER = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EEXIST}
)
"""What a folder that this process may not make or write fails with; a full disk is none of it."""
LOG_BYTES_MAX = 16 * 1024**2
"""A log that has grown beyond this is put aside when its process is started again."""


def die_with_parent(*, parent: int | None = None) -> None:
    """Ask Linux to kill this process when its parent dies; elsewhere do nothing.

    With `parent`, the process id it is to have, it dies at once when that one died before.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if parent is not None and os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)


def lower_priority(share: float) -> None:
    """Leave this process, and what it starts, about this share of a core that others want as well.

    Those are processes of usual priority. While no other process wants the core, it has all of it.
    Where the system refuses, nothing changes: it is a matter of time, not of results.
    """
    # Each step of niceness is worth a factor of 1.25, and 0 has the weight 1 of the others.
    level = round(math.log((1 - share) / share, 1.25)) if 0 < share < 1 else 0
    level = max(0, min(level, NICE_MAX))
    with contextlib.suppress(OSError):
        os.nice(level - os.getpriority(os.PRIO_PROCESS, 0))
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            # It is woken a little later than others, and then left alone for longer.
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        with contextlib.suppress(OSError):
            # Where sessions share cores by groups, niceness counts within one alone.
            Path("/proc/self/autogroup").write_text(str(level))


def _begin_child(parent: int, share: float | None) -> None:
    die_with_parent(parent=parent)
    if share is not None:
        lower_priority(share)


def spawn(
    command: Sequence[str],
    *,
    log_path: Path | None,
    env: Mapping[str, str] | None = None,
    stdin_pipe: bool = False,
    share: float | None = None,
) -> subprocess.Popen[bytes]:
    """Start a command in a process group of its own, its output appended to a file.

    Without a file it writes where this process does, to standard output.
    It dies with the thread that called this (Linux). With `stdin_pipe`, its standard input is
    a pipe that it can watch: the pipe closes when this process ends, however it ends. With `share`
    it gives way to other processes (`lower_priority`).
    """
    with _opened(log_path) as log:
        return subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE if stdin_pipe else subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=None if env is None else dict(env),
            start_new_session=True,
            # The supervisor's only thread forks here, so that nothing can deadlock.
            preexec_fn=None if stdin_pipe else partial(_begin_child, os.getpid(), share),  # noqa: PLW1509
        )


@contextmanager
def _opened(log_path: Path | None) -> Iterator[IO[bytes] | None]:
    if log_path is None:
        # A process inherits standard output; its errors go the same way.
        yield None
        return
    begin_log(log_path)
    with log_path.open("ab") as log:
        yield log


def begin_log(path: Path) -> None:
    """Make the folder of a log, and put aside what has become too long of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > LOG_BYTES_MAX:
        path.replace(path.with_suffix(".log.1"))


def end_group(
    process: subprocess.Popen[bytes], *signals: tuple[signal.Signals, float]
) -> int | None:
    """Send each signal to a process and wait its seconds; then kill what is left of its group.

    Returns the exit code.
    """
    for number, seconds in signals:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(number)
            wait(process, seconds)
    kill_group(process)
    return process.wait()


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill whatever is left of a process's group, the process included."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def wait(process: subprocess.Popen[Any], seconds: float) -> bool:
    """Wait until a process has ended; tell whether it has."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


@contextmanager
def locked(folder: Path, name: str, refusal: str) -> Iterator[None]:
    """Hold the lock `name` of a folder on this machine's disk while the body runs.

    Raises TransientError with the refusal while another process holds it, PermanentError where the
    folder cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        if error.errno not in _NO_FOLDER:
            raise
        raise PermanentError(
            f"{folder}, the folder for locks, logs and the server, cannot be written "
            f"({error.strerror}); NIGHTGRID_VAR_DIR names another one"
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TransientError(refusal) from None
        yield
    finally:
        # The file stays: unlinking it would let a third process lock another file of its name.
        os.close(descriptor)
