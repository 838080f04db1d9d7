"""Objects of a store as files that Arrow reads, lists and deletes."""

from __future__ import annotations

import io
import time
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import obstore
import pyarrow as pa
import pyarrow.fs as pafs
from obstore.store import AzureStore, ObjectStore

from nightgrid.archive.lake.objects.errors import StoreFailedError, StoreRefusedError, os_errors

FIRST_BYTES = 131_072
"""Bytes that opening a file reads: all of a small one, the footer of most Parquet files."""
TRUSTED_S = 60.0
"""How long a store that was seen to be one is believed when it lists nothing."""
_NO_LISTING = "invalid list response"
"""What obstore says of a listing that is not XML, or not of this kind."""
_NO_STORE = (
    "does not answer as an object store does; look at its address, and whether a proxy answers"
)


class ObjectFiles(pafs.FileSystemHandler):  # type: ignore[misc]
    """What a lake asks of a file system, over an object store; files are written elsewhere."""

    def __init__(self, store: ObjectStore, place: str) -> None:
        """Take a client, and the lake's place for people."""
        self._store, self._place = store, place
        self._trusted_until = 0.0
        # Azure knows no ranges that count from the end.
        self._has_tails = not isinstance(store, AzureStore)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectFiles) and other._store == self._store

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = object.__hash__

    def get_type_name(self) -> str:
        """Name the kind of file system."""
        return "obstore"

    def normalize_path(self, path: str) -> str:
        """Give a path as it is: the lake has checked it."""
        return path

    def get_file_info(self, paths: list[str]) -> list[pafs.FileInfo]:
        """Tell what is at each path; what other paths begin with is a folder."""
        return [self._info(path) for path in paths]

    def get_file_info_selector(self, selector: pafs.FileSelector) -> list[pafs.FileInfo]:
        """List the files under a folder, or what lies in the folder itself."""
        names, objects = self._listing(selector.base_dir or None, deep=selector.recursive)
        if not names and not objects:
            self._see_that_it_is_a_store()
        folders = [pafs.FileInfo(name, pafs.FileType.Directory) for name in names]
        return [*folders, *(_file_info(**about) for about in objects)]

    def _listing(self, folder: str | None, *, deep: bool) -> tuple[Sequence[str], Sequence[Any]]:
        """List the folders in a folder, and what is known of each file."""
        try:
            with os_errors():
                if deep:
                    return (), obstore.list(self._store, folder, chunk_size=1000).collect()
                here = obstore.list_with_delimiter(self._store, folder)
                return here["common_prefixes"], here["objects"]
        except OSError as error:
            if _NO_LISTING in str(error):
                raise StoreFailedError(f"{self._place} {_NO_STORE} ({error})") from None
            raise

    def _see_that_it_is_a_store(self) -> None:
        """Raise StoreFailedError where a file that cannot be there is not answered as missing.

        A listing is read as empty whatever XML it is: a page of a proxy, too, that answers in the
        place of the store.
        """
        if time.monotonic() < self._trusted_until:
            return
        try:
            with os_errors():
                obstore.head(self._store, f"no-such-file-{uuid.uuid4().hex}")
        except (FileNotFoundError, StoreRefusedError):
            self._trusted_until = time.monotonic() + TRUSTED_S
            return
        except OSError as error:
            raise StoreFailedError(f"{self._place} {_NO_STORE} ({error})") from None
        raise StoreFailedError(f"{self._place} {_NO_STORE} (it has every file)")

    def open_input_file(self, path: str) -> pa.NativeFile:
        """Open a file to be read anywhere in it: one request, if it is small."""
        first, start, size = self._first(path)
        if len(first) == size:
            return pa.BufferReader(first)
        return pa.PythonFile(_Ranges(self._store, path, first, start, size), mode="r")

    def open_input_stream(self, path: str) -> pa.NativeFile:
        """Open a file to be read from its beginning."""
        return self.open_input_file(path)

    def delete_file(self, path: str) -> None:
        """Delete a file; whether one that is not there is an error depends on the store."""
        with os_errors():
            obstore.delete(self._store, path)

    def create_dir(self, path: str, recursive: bool) -> None:
        """Do nothing: folders are what names begin with."""

    def _refuse(self, *_: Any) -> Any:
        raise NotImplementedError("a lake's files are written by its storage")

    open_output_stream = open_append_stream = move = copy_file = _refuse
    delete_dir = delete_dir_contents = delete_root_dir_contents = _refuse

    def _info(self, path: str) -> pafs.FileInfo:
        with os_errors():
            try:
                return _file_info(**obstore.head(self._store, path))
            except FileNotFoundError:
                pass
            for found in obstore.list(self._store, path, chunk_size=1):
                if found:
                    return pafs.FileInfo(path, pafs.FileType.Directory)
        return pafs.FileInfo(path, pafs.FileType.NotFound)

    def _first(self, path: str) -> tuple[pa.Buffer, int, int]:
        """Read one end of a file: the bytes, where they begin, and how long the file is."""
        with os_errors():
            part: Any = {"suffix": FIRST_BYTES} if self._has_tails else (0, FIRST_BYTES)
            try:
                found = obstore.get(self._store, path, options={"range": part})
            except obstore.exceptions.GenericError:
                # An empty file has no range, and some servers know none that counts from the end,
                # or none that is longer than the file.
                size = obstore.head(self._store, path)["size"]
                if not size:
                    return pa.py_buffer(b""), 0, 0
                rest: Any = {} if size <= FIRST_BYTES else {"range": (size - FIRST_BYTES, size)}
                found = obstore.get(self._store, path, options=rest)
            return pa.py_buffer(found.bytes()), found.range[0], found.meta["size"]


class _Ranges(io.RawIOBase):
    """A file of which every part is one request, but for those read at its opening."""

    def __init__(
        self, store: ObjectStore, path: str, first: pa.Buffer, start: int, size: int
    ) -> None:
        self._store, self._path, self._size = store, path, size
        self._first, self._start = first, start
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = origin + offset
        return self._at

    def read(self, size: int | None = -1, /) -> Any:
        end = self._size if size is None or size < 0 else min(self._at + size, self._size)
        begin, self._at = self._at, max(self._at, end)
        if end <= begin:
            return b""
        if self._start <= begin and end <= self._start + self._first.size:
            return self._first.slice(begin - self._start, end - begin)
        with os_errors():
            return pa.py_buffer(obstore.get_range(self._store, self._path, start=begin, end=end))


def _file_info(path: str, size: int, last_modified: datetime, **_: Any) -> pafs.FileInfo:
    return pafs.FileInfo(path, pafs.FileType.File, size=size, mtime=last_modified)
