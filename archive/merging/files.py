"""Read and look up rows in folders whose files are created, merged and never changed.

A file of such a folder is one that a writer created, or `DIGEST.parquet`, with the rows of several
others. While files are merged, and where a merge was killed, a row is in two files; it is never in
none. Readers tolerate both.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.conforming import select
from nightgrid.archive.lake.encoding import TableFile
from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.skipped_files import skip_file

T = TypeVar("T")

GROUP_ROWS = 8_192
"""Rows of a row group of a merged file, the least that a look-up reads."""
LOOKS_MAX = 50
"""How often a reader lists a folder again: new files keep appearing only under constant writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedFolder:
    """A folder of Parquet files with the same columns."""

    path: str
    schema: pa.Schema
    key: str
    """The text column by which rows are looked up."""
    order: tuple[str, ...]
    """Sort columns of a merged file; the key comes first."""
    same: tuple[str, ...]
    """Rows that agree in these columns are duplicates, even in different files."""
    group_rows: int = GROUP_ROWS

    def merged_path(self, rows: Iterable[str]) -> str:
        """Return the path of a merged file of rows, given as `keys_in` writes them."""
        digest = sha256("\n".join(rows).encode()).hexdigest()[:16]
        return f"{self.path}/{digest}.parquet"


def read_each(
    lake: Lake,
    folder: MergedFolder,
    read: Callable[[str], Iterable[T]],
) -> Iterator[T]:
    """Read the files of a folder one by one with `read`, which takes a path.

    Every row that existed at the start is read at least once,
    whatever is merged meanwhile, and possibly twice. Damaged files are skipped, and reported at the
    end.
    """
    for names in listings(lake, folder):
        for name in names:
            try:
                yield from read(name)
            except MissingFileError:
                continue
            except DamagedFileError as error:
                skip_file(name, error)


def listings(lake: Lake, folder: MergedFolder) -> Iterator[list[str]]:
    """List the files of a folder, then repeatedly the new ones, until there are no more.

    A file that disappears before it is read was merged, and a listing made during a merge may lack
    both the merged file and its inputs.
    """
    seen: set[str] = set()
    for look in range(LOOKS_MAX):
        names = lake.names(folder.path)
        new = [name for name in names if name.endswith(".parquet") and name not in seen]
        seen.update(new)
        if look and not new:
            return
        yield new


def sizes_of(lake: Lake, folder: MergedFolder) -> dict[str, int]:
    """List the files of a folder with their sizes, bytes."""
    found = lake.sizes(folder.path, deep=False)
    return {path: size for path, size in found.items() if path.endswith(".parquet")}


def rows_of_keys(
    lake: Lake,
    folder: MergedFolder,
    keys: Collection[str],
    *,
    whole_groups: bool = False,
) -> Iterator[pa.Table]:
    """Read the rows with these keys, possibly some of them twice.

    With `whole_groups`, the other rows of their row groups are included.
    """
    ids = sorted(set(keys))
    if not ids:
        return
    wanted, key = pa.array(ids, pa.string()), select(folder.schema, [folder.key])

    def overlaps(low: str, high: str) -> bool:
        at = bisect_left(ids, low)
        return at < len(ids) and ids[at] <= high

    def rows(path: str) -> Iterator[pa.Table]:
        with lake.open_parquet(path) as file:
            for number in groups_with(file, folder.key, overlaps):
                is_one = pc.is_in(file.group(number, key).column(0), value_set=wanted)
                if pc.any(is_one).as_py():
                    table = file.group(number, folder.schema)
                    yield table if whole_groups else table.filter(is_one)

    yield from read_each(lake, folder, rows)


def groups_with(file: TableFile, key: str, overlaps: Callable[[str, str], bool]) -> list[int]:
    """Select row groups by `overlaps`, which takes the lowest and the highest key of each."""
    names = file.schema_arrow.names
    if key not in names:
        raise DamagedFileError(f"{file.path} is foreign: it has no column {key}")
    chosen = []
    for number in range(file.num_row_groups):
        found = file.metadata.row_group(number).column(names.index(key)).statistics
        if found is None or not found.has_min_max or overlaps(found.min, found.max):
            chosen.append(number)
    return chosen
