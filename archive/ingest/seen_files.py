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
"""Age of the last change of a file from which on what is known of it is kept. A younger one may
change once more without a trace: clocks of file systems have ticks, and those of other hosts are
not ours."""
_EPOCH = dt.date(1970, 1, 1)


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
        self._bodies = self._known_bodies()

    def _known_bodies(self) -> npt.NDArray[np.object_]:
        """Give for each file the hash of what was read of it, "" where it is not as it was then."""
        bodies = np.full(len(self._facts), "", dtype=object)
        kept = self._kept.filter(pc.equal(self._kept.column("folder"), self._folder))
        if not len(kept) or not len(bodies):
            return bodies
        names = ("date", *FILE_FACTS)
        then = np.stack([pc.cast(_ints(kept, name), pa.int64()).to_numpy() for name in names], 1)
        at = np.minimum(np.searchsorted(then[:, 0], self._facts[:, 0]), len(then) - 1)
        is_same = (then[at] == self._facts).all(1)
        bodies[is_same] = kept.column("sha256").to_numpy()[at[is_same]]
        return bodies

    def unchanged(self, latest: pa.Table) -> set[dt.date]:
        """Name the dates whose file has the body that was seen last, by rows of the raw index."""
        sound = latest.filter(pc.is_null(latest.column("fault_rule")))
        days = pc.cast(sound.column("date"), pa.int32()).to_numpy()
        if not len(days):
            return set()
        last = sound.column("sha256").to_numpy()
        at = np.minimum(np.searchsorted(days, self._facts[:, 0]), len(days) - 1)
        is_last = (days[at] == self._facts[:, 0]) & (last[at] == self._bodies)
        return {_EPOCH + dt.timedelta(days=day) for day in self._facts[is_last, 0].tolist()}

    def unread_bytes(self, dates: Collection[dt.date]) -> int:
        """Count the bytes of files that are not read."""
        days = np.array([(date - _EPOCH).days for date in dates], np.int64)
        size = self._facts[:, 1 + FILE_FACTS.index("size_bytes")]
        return int(size[np.isin(self._facts[:, 0], days)].sum())

    def saw(self, date: dt.date, sha256: str) -> None:
        """Remember the body that was read of a file."""
        at = np.searchsorted(self._facts[:, 0], (date - _EPOCH).days)
        if at < len(self._facts) and self._facts[at, 0] == (date - _EPOCH).days:
            self._bodies[at] = sha256

    def keep(self) -> None:
        """Put what is known into the lake, in the place of what was known of any folder."""
        is_kept = self._can_keep & (self._bodies != "")
        facts = self._facts[is_kept]
        columns = [
            pa.repeat(pa.scalar(self._folder), len(facts)),
            pa.array(facts[:, 0].astype(np.int32)).cast(pa.date32()),
            *(pa.array(facts[:, 1 + i]) for i in range(len(FILE_FACTS))),
            pa.array(self._bodies[is_kept], pa.string()),
        ]
        table = pa.table(columns, schema=SEEN_FILES)
        if not table.equals(self._kept):
            self._lake.write_table(self._path, table)


def _ints(table: pa.Table, name: str) -> pa.ChunkedArray:
    column = table.column(name)
    return pc.cast(column, pa.int32()) if name == "date" else column
