"""The storages that a lake can lie in: what each has to do, and which one a URL opens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.fs as pafs

from nightgrid.archive.lake.local_commit import LocalFolder
from nightgrid.solvers.errors import PermanentError


class Storage(Protocol):
    """Where a lake lies: what differs from one storage to another."""

    url: str
    """The storage's name in messages, by which it is opened again."""
    filesystem: pafs.FileSystem
    """Reads, lists and deletes files by their paths in the lake."""

    def commit(
        self,
        path: str | Callable[[], str],
        fill: Callable[[pa.NativeFile], Any],
        *,
        new: bool,
        durable: bool,
    ) -> bool:
        """Write what `fill` writes as one file, which shows when it is complete.

        A function is asked for the path once the file is filled, and again when there is a file of
        that name, until it names the same. With `new` a file that is there stays: of several
        writers of one file, in any processes on any hosts, one writes it and is told so. What is
        not `durable` may be lost in a power failure. Returns whether the file was written.
        """

    def check_exclusive(self) -> None:
        """Raise NotExclusiveError where a file that is there is replaced by one that is created.

        A storage is asked once in a process, and by the first file that is created in any case.
        """

    def listing(self, folder: str, *, deep: bool, stamped: bool = True) -> list[pafs.FileInfo]:
        """List the files and folders in a folder, or with `deep` at any depth, in any order.

        Not `stamped`, sizes and times may be left out, if they take time.
        """

    def is_dead_link(self, path: str) -> bool:
        """Tell whether a path is a link to nothing."""

    def sync_deleted(self, path: str) -> None:
        """Make sure that a file that was deleted stays so."""

    def delete_folder(self, path: str, last: str) -> None:
        """Delete a folder with all files under it, at the end the file `last`."""

    def sweep(self, older_than_s: float) -> int:
        """Delete what killed writers left half-written; return how many files that were."""


def _objects(url: str) -> Storage:
    # Takes 60 ms, which commands on a folder can do without.
    from nightgrid.archive.lake.objects.store import Objects

    return Objects(url)


STORAGES: dict[str, Callable[[str], Storage]] = {
    "file": LocalFolder,
    "s3": _objects,
    "gs": _objects,
    "az": _objects,
}
"""What opens a lake, by the scheme of its URL; a URL without one is a folder. Another storage is
a module beside local_commit.py with a class that does what `Storage` says, and an entry here."""


def open_storage(url: str) -> Storage:
    """Open the storage of a lake's URL; nothing is created.

    Raises PermanentError for a URL that no storage opens.
    """
    if not url.strip() or "\0" in url:
        raise PermanentError(
            f"lake is {url!r}; expected a folder, or s3://, gs:// or az://BUCKET/PREFIX"
        )
    scheme = url.partition("://")[0] if "://" in url else "file"
    if scheme not in STORAGES:
        expected = f"a folder, {' or '.join(STORAGES)}"
        raise PermanentError(f"lake scheme {scheme!r} is unknown; expected {expected}")
    return STORAGES[scheme](url)
