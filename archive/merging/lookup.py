"""Look rows up by their keys in a folder of merged files: few files are opened, little is read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.conforming import select
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.files import MergedFolder, may_hold, read_each
from nightgrid.archive.merging.known_keys import keep_keys, lacks
from nightgrid.archive.merging.merge import groups_with


def rows_of_keys(
    lake: Lake,
    folder: MergedFolder,
    keys: Collection[str],
    is_wanted: Callable[[str], bool] | None = None,
    *,
    whole_groups: bool = False,
) -> Iterator[pa.Table]:
    """Read the rows that have these keys, perhaps some of them twice.

    `is_wanted` chooses files by their paths; without it their names do. With `whole_groups` the
    rows that lie beside them are given as well.
    """
    ids = sorted(set(keys))
    if not ids:
        return
    wanted, key = pa.array(ids, pa.string()), select(folder.schema, [folder.key])

    def may_have(low: str, high: str) -> bool:
        at = bisect_left(ids, low)
        return at < len(ids) and ids[at] <= high

    def rows(path: str) -> Iterator[pa.Table]:
        if lacks(lake, path, ids):
            return
        with lake.open_parquet(path) as file:
            if folder.key not in file.schema_arrow.names:
                raise DamagedFileError(f"{path} is foreign: it has no column {folder.key}")
            keep_keys(lake, folder, path, file)
            for number in groups_with(file, folder.key, may_have):
                is_one = pc.is_in(file.group(number, key).column(0), value_set=wanted)
                if pc.any(is_one).as_py():
                    table = file.group(number, folder.schema)
                    yield table if whole_groups else table.filter(is_one)

    yield from read_each(
        lake, folder, rows, is_wanted or (lambda path: may_hold(folder, path, ids))
    )
