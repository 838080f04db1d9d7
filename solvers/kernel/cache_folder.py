"""The machine's cache of reproducible files: compiled kernels, lexicons and vectors."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]


def cache_base() -> Path:
    """Return and create the cache folder: nightgrid under XDG_CACHE_HOME or ~/.cache.

    If that is not writable, a private temporary folder.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nightgrid"
    try:
        base.mkdir(parents=True, exist_ok=True)
        writable = os.access(base, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        base = Path(tempfile.gettempdir()) / f"nightgrid-{os.getuid()}"
        base.mkdir(mode=0o700, exist_ok=True)
        found = base.lstat()
        if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode) or found.st_mode & 0o077:
            # Code is loaded from there, so a folder that others can write to is unsafe.
            base = Path(tempfile.mkdtemp(prefix="nightgrid-"))
    return base


def staged_path(path: Path) -> Path:
    """Return a path next to another one, unique to this call, for staging."""
    return path.with_name(f"{path.name}.{os.getpid()}-{uuid.uuid4().hex}")


def kept_arrays(folder: Path, make: Callable[[], Mapping[str, npt.NDArray[Any]]]) -> Arrays:
    """Map the arrays of a folder; build and write them first if missing.

    All processes that map them share one copy in memory. If the folder is not writable, returns the
    arrays as built.
    """
    found = mapped_arrays(folder)
    if found is None:
        made = dict(make())
        _write_arrays(folder, made)
        found = mapped_arrays(folder) or made
    return found


def mapped_arrays(folder: Path) -> Arrays | None:
    """Map the arrays of a folder read-only; None if there are none. A damaged folder is deleted."""
    try:
        # Plain views of the mapped files, because np.memmap is slow to slice.
        arrays = {
            path.stem: np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
            for path in folder.glob("*.npy")
        }
    except (EOFError, ValueError):
        shutil.rmtree(folder, ignore_errors=True)
        return None
    except OSError:
        return None
    return arrays or None


def _write_arrays(folder: Path, arrays: Arrays) -> None:
    """Create a folder atomically with all its files; of several writers the first wins."""
    staged = staged_path(folder)
    with contextlib.suppress(OSError):
        staged.mkdir(parents=True)
        for name, array in arrays.items():
            np.save(staged / f"{name}.npy", array, allow_pickle=False)
        staged.rename(folder)
    shutil.rmtree(staged, ignore_errors=True)


def fill_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write or replace a file atomically. If it is not writable, it stays as it was."""
    staged = staged_path(path)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write(staged)
        staged.replace(path)
    with contextlib.suppress(OSError):
        staged.unlink(missing_ok=True)
