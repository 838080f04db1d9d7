"""The files of a lake: bytes under a local folder or in an object store, every write atomic."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
import pyarrow.fs as pafs

from nightgrid.archive.lake.faults import storage_errors
from nightgrid.archive.lake.local_commit import STAGING, LocalFolder
from nightgrid.archive.lake.location import check_path, check_url, folder_of, is_folder

if TYPE_CHECKING:
    from nightgrid.archive.lake.objects.store import Objects

STAGING_KEPT_S = 24 * 3600.0
"""Age after which a staged file must have been left by a killed writer."""


# Other allocators keep their peak: 60 MB more in a driver of long runs.
pa.set_memory_pool(pa.system_memory_pool())


def open_storage(url: str) -> LocalFolder | Objects:
    """Open the storage of a lake's URL; nothing is created. Raises PermanentError for a bad URL."""
    check_url(url)
    if is_folder(url):
        return LocalFolder(folder_of(url))
    # Takes 60 ms, which commands on a folder do not need.
    from nightgrid.archive.lake.objects.store import Objects

    return Objects(url)


class StoredFiles:
    """Files at a local folder or in an object store, through pyarrow filesystems.

    Paths are relative to the lake, with "/" between names. Writes are atomic: locally a file is
    staged, fsynced, renamed and its folder fsynced; in an object store it is one upload, which
    becomes visible when it is complete. Open a lake after a fork, not before: clients of object
    stores do not survive one.

    Raises TransientError if a retry may help (network, full disk) and PermanentError if it will not
    (no permission, damaged file, path outside of the lake).
    """

    def __init__(self, storage: LocalFolder | Objects) -> None:
        self.url = storage.url
        self._storage = storage

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def location(self, path: str) -> str:
        """Return the location of a file for people: under the URL without its options."""
        return f"{self.url.partition('?')[0].rstrip('/')}/{path}"

    @classmethod
    def open(cls, url: str) -> Self:
        """Open a lake: "lake", "/abs/lake", "file:///abs/lake", or "s3://bucket/prefix?OPTIONS".

        gs:// and az:// likewise. OPTIONS are endpoint_override (host:port, or http://host:port),
        scheme and anonymous=true; on S3 region, on Azure account. Credentials come from the
        environment or the service's files, never from the URL, because URLs are logged. Nothing
        is created before the first write.

        Raises PermanentError for any other URL.
        """
        return cls(open_storage(url))

    def write_spill(self, path: str, fill: Callable[[pa.NativeFile], Any]) -> None:
        """Write a reproducible file by calling `fill`.

        It is written like any other, but without waiting for the disk: after a power failure it may
        be damaged, which its reader has to notice.
        """
        self._commit(path, fill, durable=False)

    def write_bytes(
        self, path: str, data: bytes, *, new: bool = False, durable: bool = True
    ) -> bool:
        """Write a file of bytes; without `durable`, as `write_spill` does.

        With `new`, only if the file does not exist: of several writers at once, on any hosts, one
        writes it. Returns whether it was written.
        """
        return self._commit(path, lambda sink: sink.write(data), new=new, durable=durable)

    def check_exclusive(self) -> None:
        """Raise NotExclusiveError if the storage lets a new file replace an existing one."""
        with storage_errors(STAGING, writing=True, place=self.url):
            self._storage.check_exclusive()

    def read_bytes(self, path: str) -> bytes:
        """Read a whole file.

        Raises MissingFileError if it does not exist.
        """
        with self.open_file(path) as source:
            return bytes(source.read())

    @contextmanager
    def open_file(self, path: str) -> Iterator[pa.NativeFile]:
        """Open a file for reading, and convert read errors into those of a lake."""
        check_path(path)
        with storage_errors(path, reading=True), self._storage.open_file(path) as source:
            yield source

    def list(self, prefix: str = "") -> builtins.list[str]:
        """List the files under a folder at any depth, sorted; half-written files are hidden."""
        return sorted(self.sizes(prefix))

    def sizes(self, prefix: str = "", *, deep: bool = True) -> dict[str, int]:
        """List the files under a folder, or directly in it unless `deep`, with their bytes."""
        found = self.stamps(prefix, deep=deep).items()
        return {path: size for path, (size, _) in found if not path.startswith(f"{STAGING}/")}

    def names(self, folder: str) -> builtins.list[str]:
        """List the files in a folder, sorted."""
        return sorted(self.stamps(folder))

    def stamps(self, folder: str, *, deep: bool = False) -> dict[str, tuple[int, int]]:
        """List the files of a folder: their bytes, and when they were written, ns since 1970."""
        files = (i for i in self._infos(folder, deep=deep) if i.type == pafs.FileType.File)
        return {info.path: (info.size, info.mtime_ns) for info in files}

    def stamp(self, path: str) -> tuple[int, int] | None:
        """Return a file's size and time as `stamps` does; None if it does not exist."""
        check_path(path)
        with storage_errors(path):
            info = self._storage.info(path)
        return (info.size, info.mtime_ns) if info.type == pafs.FileType.File else None

    def folders(self, prefix: str) -> builtins.list[str]:
        """List the folders in a folder, sorted."""
        found = self._infos(prefix, deep=False)
        return sorted(info.path for info in found if info.type == pafs.FileType.Directory)

    def _infos(self, prefix: str, *, deep: bool) -> builtins.list[pafs.FileInfo]:
        if prefix:
            check_path(prefix)
        with storage_errors(prefix or self.url):
            return self._storage.listing(prefix, deep=deep)

    def exists(self, path: str) -> bool:
        """Return whether a file or a folder exists."""
        return self._type(path) in (pafs.FileType.File, pafs.FileType.Directory)

    def delete(self, path: str, *, durable: bool = True) -> None:
        """Delete a file; a missing one is no error.

        Without `durable`, it may reappear after a power failure.
        """
        check_path(path)
        with storage_errors(path):
            self._storage.delete(path, durable=durable)

    def delete_folder(self, path: str, *, last: str) -> None:
        """Delete all files under a folder, the one named `last` at the end."""
        check_path(path)
        with storage_errors(path):
            self._storage.delete_folder(path, last)

    def empty_folder(self, path: str, *, but: str) -> None:
        """Delete all files under a folder but one."""
        check_path(path)
        with storage_errors(path):
            self._storage.empty_folder(path, but)

    def sweep_staging(self, older_than_s: float = STAGING_KEPT_S) -> int:
        """Delete half-written files of killed writers; return how many."""
        with storage_errors(STAGING):
            return self._storage.sweep(older_than_s)

    def _commit(
        self,
        path: str,
        fill: Callable[[pa.NativeFile], Any],
        *,
        new: bool = False,
        durable: bool = True,
    ) -> bool:
        check_path(path)
        with storage_errors(path, writing=True, place=self.url):
            return self._storage.commit(path, fill, new=new, durable=durable)

    def _type(self, path: str) -> pafs.FileType:
        check_path(path)
        with storage_errors(path):
            return self._storage.info(path).type
