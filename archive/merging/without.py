"""Drop rows of a folder of merged files: each file that has some is replaced by one without them.

Files never change: the rows that stay are written to a new file, whose name follows from them, and
then the old one is deleted. Killed in between, rows stand in two files, which readers bear.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.files import MergedFolder, merged_path, sizes_of
from nightgrid.archive.skipped_files import skip_file

_DIGEST_DIGITS = 16
_SEPARATOR = "/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """What was dropped of a folder."""

    freed_bytes: int = 0


def keys_in(table: pa.Table, names: Sequence[str]) -> pa.ChunkedArray:
    """Write the columns by which rows are dropped as one text for each row."""
    return pc.binary_join_element_wise(*(table.column(name) for name in names), _SEPARATOR)


def drop_rows(
    lake: Lake,
    folder: MergedFolder,
    names: Sequence[str],
    keys: pa.Array,
    *,
    paths: Collection[str] | None = None,
    check: Callable[[], None] = lambda: None,
) -> Dropped:
    """Drop the rows whose columns `names` are one of `keys`, as `keys_in` writes them.

    With `paths`, from these files alone. `check` is called before each change. A damaged file is
    passed over and named.
    """
    freed = 0
    for path, size in sorted(sizes_of(lake, folder).items()) if len(keys) else ():
        if paths is not None and path not in paths:
            continue
        try:
            found = _look(lake, folder, path, names, keys)
            if not found.dropped:
                continue
            check()
            written = 0
            if found.kept:
                written = _write_kept(lake, folder, path, names, keys, found)
            lake.delete(path, durable=False)
        except MissingFileError:
            continue  # Another process has merged it: its rows are dropped by the next call.
        except DamagedFileError as error:
            skip_file(path, error)
            continue
        freed += size - written
    return Dropped(freed_bytes=freed)


@dataclass(slots=True, kw_only=True)
class _Found:
    """What a file has."""

    dropped: int = 0
    kept: int = 0
    low: str = ""
    high: str = ""
    digest: str = ""
    """Names the rows that stay: files of the same rows have the same name."""


def _look(
    lake: Lake, folder: MergedFolder, path: str, names: Sequence[str], keys: pa.Array
) -> _Found:
    found, digest = _Found(), sha256()
    columns = list(dict.fromkeys((*names, *folder.same)))
    for table in lake.scan_file(path, folder.schema, columns):
        kept = table.filter(pc.invert(pc.is_in(keys_in(table, names), value_set=keys)))
        found.dropped += len(table) - len(kept)
        found.kept += len(kept)
        if not len(kept):
            continue
        texts = [pc.cast(kept.column(name), pa.string()) for name in folder.same]
        joined = pc.binary_join_element_wise(*texts, _SEPARATOR)
        digest.update("\n".join(joined.to_pylist()).encode())
        ends = pc.min_max(kept.column(folder.key)).as_py()
        found.low = min(found.low or ends["min"], ends["min"])
        found.high = max(found.high, ends["max"])
    found.digest = digest.hexdigest()[:_DIGEST_DIGITS]
    return found


def _write_kept(
    lake: Lake,
    folder: MergedFolder,
    path: str,
    names: Sequence[str],
    keys: pa.Array,
    found: _Found,
) -> int:
    """Write the rows of a file that stay; return the bytes of the new file."""

    def groups() -> Iterator[pa.Table]:
        for table in lake.scan_file(path, folder.schema, folder.schema.names):
            kept = table.filter(pc.invert(pc.is_in(keys_in(table, names), value_set=keys)))
            if len(kept):
                yield kept

    new = merged_path(folder, found.low, found.high, found.digest)
    lake.write_row_groups(new, groups(), folder.schema, new=True)
    return lake.sizes(folder.path, deep=False).get(new, 0)
