"""Commit a file on a local disk: staged, synced, and only then under its name."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""What hard links fail with where a file system has none."""


def put(
    root: Path,
    staging: str,
    path: str | list[str],
    fill: Callable[[pa.NativeFile], Any],
    place: Callable[[Path, Path], bool],
    *,
    durable: bool = True,
) -> bool:
    """Write a file under a staged name, sync it, give it its place, sync the folder.

    What is not `durable` is not synced.
    A list of paths is read once the file is filled, for the one name that it then holds. Returns
    what `place` says: whether the file now stands there.
    """
    staged = root / staging / f"{os.getpid()}-{uuid.uuid4().hex}.tmp"
    _make_folder(staged.parent)
    if isinstance(path, str):
        _make_folder((root / path).parent)
    try:
        with pa.OSFile(str(staged), "wb") as sink:
            fill(sink)
        if durable:
            fsync(staged)
        target = root / (path if isinstance(path, str) else path[0])
        _make_folder(target.parent)
        placed = place(staged, target)
    except BaseException:
        staged.unlink(missing_ok=True)
        raise
    if durable:
        fsync(target.parent)
    return placed


def rename(staged: Path, target: Path) -> bool:
    """Give a staged file its name, whoever had it before."""
    staged.replace(target)
    return True


def link(staged: Path, target: Path) -> bool:
    """Give a staged file its name unless another file has it."""
    try:
        target.hardlink_to(staged)
    except FileExistsError:
        staged.unlink()
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without hard links: as good as it can be had there.
        if target.exists():
            staged.unlink()
            return False
        return rename(staged, target)
    staged.unlink()
    return True


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    fsync(folder.parent)


def fsync(path: Path) -> None:
    """Bring a file or the names in a folder onto the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
