"""Errors of a lake: a missing or damaged file, a refusal, a failure that may pass."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from nightgrid.solvers.errors import PermanentError, RefusalError, TransientError

if TYPE_CHECKING:
    from nightgrid.archive.lake.storage import Lake

ASIDE = "damaged"
"""Folder of damaged files that were set aside, under their original paths."""

_UNRECOVERABLE_ERRNOS = frozenset(
    {
        errno.EACCES,
        errno.EPERM,
        errno.EISDIR,
        errno.ENOTDIR,
        errno.EROFS,
        errno.ENAMETOOLONG,
        errno.ELOOP,
    }
)
_FULL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT})
_FULL = ("StorageFull", "QuotaExceeded", "InsufficientStorage", "HTTP 507")
"""Messages of object stores that are full: MinIO, Google Cloud Storage, WebDAV's status."""
_UNRECOVERABLE = "is a directory"
"""Message of an OSError without an errno that no retry can help."""


class MissingFileError(PermanentError):
    """A named file does not exist in the lake."""


class NotInLakeError(PermanentError):
    """The lake lacks what was asked for. `public` says so without the lake's location.

    `hint` is for people who choose the lake; `public` is for others, if their sentence differs.
    """

    def __init__(
        self, before: str, url: str, after: str = "", *, hint: str = "", public: str = ""
    ) -> None:
        super().__init__(f"{before}{url}{after}{hint}")
        self.public = public or f"{before}the lake{after}"


class DamagedFileError(PermanentError):
    """The bytes or columns of a file of the lake are not what they should be."""


class LakeRefusesError(PermanentError):
    """The lake does not let this process read or write a file: no permission, no such bucket.

    It says nothing about the content of the file.
    """


class NotExclusiveError(PermanentError):
    """The lake's storage lets a new file replace an existing one.

    Segments, leases, ids and keys are files that only one process may create, so nothing is written
    there.
    """


class NewerSchemaError(RefusalError):
    """A file of the lake is from a later version of this program, which has to handle it."""


def set_aside(lake: Lake, path: str) -> str:
    """Move a damaged file to where no process reads it; return that place.

    It replaces an earlier one of the same name. Raises LakeRefusesError for a file that may not be
    read, and leaves it where it is: it may be intact.
    """
    aside = f"{ASIDE}/{path}"
    with suppress(MissingFileError):
        lake.write_bytes(aside, lake.read_bytes(path))
        lake.delete(path)
    return aside


class NoRoomError(TransientError, OSError):
    """A disk or a storage is full; the message says which, and what was to be written."""


@contextmanager
def room_on(folder: Path, what: str) -> Iterator[None]:
    """Raise NoRoomError if the disk of a folder outside of the lake is full."""
    try:
        yield
    except OSError as error:
        if isinstance(error, NoRoomError) or not _is_full(error, str(error)):
            raise
        raise NoRoomError(f"{what} cannot be written: {_no_room(str(folder))}") from error


@contextmanager
def storage_errors(
    path: str, *, writing: bool = False, reading: bool = False, place: str = ""
) -> Iterator[None]:
    """Convert the storage's errors into ours; `place` is the location of the lake for writing.

    While the content of a file is parsed, an error that comes from neither the system nor a store
    is from the Parquet reader: it has no errno, and one of many messages for damaged files.
    """
    try:
        yield
    except NoRoomError:
        # From another disk, which was read or written meanwhile.
        raise
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not writing:
            raise MissingFileError(f"{path} does not exist in the lake") from error
        text = str(error)
        if writing and _is_full(error, text):
            raise NoRoomError(f"{path} cannot be written: {_no_room(place)}") from error
        if error.errno in _UNRECOVERABLE_ERRNOS or _UNRECOVERABLE in text:
            raise LakeRefusesError(f"{path}: the lake refuses: {text}") from error
        if reading and error.errno is None and type(error) is OSError:
            raise DamagedFileError(f"{path} is damaged: {_first(text)}") from error
        raise TransientError(f"{path}: the lake failed: {text}") from error
    except (pa.ArrowException, UnicodeDecodeError) as error:
        if writing:
            raise PermanentError(f"{path} does not fit its schema: {error}") from error
        raise DamagedFileError(f"{path} is damaged: {_first(str(error))}") from error


def _is_full(error: OSError, text: str) -> bool:
    return error.errno in _FULL_ERRNOS or any(mark in text for mark in _FULL)


def _no_room(place: str) -> str:
    """Describe what is full, and the free space of a disk: its reserve, or too little."""
    folder = place.removeprefix("file://")
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        where = place.partition("?")[0]
        return f"the storage of {where} is full, or the quota is used up"
    return f"the disk of {folder} is full, or its quota is used up; {free:,} bytes are free there"


def _first(text: str) -> str:
    """Return the first sentence of an Arrow message; the rest is advice for programs."""
    return text.partition("\n")[0].partition(". ")[0].rstrip(".")
