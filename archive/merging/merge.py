"""Merge many small files of a folder into few: killed anywhere, or twice at once, it loses no row.

1. The files to merge are chosen from the listing alone, by their sizes.
2. Their rows are written to one new file, named after its rows.
3. The inputs are deleted.

Files never change, so what is deleted is what was read. A process that is killed before the end
leaves rows in two files: readers tolerate it, and the next merge cleans it up. Rows are dropped in
the same way: a file without them is created, then the old one is deleted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.files import MergedFolder, sizes_of
from nightgrid.archive.skipped_files import skip_file

SMALL_BYTES = 131_072
"""Smaller files are always merged: one request reads such a file."""
AT_ONCE_BYTES = 32 * 2**20
"""Most bytes of the inputs of one merge, which are held in memory. Larger files stay."""
INPUTS_MAX = 512
"""Most inputs of one merge: each merge is complete by itself."""


def merge_folder(lake: Lake, folder: MergedFolder) -> tuple[str, ...]:
    """Merge files until each is larger than all smaller ones together; return damaged ones.

    So a folder of n rows has a number of files that grows with log n, up to AT_ONCE_BYTES, and
    each row is written as often. Files smaller than SMALL_BYTES are merged whenever there are two.
    Damaged files are left out. Raises TransientError when the lake fails; nothing is lost then.
    """
    damaged: set[str] = set()
    while True:
        sizes = {path: n for path, n in sizes_of(lake, folder).items() if path not in damaged}
        chosen = choose(sizes)
        if not chosen:
            return tuple(sorted(damaged))
        try:
            _merge(lake, folder, chosen)
        except _CannotReadError as error:
            damaged.add(error.path)
        except MissingFileError:
            continue  # Another process has merged it.


def choose(sizes: Mapping[str, int]) -> list[str]:
    """Select the files to merge, given the sizes of all; none if it is not worth it."""
    chosen: list[str] = []
    held: list[str] = []
    held_bytes = 0
    for path, size in sorted(sizes.items(), key=lambda item: (item[1], item[0])):
        if len(held) == INPUTS_MAX or held_bytes + size > AT_ONCE_BYTES:
            break
        is_worth_it = bool(held) and (size < SMALL_BYTES or held_bytes >= size)
        held.append(path)
        held_bytes += size
        if is_worth_it:
            chosen = list(held)
    return chosen


class _CannotReadError(Exception):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


def _merge(lake: Lake, folder: MergedFolder, inputs: Sequence[str]) -> None:
    """Write the rows of files to one file, then delete them."""
    tables = []
    for path in inputs:
        try:
            tables.append(lake.read_file(path, folder.schema))
        except DamagedFileError as error:
            raise _CannotReadError(path) from error
    merged = put_merged(lake, folder, pa.concat_tables(tables))
    for path in inputs:
        if path != merged:
            # An input that reappears after a power failure is merged again.
            lake.delete(path, durable=False)


def put_merged(lake: Lake, folder: MergedFolder, table: pa.Table) -> str:
    """Write rows to a file named after them; return its path."""
    table = without_repeats(folder, table)
    path = folder.merged_path(keys_in(table, folder.same).to_pylist())
    starts = range(0, max(1, len(table)), folder.group_rows)
    groups = [table.slice(start, folder.group_rows) for start in starts]
    if not lake.write_row_groups(path, groups, folder.schema, new=True):
        try:
            is_whole = sum(lake.row_groups(path)) == len(table)
        except DamagedFileError:
            is_whole = False
        except MissingFileError:
            is_whole = True  # Another process has merged it.
        if not is_whole:
            lake.write_row_groups(path, groups, folder.schema)
    return path


def without_repeats(folder: MergedFolder, table: pa.Table) -> pa.Table:
    """Sort rows and drop duplicates."""
    names = [*folder.order, *(name for name in folder.same if name not in folder.order)]
    table = table.sort_by([(name, "ascending") for name in names]).combine_chunks()
    if len(table) < 2:
        return table
    columns = [table.column(name).combine_chunks() for name in folder.same]
    differ = (pc.fill_null(pc.not_equal(one[1:], one[:-1]), True) for one in columns)
    return table.filter(pa.concat_arrays([pa.array([True]), reduce(pc.or_, differ)]))


def keys_in(table: pa.Table, names: Sequence[str]) -> pa.ChunkedArray:
    """Join columns into one text for each row."""
    texts = (pc.cast(table.column(name), pa.string()) for name in names)
    return pc.binary_join_element_wise(*texts, "/")


def drop_rows(lake: Lake, folder: MergedFolder, names: Sequence[str], keys: pa.Array) -> int:
    """Drop the rows whose columns `names` are among `keys`, as `keys_in` writes them.

    Returns the number of bytes freed. Damaged files are skipped.
    """
    freed = 0
    for path, size in sorted(sizes_of(lake, folder).items()) if len(keys) else ():
        try:
            goes = [_is_in(t, names, keys) for t in lake.scan_file(path, folder.schema, names)]
            if not any(pc.any(part).as_py() for part in goes):
                continue
            left = 0
            # A file of one run may be large, but is dropped whole; merged ones are bounded.
            if not all(pc.all(part).as_py() for part in goes):
                table = lake.read_file(path, folder.schema)
                kept = put_merged(lake, folder, table.filter(pc.invert(_is_in(table, names, keys))))
                left = (lake.stamp(kept) or (0, 0))[0]
            lake.delete(path, durable=False)
        except MissingFileError:
            continue  # Another process has merged it: the next call drops its rows.
        except DamagedFileError as error:
            skip_file(path, error)
            continue
        freed += size - left
    return freed


def _is_in(table: pa.Table, names: Sequence[str], keys: pa.Array) -> pa.ChunkedArray:
    return pc.is_in(keys_in(table, names), value_set=keys)
