"""Lakes in object stores: files are uploaded whole, and only one of several creators succeeds."""

from __future__ import annotations

import io
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any

import obstore
import pyarrow as pa
import pyarrow.fs as pafs
from obstore.exceptions import AlreadyExistsError
from obstore.store import ObjectStore

from nightgrid.archive.lake.faults import NotExclusiveError
from nightgrid.archive.lake.local_commit import STAGING
from nightgrid.archive.lake.objects.errors import (
    StoreFailedError,
    StoreRefusedError,
    os_errors,
)
from nightgrid.archive.lake.objects.url import UPLOAD_BYTES, connect

WHOLE_BYTES = 131_072
"""Files up to this many bytes are read whole when they are opened."""
_NO_LISTING = "invalid list response"
"""obstore's message for a listing that is not XML, or not of this kind."""
_NO_STORE = (
    "does not answer as an object store does; look at its address, and whether a proxy answers"
)
PART_BYTES = 16 * 2**20
"""Larger files that replace another are uploaded in parts of this size."""
CREATE_TRIES = 2
"""obstore does not retry requests that may have been carried out."""
PAUSE_S = 0.2
WRITER = "nightgridwriter"
"""Metadata key of a created object that identifies its writer. Azure only accepts names of this
form, and some proxies drop others."""
PROBE = f"{STAGING}/conditions"
"""Created to test whether a store refuses to create it twice. It is never deleted, so that each
later process needs one request, and no process finds it missing."""
PROBE_TEXT = b"nightgrid creates this file again and again: a store must refuse to replace it.\n"
_NEEDED = (
    "processes would overwrite one another's work; expected a store with conditional writes "
    "(If-None-Match: *)"
)
_heeding: set[str] = set()
"""Lakes whose store, as this process has seen, lets a new file replace an existing one."""


