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
    path: str | Callable[[], str],
    fill: Callable[[pa.NativeFile], Any],
    place: Callable[[Path, Path], bool],
    *,
    durable: bool = True,
) -> bool:
    """Write a file under a staged name, sync it, give it its place, sync the folder.

    What is not `durable` is not synced. A function is asked for the path once the file is filled,
    and again when somebody else has taken that one, until it names the same. Returns what `place`
    says: whether the file now stands there.
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
        name = path if isinstance(path, str) else path()
        target = root / name
        _make_folder(target.parent)
        placed = place(staged, target)
        while not placed and not isinstance(path, str) and name != (name := path()):
            target = root / name
            placed = place(staged, target)
    finally:
        staged.unlink(missing_ok=True)
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
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without hard links: as good as it can be had there.
        return not target.exists() and rename(staged, target)
    return True


def has_links(folder: Path) -> bool | None:
    """Tell whether the file system of a folder knows hard links; None before there is one."""
    if not folder.is_dir():
        return None
    probe = folder / f"{os.getpid()}-{uuid.uuid4().hex}.tmp"
    second = probe.with_suffix(".link.tmp")
    try:
        probe.touch()
        second.hardlink_to(probe)
    except OSError as error:
        # Whatever else is wrong, whoever writes next is told.
        return error.errno not in _NO_LINKS
    finally:
        probe.unlink(missing_ok=True)
        second.unlink(missing_ok=True)
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
