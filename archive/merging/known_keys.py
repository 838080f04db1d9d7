"""Keep in memory which keys merged files have: a look-up opens those alone that may have its own.

The name of a merged file says of which files or rows it was made, and so which keys it has. Only a
run that files its rows anew may bring others under the names of old ones, after a repair: what was
read is kept for a minute, and they are found then.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from threading import Lock

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from cachetools import TTLCache

from nightgrid.archive.lake.conforming import select
from nightgrid.archive.lake.encoding import TableFile
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.files import MergedFolder, digest_in

KEPT_BYTES = 8 * 2**20
"""Bytes of keys that are kept, at most: 32 for each, and ENTRY_BYTES for each file."""
ENTRY_BYTES = 640
"""What an entry takes beside its keys: names, array and places in tables."""
KEPT_S = 60.0
"""How long keys are kept, and within which time a file has to be opened twice for that."""
KEPT_ROWS = 65_536
"""A file of more rows is looked into each time: reading all of its keys takes longer than a look
into one of its row groups."""
SEEN_FILES = 1024

Keys = npt.NDArray[np.bytes_]
_lock = Lock()
_seen: TTLCache[tuple[str, str], bool] = TTLCache(SEEN_FILES, KEPT_S)
"""Files that were looked into once: a program that looks once has no use for all keys."""
_kept: TTLCache[tuple[str, str], Keys] = TTLCache(
    KEPT_BYTES, KEPT_S, getsizeof=lambda keys: keys.nbytes + ENTRY_BYTES
)


def lacks(lake: Lake, path: str, ids: Sequence[str]) -> bool:
    """Tell whether a file is known to have none of these keys, without a look at it."""
    with _lock:
        keys = _kept.get((lake.url, path))
    if keys is None or not all(map(str.isascii, ids)):
        return False
    wanted = np.array(ids, np.bytes_)
    at = np.searchsorted(keys, wanted)
    is_inside = at < len(keys)
    return not bool(np.any(keys[at[is_inside]] == wanted[is_inside]))


def keep_keys(lake: Lake, folder: MergedFolder, path: str, file: TableFile) -> None:
    """Keep the keys of a merged file that is opened for the second time, while there is room."""
    rows = file.metadata.num_rows
    if digest_in(folder, path) is None or not 0 < rows <= KEPT_ROWS:
        return
    name = lake.url, path
    with _lock:
        if name in _kept or name not in _seen:
            _seen[name] = True
            return
        # It counts as looked into once again, whatever comes of reading it.
        del _seen[name]
        _kept.expire()
        if _kept.currsize + 32 * rows + ENTRY_BYTES > _kept.maxsize:
            return
    # A look-up reads the row groups that it needs, and says what is wrong with those alone.
    with suppress(DamagedFileError, pa.ArrowException, OSError, UnicodeError):
        keys = _read_keys(folder, file)
        with _lock, suppress(ValueError):
            _kept[name] = keys


def _read_keys(folder: MergedFolder, file: TableFile) -> Keys:
    """Read all keys of a file, in order. Raises UnicodeError for some that are no ASCII."""
    schema = select(folder.schema, [folder.key])
    groups = [file.group(number, schema) for number in range(file.num_row_groups)]
    return np.unique(pa.concat_tables(groups).column(0).to_numpy().astype(np.bytes_))