class Objects:
    """A lake in a bucket or container, or a prefix of one, with the methods of `LocalFolder`."""

    def __init__(self, url: str) -> None:
        """Take a URL as `Lake.open` describes it. Raises PermanentError for an invalid one."""
        self.url = url
        self._store = connect(url)
        self._slow: ObjectStore | None = None
        self._is_store = False

    def open_file(self, path: str) -> pa.NativeFile:
        """Open a file for random access, with one request if it is small."""
        with os_errors():
            found = obstore.get(self._store, path)
            size = found.meta["size"]
            if size <= WHOLE_BYTES:
                return pa.BufferReader(pa.py_buffer(found.bytes()))
        # Do not read the rest of the answer.
        return pa.PythonFile(_Ranges(self._store, path, size), mode="r")

    def info(self, path: str) -> pafs.FileInfo:
        """Return the file information; a common prefix of names is a folder."""
        with os_errors():
            try:
                return _file_info(**obstore.head(self._store, path))
            except FileNotFoundError:
                pass
            for found in obstore.list(self._store, path, chunk_size=1):
                if found:
                    return pafs.FileInfo(path, pafs.FileType.Directory)
        return pafs.FileInfo(path, pafs.FileType.NotFound)

    def listing(self, folder: str, *, deep: bool) -> list[pafs.FileInfo]:
        """List the names that start with a folder's."""
        names: Any = ()
        try:
            with os_errors():
                if deep:
                    objects: Any = obstore.list(
                        self._store, folder or None, chunk_size=1000
                    ).collect()
                else:
                    here = obstore.list_with_delimiter(self._store, folder or None)
                    names, objects = here["common_prefixes"], here["objects"]
        except OSError as error:
            if _NO_LISTING in str(error):
                raise self._no_store(error) from None
            raise
        if not names and not objects:
            self._check_is_store()
        folders = [pafs.FileInfo(name, pafs.FileType.Directory) for name in names]
        return [*folders, *(_file_info(**about) for about in objects)]

    def _check_is_store(self) -> None:
        """Raise StoreFailedError unless the store reports an impossible file as missing.

        The page of a proxy that answers in place of the store would be read as an empty listing.
        """
        if self._is_store:
            return
        try:
            with os_errors():
                obstore.head(self._store, f"no-such-file-{uuid.uuid4().hex}")
        except (FileNotFoundError, StoreRefusedError):
            self._is_store = True
        except OSError as error:
            raise self._no_store(error) from None
        else:
            raise self._no_store("it has every file")

    def _no_store(self, why: object) -> StoreFailedError:
        return StoreFailedError(f"{self.url.partition('?')[0]} {_NO_STORE} ({why})")

    def delete(self, path: str, *, durable: bool) -> None:  # noqa: ARG002 - nothing is quicker
        """Delete a file; a missing one is no error."""
        with suppress(FileNotFoundError), os_errors():
            obstore.delete(self._store, path)

    def commit(
        self,
        path: str,
        fill: Callable[[pa.NativeFile], Any],
        *,
        new: bool,
        durable: bool,  # noqa: ARG002 - nothing is quicker
    ) -> bool:
        """Upload one file."""
        buffer = pa.BufferOutputStream()
        fill(buffer)
        body = memoryview(buffer.getvalue()).cast("B")
        if new:
            self.check_exclusive()
            return self._send_new(path, body)
        with os_errors():
            many = len(body) > PART_BYTES
            store = self._for(body)
            obstore.put(store, path, body, use_multipart=many, chunk_size=PART_BYTES)
        return True

    def check_exclusive(self) -> None:
        """Create an existing file, which the store has to refuse."""
        if self.url in _heeding:
            return
        body = memoryview(PROBE_TEXT)
        if self._send_new(PROBE, body) and self._send_new(PROBE, body):
            raise NotExclusiveError(
                f"the object store of {self.url.partition('?')[0]} heeds no conditions: it "
                f"replaces a file that is there by one that is created; {_NEEDED}"
            )
        _heeding.add(self.url)

    def empty_folder(self, path: str, but: str) -> None:
        """Delete what a listing shows but one, as many objects as possible by one request."""
        with os_errors(), suppress(FileNotFoundError):
            listed = obstore.list(self._store, path, chunk_size=1000).collect()
            names = [about["path"] for about in listed if about["path"] != but]
            obstore.delete(self._store, names)

    def delete_folder(self, path: str, last: str) -> None:
        """Delete all under a prefix, one object last."""
        self.empty_folder(path, last)
        self.delete(last, durable=False)

    def sweep(self, older_than_s: float) -> int:  # noqa: ARG002
        """Find nothing: a half-written file is never seen."""
        return 0

    def _send_new(self, path: str, body: memoryview) -> bool:
        """Upload a file if there is none; return whether the stored file is this one.

        obstore or this method retries a request whose answer was lost, which then finds its own
        file: the metadata says which write made it.
        """
        writer = uuid.uuid4().hex
        for tries_left in reversed(range(CREATE_TRIES)):
            try:
                with os_errors():
                    return self._put_new(path, body, writer)
            except StoreRefusedError:
                raise
            except OSError:
                if not tries_left:
                    raise
            time.sleep(PAUSE_S)
        raise AssertionError("the last try returns or raises")

    def _put_new(self, path: str, body: memoryview, writer: str) -> bool:
        try:
            about = {WRITER: writer}
            obstore.put(self._for(body), path, body, mode="create", attributes=about)
        except AlreadyExistsError:
            there = obstore.get(self._store, path, options={"head": True}).attributes
            return there.get(WRITER) == writer
        return True

    def _for(self, body: memoryview) -> ObjectStore:
        """Choose the client: the timeout of a request has to grow with its size."""
        if len(body) <= UPLOAD_BYTES:
            return self._store
        if self._slow is None:
            self._slow = connect(self.url, large=True)
        return self._slow


class _Ranges(io.RawIOBase):
    """A file that is read by range requests."""

    def __init__(self, store: ObjectStore, path: str, size: int) -> None:
        self._store, self._path, self._size = store, path, size
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
        with os_errors():
            return pa.py_buffer(obstore.get_range(self._store, self._path, start=begin, end=end))


def _file_info(path: str, size: int, last_modified: datetime, **_: Any) -> pafs.FileInfo:
    return pafs.FileInfo(path, pafs.FileType.File, size=size, mtime=last_modified)
