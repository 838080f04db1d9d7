"""What goes wrong in a lake: a missing or damaged file, a refusal, a failure that may pass."""

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
"""Folder of damaged files that were set aside, under the paths that they had."""

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
"""What object stores say where there is no room: MinIO, Google Cloud Storage, WebDAV's status."""
_UNRECOVERABLE = "is a directory"
"""What the message of an OSError without an errno says when trying again cannot help."""


class MissingFileError(PermanentError):
    """A file that was asked for by name does not exist in the lake."""


class NotInLakeError(PermanentError):
    """Something that a lake does not have. `public` says so without saying where the lake lies.

    `hint` is for those who choose the lake; `public` for those who do not, where it is not the same
    sentence.
    """

    def __init__(
        self, before: str, url: str, after: str = "", *, hint: str = "", public: str = ""
    ) -> None:
        super().__init__(f"{before}{url}{after}{hint}")
        self.public = public or f"{before}the lake{after}"


class DamagedFileError(PermanentError):
    """A file of the lake does not hold what it should: its bytes, or its columns, are others."""


class LakeRefusesError(PermanentError):
    """The lake does not let this process read or write a file: no permission, no such bucket.

    It says nothing of what the file holds.
    """


class NotExclusiveError(PermanentError):
    """The lake's storage replaces a file that is there by one that is created.

    Segments, leases, ids and keys are files that one process creates: nothing is written there.
    """


class NewerSchemaError(RefusalError):
    """A file of the lake is of a later version of this program, which must read and write it."""


def set_aside(lake: Lake, path: str) -> str:
    """Move a damaged file to where no process reads it; return that place.

    A second one of the same name takes the place of the first. Raises LakeRefusesError for a file
    that may not be read, and leaves it where it is: it may be sound.
    """
    aside = f"{ASIDE}/{path}"
    with suppress(MissingFileError):
        lake.write_bytes(aside, lake.read_bytes(path))
        lake.delete(path)
    return aside


class NoRoomError(TransientError, OSError):
    """A disk or a storage is full; the text says which, and what was to be written."""


@contextmanager
def room_on(folder: Path, what: str) -> Iterator[None]:
    """Raise NoRoomError where the disk of a folder outside of the lake is full."""
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
    """Turn the storage's errors into ours; `place` is where the lake lies that is written.

    While what a file holds is read, an error that is no system's and no store's is Parquet's
    reader's: it has no number, and as many texts as there are ways in which a file can be damaged.
    """
    try:
        yield
    except NoRoomError:
        # Of another disk, which was read or written meanwhile.
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
    """Describe what is full, and of a disk how much is free there: its reserve, or too little."""
    folder = place.removeprefix("file://")
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        where = place.partition("?")[0]
        return f"the storage of {where} is full, or the quota is used up"
    return f"the disk of {folder} is full, or its quota is used up; {free:,} bytes are free there"


def _first(text: str) -> str:
    """Keep the first sentence of a message of Arrow, which may go on with advice for programs."""
    return text.partition("\n")[0].partition(". ")[0].rstrip(".")
