"""Lakes in a local folder: every file is staged, synced, and only then put under its name."""

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
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pyarrow as pa
import pyarrow.fs as pafs

from nightgrid.solvers.errors import PermanentError

STAGING = ".staging"
"""Folder of half-written files: inside the lake, so that it is on the lake's file system even
when the lake is a mount point, but beside the tables and never called *.parquet, so that no
reader's glob finds it."""
LOCK = "create.lock"
"""File among the half-written ones that a process locks while it looks for a name and takes it."""
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""What hard links fail with where a file system has none."""


class LocalFolder:
    """A nightgrid.archive.lake.stored_files.Storage: a folder of this machine."""

    def __init__(self, url: str) -> None:
        """Take a path, or file:///PATH. Raises PermanentError for a URL that names a host."""
        parts = urlsplit(url) if "://" in url else None
        if parts is not None and parts.netloc not in ("", "localhost"):
            raise PermanentError(f"lake {url!r} names a host; expected file:///PATH")
        folder = Path(url if parts is None else url2pathname(parts.path))
        self._folder = folder.expanduser().resolve()
        self.url = str(self._folder)
        self._files = pafs.SubTreeFileSystem(self.url, pafs.LocalFileSystem())

    def open_file(self, path: str) -> pa.NativeFile:
        """Open a file to be read anywhere in it."""
        return self._files.open_input_file(path)

    def info(self, path: str) -> pafs.FileInfo:
        """Look a file or folder up."""
        return self._files.get_file_info(path)

    def commit(
        self,
        path: str | Callable[[], str],
        fill: Callable[[pa.NativeFile], Any],
        *,
        new: bool,
        durable: bool,
    ) -> bool:
        """Write a file under its name, with `new` unless another has it."""
        if new and isinstance(path, str) and (self._folder / path).exists():
            return False
        place = link if new else rename
        return put(self._folder, STAGING, path, fill, place, durable=durable)

    def check_exclusive(self) -> None:
        """Do nothing: a hard link, or a lock where there are none, creates a file once."""

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
        """Delete a file; one that is not there is no error."""
        file = self._folder / path
        with suppress(FileNotFoundError):
            file.unlink()
            if durable:
                fsync(file.parent)

    def delete_folder(self, path: str, last: str) -> None:
        """Delete a folder; of two processes that do so, one finds less."""
        end = self._folder / last
        for folder, folders, files in os.walk(self._folder / path, topdown=False):
            for name in files:
                if (file := Path(folder) / name) != end:
                    file.unlink(missing_ok=True)
            for name in folders:
                with suppress(OSError):
                    (Path(folder) / name).rmdir()
        end.unlink(missing_ok=True)
        with suppress(OSError):
            # Unless a worker that is late has just written to it.
            (self._folder / path).rmdir()

    def sweep(self, older_than_s: float) -> int:
        """Delete staged files of that age; return how many those were."""
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
    and again when another writer has taken that one, until it names the same. Returns what `place`
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
    """Rename a staged file over any file of that name."""
    staged.replace(target)
    return True


def link(staged: Path, target: Path) -> bool:
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

    All who do so wait for one another: the lock ends with its holder, however that ends. It is
    never deleted, because another process may wait for it.
    """
    with (staged.parent / LOCK).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return not target.exists() and rename(staged, target)


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
