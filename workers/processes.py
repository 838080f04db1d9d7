"""Child processes that never outlive us, and locks between processes of this machine."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from nightgrid.solvers.errors import PermanentError, TransientError

_PR_SET_PDEATHSIG = 1
_UNWRITABLE = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EEXIST}
)
"""Errnos of an unwritable folder; a full disk is not among them."""
LOG_BYTES_MAX = 16 * 1024**2
"""A log larger than this is rotated when its process restarts."""


def die_with_parent(*, parent: int | None = None) -> None:
    """Ask Linux to kill this process when its parent dies; do nothing on other systems.

    With `parent`, the expected process id of the parent, it exits at once if that one is dead.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if parent is not None and os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)


def lower_priority(steps: int) -> None:
    """Lower the priority of this process and its children; each step is worth a factor of 1.25."""
    with contextlib.suppress(OSError):
        level = os.nice(steps)
        if sys.platform == "linux":
            # Processes that requests wait for go first.
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
            # Under autogroup scheduling, nice levels only count within one session.
            Path("/proc/self/autogroup").write_text(str(level))


def _begin_child(parent: int, nice: int) -> None:
    die_with_parent(parent=parent)
    if nice:
        lower_priority(nice)


def spawn(
    command: Sequence[str],
    *,
    log_path: Path | None,
    env: Mapping[str, str] | None = None,
    stdin_pipe: bool = False,
    nice: int = 0,
) -> subprocess.Popen[bytes]:
    """Start a command in its own process group, with its output appended to a file.

    Without a file it inherits our standard output. It dies with the calling thread (Linux). With
    `stdin_pipe` it gets a pipe as standard input instead, which closes when this process ends,
    however it ends. Raises OSError.
    """
    if log_path is not None:
        begin_log(log_path)
    with nullcontext() if log_path is None else log_path.open("ab") as log:
        return subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE if stdin_pipe else subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=None if env is None else dict(env),
            start_new_session=True,
            # Safe from deadlock: the child imports nothing before exec, and no other thread
            # (metrics, server monitor) holds a lock of ours.
            preexec_fn=None if stdin_pipe else partial(_begin_child, os.getpid(), nice),  # noqa: PLW1509
        )


def begin_log(path: Path) -> None:
    """Create the folder of a log, and rotate a log that has become too long."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > LOG_BYTES_MAX:
        path.replace(path.with_suffix(".log.1"))


def end_group(
    process: subprocess.Popen[bytes], *signals: tuple[signal.Signals, float]
) -> int | None:
    """Send each signal to a process and wait its seconds, then kill what is left of its group.

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
    """Kill what is left of a process's group, including the process."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def wait(process: subprocess.Popen[Any], seconds: float) -> bool:
    """Wait for a process to end; return whether it did."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.poll() is not None


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Raise PermanentError if the side folder cannot be created or written in the body."""
    try:
        yield
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        raise PermanentError(
            f"{folder}, the folder for locks, logs and the server, cannot be written "
            f"({error.strerror}); NIGHTGRID_VAR_DIR names another one"
        ) from error


@contextmanager
def locked(folder: Path, name: str, refusal: str) -> Iterator[None]:
    """Hold the lock `name` of a side folder while the body runs.

    Raises TransientError(refusal) while another process holds it, and as `writing_to`.
    """
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise TransientError(refusal) from None
    try:
        yield
    finally:
        # The file stays: unlinking it would let a third process lock a new file of the same name.
        os.close(descriptor)
