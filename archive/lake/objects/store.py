"""Lakes in object stores: whole files are uploaded, and of several that create one, one does."""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import obstore
import pyarrow as pa
import pyarrow.fs as pafs
from obstore.exceptions import AlreadyExistsError
from obstore.store import ObjectStore

from nightgrid.archive.lake.faults import NotExclusiveError
from nightgrid.archive.lake.local_commit import STAGING
from nightgrid.archive.lake.objects.errors import StoreLacksError, StoreRefusedError, os_errors
from nightgrid.archive.lake.objects.files import ObjectFiles
from nightgrid.archive.lake.objects.url import UPLOAD_BYTES, connect

CREATED_BYTES_MAX = 5_000 * 2**20
"""What one request may carry: only a single one can be conditional. (S3 takes 5 GiB, Azure 5,000
MiB: docs/reference/lake.md.)"""
PART_BYTES = 16 * 2**20
"""Larger files that replace another are sent in parts of this size."""
CREATE_TRIES = 2
"""Requests of which it is not known whether they were carried out are not sent again by obstore."""
PAUSE_S = 0.2
WRITER = "nightgridwriter"
"""The name of what a created object carries to say which write made it. Azure takes only names of
this form, and some proxies drop others."""
PROBE = f"{STAGING}/conditions"
"""Is created to see whether a store refuses to create it twice. It stays, so that each later
process sends one request, and so that it is never deleted between two."""
PROBE_TEXT = b"nightgrid creates this file again and again: a store must refuse to replace it.\n"
_NEEDED = (
    "processes would overwrite one another's work; expected a store with conditional writes "
    "(If-None-Match: *)"
)
_heeding: set[str] = set()
"""Lakes whose store was seen, by this process, not to replace a file by one that is created."""


class Objects:
    """A nightgrid.archive.lake.storage_kinds.Storage: a bucket or container, or a folder in one."""

    def __init__(self, url: str) -> None:
        """Take a URL as `Lake.open` describes it. Raises PermanentError for what is none."""
        self.url = url
        self._store = connect(url)
        self._slow: ObjectStore | None = None
        self.filesystem = pafs.PyFileSystem(ObjectFiles(self._store, url))

    def commit(
        self,
        path: str | Callable[[], str],
        fill: Callable[[pa.NativeFile], Any],
        *,
        new: bool,
        durable: bool,  # noqa: ARG002 - nothing is quicker
    ) -> bool:
        """Upload one file. One whose name is asked for at its end is built on the disk."""
        if callable(path):
            return self._upload_spooled(path, fill)
        buffer = pa.BufferOutputStream()
        fill(buffer)
        body = memoryview(buffer.getvalue()).cast("B")
        if new:
            return self._create(path, body)
        with os_errors():
            many = len(body) > PART_BYTES
            store = self._for(body)
            obstore.put(store, path, body, use_multipart=many, chunk_size=PART_BYTES)
        return True

    def check_exclusive(self) -> None:
        """Create a file that is there, which the store has to refuse."""
        if self.url in _heeding:
            return
        body = memoryview(PROBE_TEXT)
        try:
            replaced = self._send_new(PROBE, body) and self._send_new(PROBE, body)
        except StoreLacksError as error:
            raise NotExclusiveError(
                f"{self._place()} knows no conditions ({error}); {_NEEDED}"
            ) from (error)
        if replaced:
            raise NotExclusiveError(
                f"{self._place()} heeds no conditions: it replaces a file that is there by one "
                f"that is created; {_NEEDED}"
            )
        _heeding.add(self.url)

    def _place(self) -> str:
        return f"the object store of {self.url.partition('?')[0]}"

    def listing(
        self,
        folder: str,
        *,
        deep: bool,
        stamped: bool = True,  # noqa: ARG002 - a store tells them in any case
    ) -> list[pafs.FileInfo]:
        """List what names begin with a folder's."""
        selector = pafs.FileSelector(folder, allow_not_found=True, recursive=deep)
        found: list[pafs.FileInfo] = self.filesystem.get_file_info(selector)
        return found

    def is_dead_link(self, path: str) -> bool:  # noqa: ARG002
        """Find none: there are no links."""
        return False

    def sync_deleted(self, path: str) -> None:
        """Do nothing: what is deleted there is gone."""

    def delete_folder(self, path: str, last: str) -> None:
        """Delete what a listing shows, as many objects as possible by one request."""
        with os_errors():
            listed = obstore.list(self._store, path, chunk_size=1000).collect()
            names = [about["path"] for about in listed if about["path"] != last]
            for some in (names, [last]):
                with suppress(FileNotFoundError):
                    obstore.delete(self._store, some)

    def sweep(self, older_than_s: float) -> int:  # noqa: ARG002
        """Find nothing: a half-written file is never seen."""
        return 0

    def _upload_spooled(
        self, name: Callable[[], str], fill: Callable[[pa.NativeFile], Any]
    ) -> bool:
        """Map a large file for one write; ask again for a name that is taken."""
        with tempfile.TemporaryDirectory(prefix="nightgrid-upload-") as folder:
            spool = str(Path(folder) / "file")
            with pa.OSFile(spool, "wb") as sink:
                fill(sink)
            with pa.memory_map(spool) as source:
                body = memoryview(source.read_buffer()).cast("B")
                path = name()
                while not self._create(path, body):
                    if path == (path := name()):
                        return False
        return True

    def _create(self, path: str, body: memoryview) -> bool:
        """Upload a file unless there is one; tell whether it is this one."""
        if len(body) > CREATED_BYTES_MAX:
            raise StoreRefusedError(
                f"{len(body):,} bytes are more than one request carries; expected at most "
                f"{CREATED_BYTES_MAX:,}"
            )
        self.check_exclusive()
        return self._send_new(path, body)

    def _send_new(self, path: str, body: memoryview) -> bool:
        """Upload a file on the condition that there is none; tell whether it is this one.

        A request that was carried out and whose answer was lost is sent again, by obstore or
        here, and finds its own file: the file says which write made it.
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
        """Choose the client: the whole time for a request has to grow with what it carries."""
        if len(body) <= UPLOAD_BYTES:
            return self._store
        if self._slow is None:
            self._slow = connect(self.url, large=True)
        return self._slow
