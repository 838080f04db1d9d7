"""Read a file from outside, which may be packed with gzip, within a bound."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

from nightgrid.solvers.errors import PermanentError

FILE_BYTES_MAX = 128 * 1024**2
"""Most bytes of an unpacked file: three times eight years of Letter Boxed."""
_GZIP = b"\x1f\x8b"


def read_file(path: Path) -> bytes:
    """Read a file, unpacked if it is packed with gzip.

    Raises PermanentError for one that is not a file, unreadable or too large.
    """
    # A pipe or a device could be read forever.
    if path.exists() and not path.is_file():
        raise PermanentError(f"{path.name} is not a file")
    try:
        if path.stat().st_size > FILE_BYTES_MAX:
            raise PermanentError(f"{path.name} is larger than {FILE_BYTES_MAX:,} bytes")
        return unpacked(path.read_bytes(), path.name)
    except OSError as error:
        what = "is a link to a missing file" if path.is_symlink() else "cannot be read"
        raise PermanentError(f"{path.name} {what}: {error.strerror}") from error


def unpacked(data: bytes, name: str) -> bytes:
    """Unpack gzip data. Raises PermanentError if it is damaged or too large."""
    if not data.startswith(_GZIP):
        return data
    try:
        with gzip.open(io.BytesIO(data)) as stream:
            plain = stream.read(FILE_BYTES_MAX + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise PermanentError(f"{name} cannot be unpacked: {error}") from error
    if len(plain) > FILE_BYTES_MAX:
        raise PermanentError(f"{name} unpacks to more than {FILE_BYTES_MAX:,} bytes")
    return plain
