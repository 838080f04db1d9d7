"""Which files of a folder are as they were when they were read: those need not be read again.

A table in the lake keeps for each file what the file system told of it, and the body that was read
of it. It can be deleted: then all files are read again.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import SEEN_FILES
from nightgrid.archive.sources.folder import FILE_FACTS, FolderSource

SETTLED_S = 10.0
"""A file is remembered when its last change is at least this old. A younger file may change again
without a trace: clocks of file systems have ticks, and clocks of other hosts differ."""
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()


class SeenFiles:
    """The files of a folder beside what was known of them when they were read."""

    def __init__(self, lake: Lake, game: str, source: FolderSource) -> None:
        """Look at the files now, before any of them is read, and at what was kept of them."""
        self._lake, self._path, self._folder = lake, f"seen/{game}.parquet", source.uri
        now_ns = time.time_ns()
        self._facts = source.facts()
        """(files, 1 + facts): days since 1970, then FILE_FACTS; sorted by day."""
        changed = self._facts[:, 1 + FILE_FACTS.index("mtime_ns")]
        changed = np.maximum(changed, self._facts[:, 1 + FILE_FACTS.index("ctime_ns")])
        self._can_keep = changed < now_ns - int(SETTLED_S * 1e9)
        try:
            self._kept = lake.read_table(self._path, SEEN_FILES)
        except DamagedFileError:
            self._kept = SEEN_FILES.empty_table()
        self._hashes = self._kept.column("sha256").combine_chunks()
        self._at = self._as_then()
        """For each file the row of what was kept of it, -1 where it is not as it was then."""
        self._seen: dict[int, str] = {}
        """The hashes of what was read now, by day."""

    def _as_then(self) -> npt.NDArray[np.int64]:
        at = np.full(len(self._facts), -1, np.int64)
        rows = np.flatnonzero(
            pc.equal(self._kept.column("folder"), self._folder).to_numpy().astype(bool)
        )
        if not len(rows) or not len(at):
            return at
        names = ("date", *FILE_FACTS)
        then = np.stack([_ints(self._kept, name)[rows] for name in names], 1)
        found = np.minimum(np.searchsorted(then[:, 0], self._facts[:, 0]), len(then) - 1)
        is_same = (then[found] == self._facts).all(1)
        at[is_same] = rows[found[is_same]]
        return at

    def unchanged(self, latest: pa.Table) -> set[dt.date]:
        """Name the dates whose file has the body that was seen last, by rows of the raw index."""
        sound = latest.filter(pc.is_null(latest.column("fault_rule")))
        days = _ints(sound, "date")
        files = np.flatnonzero(self._at >= 0)
        if not len(days) or not len(files):
            return set()
        here = self._facts[files, 0]
        at = np.minimum(np.searchsorted(days, here), len(days) - 1)
        hashes = self._hashes.take(pa.array(self._at[files]))
        is_last = pc.equal(sound.column("sha256").combine_chunks().take(pa.array(at)), hashes)
        is_last = (days[at] == here) & is_last.to_numpy(zero_copy_only=False)
        return set(here[is_last].astype("datetime64[D]").tolist())

    def unread_bytes(self, dates: Collection[dt.date]) -> int:
        """Count the bytes of files that are not read."""
        days = np.fromiter(map(dt.date.toordinal, dates), np.int64, len(dates)) - _EPOCH_DAY
        size = self._facts[:, 1 + FILE_FACTS.index("size_bytes")]
        return int(size[np.isin(self._facts[:, 0], days)].sum())

    def saw(self, date: dt.date, sha256: str) -> None:
        """Remember the body that was read of a file."""
        self._seen[date.toordinal() - _EPOCH_DAY] = sha256

    def keep(self) -> None:
        """Put what is known into the lake, in the place of what was known of any folder."""
        at = self._at.copy()
        for number, day in enumerate(self._seen):
            row = np.searchsorted(self._facts[:, 0], day)
            if row < len(at) and self._facts[row, 0] == day:
                at[row] = len(self._kept) + number
        is_kept = self._can_keep & (at >= 0)
        facts, at = self._facts[is_kept], at[is_kept]
        if len(at) == len(self._kept) and (at == np.arange(len(at))).all():
            return
        hashes = pa.concat_arrays([self._hashes, pa.array(self._seen.values(), pa.string())])
        columns = [
            pa.repeat(pa.scalar(self._folder), len(facts)),
            pa.array(facts[:, 0].astype(np.int32)).cast(pa.date32()),
            *(pa.array(facts[:, 1 + i]) for i in range(len(FILE_FACTS))),
            hashes.take(pa.array(at)),
        ]
        table = pa.table(columns, schema=SEEN_FILES)
        if not table.equals(self._kept):
            self._lake.write_table(self._path, table)


def _ints(table: pa.Table, name: str) -> npt.NDArray[np.int64]:
    column = table.column(name)
    found = pc.cast(column, pa.int32()) if name == "date" else column
    return found.to_numpy().astype(np.int64, copy=False)
