"""Folders whose files are created, merged into larger ones, and never changed.

A file of such a folder is one that a writer created, or `merged-LOW-HIGH-DIGEST.parquet`: the rows
with keys from LOW to HIGH of the files whose names give DIGEST. While files are merged, and where a
merge was killed, a row stands in two files; it is never in none. Readers bear both.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

import pyarrow as pa

from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.local_listing import TABLE
from nightgrid.archive.lake.storage import ROW_GROUP_ROWS, Lake
from nightgrid.archive.skipped_files import skip_file

T = TypeVar("T")

DIGITS = 16
"""Hexadecimal digits of a key that a name tells."""
_MERGED = re.compile(rf"merged-([0-9a-f]{{{DIGITS}}})-([0-9a-f]{{{DIGITS}}})-([0-9a-f]{{16}})$")
_HEX = re.compile(r"[0-9a-f]+$")
LOOKS_MAX = 50
"""Listings of a folder that a reader compares: more change only while a process writes all the
time, and what it writes after the first one the reader need not see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedFolder:
    """A folder of Parquet files with the same columns."""

    path: str
    schema: pa.Schema
    key: str
    """The column by which rows are looked up: hexadecimal digits, spread evenly."""
    order: tuple[str, ...]
    """The columns by which rows of a merged file are sorted; the key comes first."""
    same: tuple[str, ...]
    """Rows that agree in these are one row, though they stand in several files."""
    alone_bytes: int | None = None
    """A file of more bytes than this stays as its writer named it; None: none does."""
    group_rows: int = ROW_GROUP_ROWS
    """Rows of a row group, which is the least that a look-up reads."""
    names_key: Callable[[str], str | None] = lambda _: None
    """Tells from the name of a file, without ".parquet", the only key that it has."""

    def stem(self, path: str) -> str:
        """Name a file without its folder and ending."""
        return path.rsplit("/", 1)[-1].removesuffix(".parquet")


def create_rows(lake: Lake, folder: MergedFolder, path: str, table: pa.Table) -> bool:
    """Write a file of a folder unless it is there already; tell whether it was written."""
    starts = range(0, max(1, len(table)), folder.group_rows)
    groups = (table.slice(start, folder.group_rows) for start in starts)
    return lake.write_row_groups(path, groups, folder.schema, new=True)


def merged_path(folder: MergedFolder, low: str, high: str, digest: str) -> str:
    """Name a merged file with keys from `low` to `high`."""
    if not (_HEX.match(low) and _HEX.match(high)):
        low, high = "", ""  # may hold any key
    return f"{folder.path}/merged-{_begin(low, '0')}-{_begin(high, 'f')}-{digest}.parquet"


def digest_of(paths: Iterable[str]) -> str:
    """Name the merge of files: the same for all processes that merge the same."""
    return sha256("\n".join(sorted(paths)).encode()).hexdigest()[:16]


def digest_in(folder: MergedFolder, path: str) -> str | None:
    """Tell which merge made a file; None: a writer did."""
    match = _MERGED.match(folder.stem(path))
    return match[3] if match else None


def _begin(key: str, fill: str) -> str:
    return key[:DIGITS].ljust(DIGITS, fill)


def may_hold(folder: MergedFolder, path: str, keys: Sequence[str]) -> bool:
    """Tell from its name whether a file may hold one of `keys`, which are sorted."""
    stem = folder.stem(path)
    match = _MERGED.match(stem)
    if match is None:
        only = folder.names_key(stem)
        return only is None or only in keys
    low, high = match[1], match[2]
    at = bisect_left(keys, low)
    # A key that is no number of hexadecimal digits has no place between the two.
    return (at < len(keys) and keys[at][:DIGITS] <= high) or not all(map(_HEX.match, keys))


def read_each(
    lake: Lake,
    folder: MergedFolder,
    read: Callable[[str], Iterable[T]],
    wanted: Callable[[str], bool] = lambda _: True,
) -> Iterator[T]:
    """Read the files of a folder one after the other, by `read`, which is given their paths.

    `wanted` chooses files by their paths. Every row that was there when this began is read at
    least once, whatever is merged meanwhile, and perhaps twice: a file that is gone when it is to
    be read was merged, and a listing that was made during a merge may lack both the merged file
    and what it was made of. Therefore the folder is listed until there is nothing new.

    A file that is damaged or foreign is passed over, and named at the end: its answers are made
    again, or asked again.
    """
    for names in listings(lake, folder, wanted):
        for name in names:
            try:
                yield from read(name)
            except MissingFileError:
                continue
            except DamagedFileError as error:
                skip_file(name, error)


def listings(
    lake: Lake, folder: MergedFolder, wanted: Callable[[str], bool] = lambda _: True
) -> Iterator[list[str]]:
    """List the files of a folder, and then those that have come, until there are no more."""
    seen: set[str] = set()
    for look in range(LOOKS_MAX):
        new = [name for name in paths_of(lake, folder) if name not in seen]
        seen.update(new)
        names = [name for name in new if wanted(name)]
        if look and not names:
            return
        yield names


def paths_of(lake: Lake, folder: MergedFolder) -> list[str]:
    """List the files of a folder, sorted."""
    return [path for path in lake.names(folder.path) if path.endswith(TABLE)]


def sizes_of(lake: Lake, folder: MergedFolder) -> dict[str, int]:
    """List the files of a folder with their sizes, bytes."""
    found = lake.sizes(folder.path, deep=False)
    return {path: size for path, size in found.items() if path.endswith(TABLE)}
