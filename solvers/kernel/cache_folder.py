"""Where this machine caches what can be made again: compiled kernels, lexicons and vectors."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path


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


def fill_folder(folder: Path, write: Callable[[Path], object]) -> None:
    """Make a folder that appears with all its files; of several writers the first wins.

    `write` gets the folder to write into. Where it cannot be written, there is none.
    """
    staged = staged_path(folder)
    with contextlib.suppress(OSError):
        staged.mkdir(parents=True)
        write(staged)
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
