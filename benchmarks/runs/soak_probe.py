"""What a long load is watched by: memory and files of processes, Redis, Prefect's database."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import redis

from benchmarks.instruments.processes import children_of
from nightgrid.archive.lake.local_commit import STAGING
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.cluster.supervisor import supervisor_state
from nightgrid.workers.settings import Settings

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
MIB = 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A quantity, and how much it may grow before that counts as growth."""

    unit: str
    share: float
    """Share of what it was in the first third."""
    least: float
    """Growth below this, in its unit, is none."""


RSS = Watched(unit="MiB", share=0.05, least=8.0)
FILES = Watched(unit="open files", share=0.0, least=3.0)
KEYS = Watched(unit="keys", share=0.1, least=10.0)
STAGED = Watched(unit="files", share=0.0, least=5.0)
REDIS = Watched(unit="MiB of data", share=0.1, least=1.0)
DATABASE = Watched(unit="MiB", share=0.1, least=0.5)
Sample = Mapping[tuple[str, Watched], float]


class Probe:
    """Looks at everything that runs."""

    def __init__(self, settings: Settings, prefect: Path, others: Mapping[str, int]) -> None:
        self._settings = settings
        self._prefect = prefect
        self._others = dict(others)
        self._client = connect(settings)

    def look(self) -> dict[tuple[str, Watched], float]:
        """Take one sample."""
        sample: dict[tuple[str, Watched], float] = {}
        for name, pids in self._processes().items():
            found = [seen for pid in pids if (seen := _process(pid)) is not None]
            if found:
                sample[name, RSS] = sum(rss for rss, _ in found) / MIB
                sample[name, FILES] = sum(files for _, files in found)
        sample |= self._redis()
        staging = Path(self._settings.lake) / STAGING
        sample["lake, half-written", STAGED] = sum(1 for _ in _files(staging))
        rows, file = _database_bytes(self._prefect)
        sample["Prefect's database", DATABASE] = rows / MIB
        sample["Prefect's database, its file", DATABASE] = file / MIB
        return sample

    def _processes(self) -> dict[str, list[int]]:
        found = {name: [pid, *_descendants(pid)] for name, pid in self._others.items()}
        state = supervisor_state(self._settings)
        if state is not None:
            found["supervisor"] = [state["supervisor_pid"]]
            for role, about in state["processes"].items():
                if role in ("batch", "interactive"):
                    found[f"{role} worker"] = [about["pid"]]
                    found[f"{role} worker, its children"] = children_of(about["pid"])
                else:
                    found["Redis server" if role == "server" else role] = [about["pid"]]
        return found

    def _redis(self) -> dict[tuple[str, Watched], float]:
        try:
            about: Any = self._client.info()
            keys: Any = self._client.dbsize()
        except redis.RedisError:
            return {}
        return {
            ("Redis", KEYS): float(keys),
            ("Redis", REDIS): float(about["used_memory_dataset"]) / MIB,
        }


def _descendants(pid: int) -> list[int]:
    found = children_of(pid)
    return [*found, *(far for near in found for far in _descendants(near))]


def _process(pid: int) -> tuple[int, int] | None:
    """Give resident bytes and open files of a process, or None when it is gone."""
    try:
        resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
        return resident, sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except (OSError, IndexError):
        return None


def _files(folder: Path) -> Iterable[Path]:
    return folder.iterdir() if folder.is_dir() else ()


def _database_bytes(path: Path) -> tuple[int, int]:
    """Count the bytes that rows take and those of the file: deleted rows leave free pages in it."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)) as database:
            pages, free, size = (
                database.execute(f"PRAGMA {what}").fetchone()[0]
                for what in ("page_count", "freelist_count", "page_size")
            )
    except sqlite3.Error:
        return 0, 0
    return (pages - free) * size, pages * size


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """What became of one quantity."""

    what: str
    of: Watched
    first: float
    """Median of the first third."""
    last: float
    """Median of the last third."""
    highest: float
    slope: float
    """Per minute, by least squares over all samples."""

    @property
    def grew(self) -> bool:
        """Tell whether it grew by more than it may."""
        return self.last - self.first > max(self.of.least, self.of.share * self.first)


def trends(times: list[float], samples: list[Sample]) -> list[Trend]:
    """Compare the last third of the samples with the first."""
    found = []
    begin, end = times[0], times[-1]
    names = sorted({key for sample in samples for key in sample}, key=lambda k: (k[1].unit, k[0]))
    for name in names:
        at, values = np.array(
            [(t, sample[name]) for t, sample in zip(times, samples, strict=True) if name in sample]
        ).T
        first = values[at <= begin + (end - begin) / 3]
        last = values[at >= end - (end - begin) / 3]
        if len(first) < 3 or len(last) < 3:
            continue
        found.append(
            Trend(
                what=name[0],
                of=name[1],
                first=float(np.median(first)),
                last=float(np.median(last)),
                highest=float(values.max()),
                slope=float(np.polyfit(at, values, 1)[0]) * 60.0,
            )
        )
    return found
