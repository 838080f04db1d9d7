"""One at a time on this machine: a lock that its holder's death gives back."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nightgrid.solvers.errors import TransientError


@contextmanager
def alone(folder: Path, name: str, refusal: str) -> Iterator[None]:
    """Hold the lock `name` of a folder on this machine's disk while the body runs.

    Raises TransientError with the refusal while another process holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TransientError(refusal) from None
        yield
    finally:
        # The file stays: unlinking it would let a third process lock another file of its name.
        os.close(descriptor)
