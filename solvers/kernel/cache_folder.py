"""Where this machine caches what can be made again: compiled kernels, lexicons and vectors."""

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
    """Choose and make the folder: nightgrid under XDG_CACHE_HOME or ~/.cache.

    Where that cannot be written, a private folder for temporary files.
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
            # Code is loaded from there: a folder that others can write on is no place.
            base = Path(tempfile.mkdtemp(prefix="nightgrid-"))
    return base


def staged_path(path: Path) -> Path:
    """Name a file or folder next to a path, in which only this call writes."""
    return path.with_name(f"{path.name}.{os.getpid()}-{uuid.uuid4().hex}")


def kept_arrays(folder: Path, make: Callable[[], Mapping[str, npt.NDArray[Any]]]) -> Arrays:
    """Map the arrays of a folder; make and write them first if it has none.

    Every process that maps them shares one copy in memory. Where the folder cannot be written, what
    was made is returned.
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
        # Plain views of the mapped files: np.memmap is slow to slice.
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
    """Make a folder that appears with all its files; of several writers the first wins."""
    staged = staged_path(folder)
    with contextlib.suppress(OSError):
        staged.mkdir(parents=True)
        for name, array in arrays.items():
            np.save(staged / f"{name}.npy", array, allow_pickle=False)
        staged.rename(folder)
    shutil.rmtree(staged, ignore_errors=True)


def fill_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write or replace a file at once. Where it cannot be written, it stays as it was."""
    staged = staged_path(path)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write(staged)
        staged.replace(path)
    with contextlib.suppress(OSError):
        staged.unlink(missing_ok=True)
