"""What lies in a local folder: files, folders, and links that lead to nothing or back into it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pyarrow.fs as pafs

TABLE = ".parquet"
"""How the names of tables end, and of no folder that a lake makes."""


def list_folder(
    root: Path, folder: str, *, deep: bool, stamped: bool = True
) -> list[pafs.FileInfo]:
    """List what lies in a folder of a root, or with `deep` at any depth, in any order.

    A link is what it leads to. One that leads to nothing counts as a file, so that its readers say
    what it is. A link to a folder with or within the root is listed and not followed, since that
    would never end. A folder in the place of a table is a file as well. There is nothing in a
    folder that is not there. Not `stamped`, a file is not asked for its size and time.
    """
    found = []
    todo = [folder]
    while todo:
        for entry, path in _entries(root, todo.pop()):
            if not stamped and entry.is_file(follow_symlinks=False):
                found.append(pafs.FileInfo(path, pafs.FileType.File))
                continue
            try:
                about = entry.stat()
            except OSError:
                # A link to nothing, or a file that is just gone.
                if entry.is_symlink():
                    found.append(pafs.FileInfo(path, pafs.FileType.File, size=0, mtime_ns=0))
                continue
            if stat.S_ISDIR(about.st_mode):
                found.append(pafs.FileInfo(path, pafs.FileType.Directory))
                if path.endswith(TABLE):
                    found.append(pafs.FileInfo(path, pafs.FileType.File, size=0, mtime_ns=0))
                if deep and not (entry.is_symlink() and leads_back(root, entry.path)):
                    todo.append(path)
            else:
                size, written_ns = about.st_size, about.st_mtime_ns
                file = pafs.FileInfo(path, pafs.FileType.File, size=size, mtime_ns=written_ns)
                found.append(file)
    return found


def _entries(root: Path, folder: str) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Give what lies in a folder, with its path below the root."""
    try:
        with os.scandir(root / folder) as entries:
            for entry in entries:
                yield entry, f"{folder}/{entry.name}" if folder else entry.name
    except (FileNotFoundError, NotADirectoryError):
        return


def leads_back(root: Path, path: str | Path) -> bool:
    """Tell whether a link leads to a folder that lies in the root, or that it lies in."""
    real = os.path.realpath(path)
    return os.path.commonpath([real, root]) in (real, str(root))


def is_dead(path: Path) -> bool:
    """Tell whether a path is a link to nothing."""
    return path.is_symlink() and not path.exists()
