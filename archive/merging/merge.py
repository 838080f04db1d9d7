"""Merge many small files of a folder into few: killed anywhere, or twice at once, it loses no row.

1. The files to merge are chosen from the listing alone, by their sizes.
2. Their rows are written to merged files, each created under a name that the inputs decide.
3. The inputs are deleted.

Files never change, so what is deleted is what was read. A process that is killed before the end
leaves rows in two files, which readers bear and the next merge mends.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.encoding import TableFile
from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.files import (
    DIGITS,
    MergedFolder,
    create_rows,
    digest_in,
    digest_of,
    merged_path,
    sizes_of,
)

SMALL_BYTES = 131_072
"""Files of fewer bytes are always merged: one request reads all of such a file."""
FILE_BYTES = 8 * 2**20
"""Size of a merged file, about: its rows are held in memory."""
AT_ONCE_BYTES = 256 * 2**20
"""Bytes of all files that one call merges, at most: some million rows."""
INPUTS_MAX = 512
"""Files that one merge reads: thousands of files take several merges, each complete by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What merging a folder came to."""

    inputs: int = 0
    """Files that were merged and deleted."""
    files: int = 0
    """Files that were made of them."""
    damaged: tuple[str, ...] = ()
    """Files that cannot be read: they stay where they are."""


def merge_folder(lake: Lake, folder: MergedFolder) -> Merged:
    """Merge files until each is larger than all smaller ones together.

    So a folder of n rows has a number of files that grows with log n, and each row is written as
    often. Files smaller than SMALL_BYTES are merged whenever there are two. A file that cannot be
    read is left out. Raises TransientError when the lake fails; nothing is lost then.
    """
    damaged: set[str] = set()
    inputs = files = 0
    left_bytes = AT_ONCE_BYTES
    while True:
        sizes = {path: n for path, n in sizes_of(lake, folder).items() if path not in damaged}
        chosen = choose(folder, sizes, left_bytes)
        if not chosen:
            return Merged(inputs=inputs, files=files, damaged=tuple(sorted(damaged)))
        try:
            made = _merge(lake, folder, chosen)
        except _CannotReadError as error:
            damaged.add(error.path)
        except MissingFileError:
            continue  # another process has merged it
        else:
            inputs, files = inputs + len(chosen), files + made
            left_bytes -= sum(chosen.values())


def choose(folder: MergedFolder, sizes: Mapping[str, int], at_once_bytes: int) -> dict[str, int]:
    """Choose the files to merge, given the sizes of all; none where it is not worth it."""
    units: dict[str, dict[str, int]] = {}
    for path, size in sizes.items():
        digest = digest_in(folder, path)
        if digest is None and folder.alone_bytes is not None and size > folder.alone_bytes:
            continue
        units.setdefault(digest or path, {})[path] = size
    ranked = sorted(units.values(), key=lambda unit: (sum(unit.values()), min(unit)))
    chosen: dict[str, int] = {}
    held: dict[str, int] = {}
    held_bytes = 0
    for number, unit in enumerate(ranked):
        size = sum(unit.values())
        if held and len(held) + len(unit) > INPUTS_MAX:
            break
        if held_bytes + size > at_once_bytes:
            break
        is_worth_it = number > 0 and (size < SMALL_BYTES or held_bytes >= size)
        held |= unit
        held_bytes += size
        if is_worth_it:
            chosen = dict(held)
    return chosen


class _CannotReadError(Exception):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


def _merge(lake: Lake, folder: MergedFolder, inputs: Mapping[str, int]) -> int:
    """Write the rows of files to merged files, then delete them; return how many were made."""
    digest = digest_of(inputs)
    ranges = key_ranges(sum(inputs.values()))
    made = 0
    left: dict[str, int] = {}
    if len(ranges) > 1:
        left = {path: _check(lake, folder, path) for path in inputs}
    for between in ranges:
        tables = {
            path: _whole(lake, folder, path)
            if len(ranges) == 1
            else _rows(lake, folder, path, between)
            for path in inputs
        }
        for path in left:
            left[path] -= len(tables[path])
        table = without_repeats(folder, pa.concat_tables(tables.values()))
        if not len(table):
            continue
        keys = table.column(folder.key)
        path = merged_path(folder, keys[0].as_py(), keys[-1].as_py(), digest)
        if not create_rows(lake, folder, path, table):
            _check_same(lake, path, len(table))
        made += 1
    for path, rows in left.items():
        if rows:
            # The bounds of a row group are damaged, so that it was not read.
            raise _CannotReadError(path)
    for path in inputs:
        # One that comes back after a power failure is merged again.
        lake.delete(path, durable=False)
    return made


def _check_same(lake: Lake, path: str, rows: int) -> None:
    """Look whether the file that another process has made has all rows."""
    try:
        there = sum(lake.row_groups(path))
    except DamagedFileError as error:
        raise _CannotReadError(path) from error
    if there < rows:
        raise _CannotReadError(path)


_LAST_KEY = chr(sys.maxunicode)
KeyRange = tuple[str, str | None]
"""The first key of a range, and that of the next one; None: there is none."""


def key_ranges(total_bytes: int) -> list[KeyRange]:
    """Cut all keys into ranges, each of about FILE_BYTES of files of so many bytes."""
    count = max(1, -(-total_bytes // FILE_BYTES))
    firsts = [f"{(i * 16**DIGITS) // count:0{DIGITS}x}" for i in range(1, count)]
    return list(zip(["", *firsts], [*firsts, None], strict=True))


def _whole(lake: Lake, folder: MergedFolder, path: str) -> pa.Table:
    try:
        return lake.read_file(path, folder.schema)
    except DamagedFileError as error:
        raise _CannotReadError(path) from error


def _check(lake: Lake, folder: MergedFolder, path: str) -> int:
    """Read a large file once before its rows are moved; return how many there are."""
    try:
        return sum(map(len, lake.scan_file(path, folder.schema, folder.schema.names)))
    except DamagedFileError as error:
        raise _CannotReadError(path) from error


def _rows(lake: Lake, folder: MergedFolder, path: str, between: KeyRange) -> pa.Table:
    """Read the rows of a file whose keys lie in a range."""
    first, stop = between

    def groups(file: TableFile) -> list[int]:
        return groups_with(
            file,
            folder.key,
            lambda low, high: high >= first and (stop is None or low < stop),
        )

    try:
        tables = list(lake.scan_file(path, folder.schema, folder.schema.names, groups))
    except DamagedFileError as error:
        raise _CannotReadError(path) from error
    table = pa.concat_tables([folder.schema.empty_table(), *tables])
    if first:
        table = table.filter(pc.greater_equal(table.column(folder.key), first))
    return table if stop is None else table.filter(pc.less(table.column(folder.key), stop))


def groups_with(file: TableFile, key: str, may_hold: Callable[[str, str], bool]) -> list[int]:
    """Choose row groups by `may_hold`, which is given the lowest and the highest key of each.

    Nothing tells that a bound is damaged. But rows are sorted by their keys: a row group is taken
    to reach from the end of the one before it to the beginning of the next, so that one changed
    bound hides no row. Where the bounds are in no order, every row group is chosen.
    """
    bounds = [_bounds(file, number, key) for number in range(file.num_row_groups)]
    ends = [end for pair in bounds for end in pair or ()]
    if None in bounds or ends != sorted(ends):
        return list(range(len(bounds)))
    between = zip(["", *ends[1:-1:2]], [*ends[2::2], _LAST_KEY], strict=True)
    return [number for number, (low, high) in enumerate(between) if may_hold(low, high)]


def _bounds(file: TableFile, number: int, key: str) -> tuple[str, str] | None:
    found = file.metadata.row_group(number).column(file.schema_arrow.names.index(key)).statistics
    return (found.min, found.max) if found is not None and found.has_min_max else None


def without_repeats(folder: MergedFolder, table: pa.Table) -> pa.Table:
    """Sort rows, and keep one of those that are the same."""
    names = [*folder.order, *(name for name in folder.same if name not in folder.order)]
    table = table.sort_by([(name, "ascending") for name in names]).combine_chunks()
    if len(table) < 2:
        return table
    columns = [table.column(name).combine_chunks() for name in folder.same]
    differ = (pc.fill_null(pc.not_equal(one[1:], one[:-1]), True) for one in columns)
    return table.filter(pa.concat_arrays([pa.array([True]), reduce(pc.or_, differ)]))
