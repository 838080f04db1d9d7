"""Lakes in a local folder: every file is staged and synced before it gets its name."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

STAGING = ".staging"
"""Folder of half-written files: inside the lake, so that it is on the lake's file system even when
the lake is a mount point, but apart from the tables and never named *.parquet, so that no reader's
glob finds it."""
LOCK = "create.lock"
"""File in the staging folder that a process locks while it checks for a name and takes it."""
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""Errnos of hard links on a file system without them."""


class LocalFolder:
    """A lake in a folder of this machine. Its methods raise OSErrors."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self.url = str(self._folder)
        self._files = pafs.SubTreeFileSystem(self.url, pafs.LocalFileSystem())

    def open_file(self, path: str) -> pa.NativeFile:
        """Open a file for random access."""
        return self._files.open_input_file(path)

    def info(self, path: str) -> pafs.FileInfo:
        """Return the file information of a file or folder."""
        return self._files.get_file_info(path)

    def commit(
        self, path: str, fill: Callable[[pa.NativeFile], Any], *, new: bool, durable: bool
    ) -> bool:
        """Stage what `fill` writes, sync it, rename it, sync the folder.

        With `new`, an existing file stays: of several writers of one file, in any processes, one
        writes it and gets True. Without `durable`, the file may be lost in a power failure.
        """
        target = self._folder / path
        if new and target.exists():
            return False
        staged = self._folder / STAGING / f"{os.getpid()}-{uuid.uuid4().hex}.tmp"
        make_folder(staged.parent)
        make_folder(target.parent)
        try:
            with pa.OSFile(str(staged), "wb") as sink:
                fill(sink)
            if durable:
                fsync(staged)
            placed = (_link if new else _rename)(staged, target)
        finally:
            staged.unlink(missing_ok=True)
        if durable:
            fsync(target.parent)
        return placed

    def check_exclusive(self) -> None:
        """Do nothing: hard links, or a lock if there are none, create a file exclusively."""

    def listing(self, folder: str, *, deep: bool) -> list[pafs.FileInfo]:
        """List the files and folders in a folder, or with `deep` at any depth."""
        found, todo = [], [folder]
        while todo:
            for entry, path in self._entries(todo.pop()):
                try:
                    about = entry.stat()
                except FileNotFoundError:
                    continue  # Just gone.
                if stat.S_ISDIR(about.st_mode):
                    found.append(pafs.FileInfo(path, pafs.FileType.Directory))
                    todo += [path] if deep else []
                else:
                    size, time_ns = about.st_size, about.st_mtime_ns
                    found.append(
                        pafs.FileInfo(path, pafs.FileType.File, size=size, mtime_ns=time_ns)
                    )
        return found

    def _entries(self, folder: str) -> Iterator[tuple[os.DirEntry[str], str]]:
        with (
            suppress(FileNotFoundError, NotADirectoryError),
            os.scandir(self._folder / folder) as entries,
        ):
            for entry in entries:
                yield entry, f"{folder}/{entry.name}" if folder else entry.name

    def delete(self, path: str, *, durable: bool) -> None:
        """Delete a file; a missing one is no error."""
        file = self._folder / path
        with suppress(FileNotFoundError):
            file.unlink()
            if durable:
                fsync(file.parent)

    def empty_folder(self, path: str, but: str) -> None:
        """Delete all files of a folder but one; of two processes that do so, one finds less."""
        end = self._folder / but
        for folder, folders, files in os.walk(self._folder / path, topdown=False):
            for name in files:
                if (file := Path(folder) / name) != end:
                    file.unlink(missing_ok=True)
            for name in folders:
                with suppress(OSError):
                    (Path(folder) / name).rmdir()

    def delete_folder(self, path: str, last: str) -> None:
        """Delete a folder, one file last."""
        self.empty_folder(path, last)
        self.delete(last, durable=False)
        with suppress(OSError):
            # Unless a late worker has just written to it.
            (self._folder / path).rmdir()

    def sweep(self, older_than_s: float) -> int:
        """Delete staged files older than this; return how many."""
        if not (self._folder / STAGING).is_dir():
            return 0
        swept = 0
        for staged in (self._folder / STAGING).iterdir():
            if staged.name == LOCK:
                continue
            try:
                age_s = time.time() - staged.stat().st_mtime
            except FileNotFoundError:  # its writer has just put it into its place
                continue
            if age_s > older_than_s:
                staged.unlink(missing_ok=True)
                swept += 1
        return swept


def _rename(staged: Path, target: Path) -> bool:
    """Rename a staged file, replacing any file of that name."""
    staged.replace(target)
    return True


def _link(staged: Path, target: Path) -> bool:
    """Rename a staged file unless the name is taken."""
    try:
        target.hardlink_to(staged)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return _rename_new(staged, target)
    return True


def _rename_new(staged: Path, target: Path) -> bool:
    """Rename a staged file unless the name is taken, without hard links.

    All callers wait for one another: the lock ends with its holder, however that ends. The lock
    file is never deleted, because another process may be waiting for it.
    """
    with (staged.parent / LOCK).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return not target.exists() and _rename(staged, target)


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, and sync the folders that name them."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    fsync(folder.parent)


def fsync(path: Path) -> None:
    """Flush a file or folder to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
