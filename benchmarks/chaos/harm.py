"""Ways in which a storage damages or loses a file of a lake."""

from __future__ import annotations

from collections.abc import Callable

from nightgrid.archive.lake.storage import Lake


def _flipped(data: bytes) -> bytes:
    """Change one bit in the middle."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0x10]) + data[middle + 1 :]


HARMS: dict[str, Callable[[bytes], bytes | None]] = {
    "unlink": lambda _: None,
    "truncate": lambda data: data[: len(data) // 2],
    "blank": lambda data: bytes(len(data)),
    "flip": _flipped,
    "empty": lambda _: b"",
}
"""The bytes that each kind of harm leaves of a file; None deletes the file."""


def harm(lake: Lake, path: str, kind: str) -> None:
    """Do harm to one file of a lake."""
    left = HARMS[kind](lake.read_bytes(path))
    if left is None:
        lake.delete(path)
    else:
        lake.write_bytes(path, left)
