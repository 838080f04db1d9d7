"""Ways to damage a file of a lake, as disks, people and other programs do."""

from __future__ import annotations

import io
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from nightgrid.archive.lake.storage import Lake


def _flipped(data: bytes) -> bytes:
    """Change one bit in the middle."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0x10]) + data[middle + 1 :]


def _foreign(data: bytes) -> bytes:  # noqa: ARG001 - every harm is told what was there
    """Write a sound Parquet file of another program."""
    sink = io.BytesIO()
    pq.write_table(pa.table({"a": [1, 2, 3]}), sink)
    return sink.getvalue()


HARMS: dict[str, Callable[[bytes], bytes | None]] = {
    "unlink": lambda _: None,
    "truncate": lambda data: data[: len(data) // 2],
    "blank": lambda data: bytes(len(data)),
    "flip": _flipped,
    "empty": lambda _: b"",
    "foreign": _foreign,
}
"""What is left of a file's bytes by each kind of harm; None: nothing, not even the file."""


def harm(lake: Lake, path: str, kind: str) -> None:
    """Do harm to one file of a lake."""
    left = HARMS[kind](lake.read_bytes(path))
    if left is None:
        lake.delete(path)
    else:
        lake.write_bytes(path, left)


def change_count(lake: Lake, path: str) -> None:
    """Change one count of a table by one, as a program that reads and writes Parquet would."""
    table = pq.read_table(io.BytesIO(lake.read_bytes(path)))
    counts = table.column("count").to_pylist()
    known = next(i for i, count in enumerate(counts) if count is not None)
    counts[known] += 1
    at = table.schema.get_field_index("count")
    field = table.schema.field(at)
    sink = io.BytesIO()
    pq.write_table(table.set_column(at, field, pa.array(counts, field.type)), sink)
    lake.write_bytes(path, sink.getvalue())


def _blank(path: Path, _: Path) -> None:
    path.write_bytes(b"")


def _noise(path: Path, _: Path) -> None:
    path.write_bytes(random.Random(17).randbytes(100))


def _gone(path: Path, _: Path) -> None:
    path.unlink()


def _moved(path: Path, elsewhere: Path) -> None:
    """Move the file out of the lake, and leave a link to it."""
    shutil.move(path, elsewhere / path.name)
    path.symlink_to(elsewhere / path.name)


def _other(path: Path, elsewhere: Path) -> None:
    """Leave a link to a text of another program."""
    (elsewhere / "notes.txt").write_text("mine\n")
    path.unlink()
    path.symlink_to(elsewhere / "notes.txt")


def _dangling(path: Path, elsewhere: Path) -> None:
    path.unlink()
    path.symlink_to(elsewhere / "nothing")


def _circle(path: Path, _: Path) -> None:
    """Leave a link to the folder that it lies in."""
    path.unlink()
    path.symlink_to(path.parent)


def _folder(path: Path, _: Path) -> None:
    path.unlink()
    path.mkdir()


def _full_folder(path: Path, _: Path) -> None:
    _folder(path, path)
    (path / "notes.txt").write_text("mine\n")


HARMS_IN_PLACE: dict[str, Callable[[Path, Path], None]] = {
    "no bytes": _blank,
    "100 random bytes": _noise,
    "deleted": _gone,
    "a link to where it was moved": _moved,
    "a link to another file": _other,
    "a link to nothing": _dangling,
    "a link to its folder": _circle,
    "an empty folder": _folder,
    "a folder with a file": _full_folder,
}
"""What is done to a file of a folder; the second folder lies outside of the lake."""
