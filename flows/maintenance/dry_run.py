"""A lake for dry runs: what is written or deleted in it is seen in it alone.

So a dry run does what the real call does, step by step, and its figures are those of that call.
"""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from nightgrid.archive.lake.local_commit import LocalFolder
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.storage_kinds import Storage, open_storage


@contextmanager
def lake_to_try(lake: Lake) -> Iterator[Lake]:
    """Open a lake whose changes lie in a temporary folder until the block ends.

    Files of the lake itself are read where they are. What is written takes its bytes in the folder
    for temporary files.
    """
    with tempfile.TemporaryDirectory(prefix="nightgrid-dry-run-") as folder:
        yield Lake(_Layered(open_storage(lake.url), LocalFolder(folder)))


class _Layered:
    """A nightgrid.archive.lake.storage_kinds.Storage over another one, which it never changes."""

    def __init__(self, below: Storage, above: LocalFolder) -> None:
        self._below, self._above = below, above
        self._gone: set[str] = set()
        """Files and folders of the storage below that were deleted."""
        # Of its own: what a process keeps of a lake, it keeps by this name.
        mark = "&" if "?" in below.url else "?"
        self.url = f"{below.url}{mark}dry-run={uuid.uuid4().hex}"
        self.filesystem = pafs.PyFileSystem(_LayeredFiles(self))

    def commit(
        self,
        path: str | Callable[[], str],
        fill: Callable[[pa.NativeFile], Any],
        *,
        new: bool,
        durable: bool,  # noqa: ARG002 - nothing of it is kept
    ) -> bool:
        """Write a file above, with `new` unless there is one."""
        if callable(path):
            raise NotImplementedError("a file whose name is asked for at its end has no dry run")
        if new and self.info(path).type != pafs.FileType.NotFound:
            return False
        return self._above.commit(path, fill, new=False, durable=False)

    def check_exclusive(self) -> None:
        """Do nothing: one process writes here."""

    def listing(self, folder: str, *, deep: bool, stamped: bool = True) -> list[pafs.FileInfo]:
        """List what lies above, and of what lies below that which is neither covered nor gone."""
        found = self._above.listing(folder, deep=deep, stamped=stamped)
        above = {info.path for info in found}
        below = self._below.listing(folder, deep=deep, stamped=stamped)
        # Asked one by one: a copy of what is gone would be made for each folder.
        shown = (i for i in below if i.path not in above and i.path not in self._gone)
        return [*found, *shown]

    def info(self, path: str) -> pafs.FileInfo:
        """Tell what is at a path."""
        found: pafs.FileInfo = self._holder(path).filesystem.get_file_info(path)
        return found

    def opened(self, path: str) -> pa.NativeFile:
        """Open a file to be read."""
        return self._holder(path).filesystem.open_input_file(path)

    def delete(self, path: str) -> None:
        """Delete a file. Raises FileNotFoundError where there is none."""
        if self.info(path).type == pafs.FileType.NotFound:
            raise FileNotFoundError(path)
        if self._holder(path) is self._above:
            self._above.filesystem.delete_file(path)
        self._gone.add(path)

    def _holder(self, path: str) -> Storage:
        is_above = self._above.filesystem.get_file_info(path).type != pafs.FileType.NotFound
        return self._above if is_above or path in self._gone else self._below

    def is_dead_link(self, path: str) -> bool:
        """Tell whether a path is a link to nothing."""
        return self._holder(path).is_dead_link(path)

    def special_file(self, path: str) -> str:
        """Name what stands in the place of a file and never ends when it is read."""
        return self._holder(path).special_file(path)

    def is_circle(self, folder: str) -> bool:
        """Tell whether a folder is a link back into the lake."""
        return self._below.is_circle(folder)

    def sync_deleted(self, path: str) -> None:
        """Do nothing: nothing of it is kept."""

    def delete_folder(self, path: str, last: str) -> None:
        """Delete a folder with all files under it."""
        self._above.delete_folder(path, last)
        self._gone.update(info.path for info in self._below.listing(path, deep=True))
        self._gone.update((path, last))

    def sweep(self, older_than_s: float) -> int:  # noqa: ARG002
        """Find nothing: no writer is killed here and leaves its lake."""
        return 0


class _LayeredFiles(pafs.FileSystemHandler):  # type: ignore[misc]
    """What a lake asks of a file system, over the two of a layered storage."""

    def __init__(self, storage: _Layered) -> None:
        self._storage = storage

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _LayeredFiles) and other._storage is self._storage

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = object.__hash__

    def get_type_name(self) -> str:
        """Name the kind of file system."""
        return "layered"

    def normalize_path(self, path: str) -> str:
        """Give a path as it is: the lake has checked it."""
        return path

    def get_file_info(self, paths: list[str]) -> list[pafs.FileInfo]:
        """Tell what is at each path."""
        return [self._storage.info(path) for path in paths]

    def open_input_file(self, path: str) -> pa.NativeFile:
        """Open a file to be read anywhere in it."""
        return self._storage.opened(path)

    def delete_file(self, path: str) -> None:
        """Delete a file. Raises FileNotFoundError where there is none."""
        self._storage.delete(path)

    def _refuse(self, *_: Any) -> Any:
        raise NotImplementedError("a lake reads and deletes files, and its storage does the rest")

    get_file_info_selector = open_input_stream = create_dir = _refuse
    open_output_stream = open_append_stream = move = copy_file = _refuse
    delete_dir = delete_dir_contents = delete_root_dir_contents = _refuse
