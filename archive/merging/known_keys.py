"""Keep in memory which keys files of results have: a look-up opens those that may have its own.

Files of merged folders never change, so that the keys that were read of one stand for as long as
there is a file of its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from cachetools import LRUCache

from nightgrid.archive.lake.conforming import select
from nightgrid.archive.lake.encoding import TableFile
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.files import MergedFolder

KEPT_BYTES = 8 * 2**20
"""Bytes of keys that are kept, at most: 32 for each."""
KEPT_ROWS = 65_536
"""A file of more rows is looked into each time: reading all of its keys takes longer than a look
into one of its row groups."""

Keys = npt.NDArray[np.bytes_]
_lock = Lock()
_seen: LRUCache[tuple[str, str], bool] = LRUCache(1024)
"""Files that were looked into: a program that looks once has no use for all keys."""
_kept: LRUCache[tuple[str, str], Keys] = LRUCache(KEPT_BYTES, getsizeof=lambda keys: keys.nbytes)


def lacks(lake: Lake, path: str, ids: Sequence[str]) -> bool:
    """Tell whether a file is known to have none of these keys, without a look at it."""
    with _lock:
        keys = _kept.get((lake.url, path))
    if keys is None:
        return False
    wanted = np.char.encode(np.array(ids, str), "utf-8")
    at = np.searchsorted(keys, wanted)
    is_inside = at < len(keys)
    return not bool(np.any(keys[at[is_inside]] == wanted[is_inside]))


def keep_keys(lake: Lake, folder: MergedFolder, path: str, file: TableFile) -> None:
    """Keep the keys of a file that is opened for the second time, unless it has many.

    Raises as reading it does.
    """
    name = lake.url, path
    if not 0 < file.metadata.num_rows <= KEPT_ROWS:
        return
    with _lock:
        if name in _kept or name not in _seen:
            _seen[name] = True
            return
    schema = select(folder.schema, [folder.key])
    groups = [file.group(number, schema) for number in range(file.num_row_groups)]
    column = pa.concat_tables(groups).column(0)
    if column.null_count:
        return
    keys = np.unique(np.char.encode(np.array(column.to_pylist(), str), "utf-8"))
    with _lock:
        if keys.nbytes <= KEPT_BYTES:
            _kept[name] = keys
