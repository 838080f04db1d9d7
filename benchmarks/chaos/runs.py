"""A run in the middle of which something goes wrong, and what became of it."""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.chaos.processes.cluster import Cluster, Host
from benchmarks.chaos.processes.files import EXECUTIONS
from benchmarks.chaos.results import differing, digest, fresh_lake, plan
from benchmarks.instruments.processes import wait_for
from nightgrid.archive.lake.schemas import RESULTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.workers.runs.manifest import open_run, read_done
from nightgrid.workers.runs.run_files import done_chunks

STRIKE_AFTER = 0.25
"""Share of the chunks that are done when the blow falls."""
RUN_S = 300.0
BUSY_S = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Blow:
    """One fault that was struck."""

    kind: str
    at: float
    """Unix time, by the clock of the file system."""
    held: frozenset[str]
    """Chunks that were begun and not done."""
    done: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """A chunk that a worker began."""

    at: float
    """Unix time, by a clock that no fault touches."""
    chunk: str
    worker: str


def read_executions(cluster: Cluster) -> list[Execution]:
    """Read what workers have begun since the notes were emptied."""
    path = cluster.notes / EXECUTIONS
    lines = path.read_text().splitlines() if path.exists() else []
    return [
        Execution(at=float(at), chunk=chunk, worker=worker)
        for at, chunk, _, worker in map(str.split, lines)
    ]


@dataclass(slots=True, kw_only=True)
class Scene:
    """A run with everything that can be hit while it goes on."""

    cluster: Cluster
    lake: Lake
    run_id: str
    chunks: int
    random: random.Random
    attempts_max: int | None = None
    drivers: list[subprocess.Popen[str]] = field(default_factory=list)
    blows: list[Blow] = field(default_factory=list)

    def drive(self, key: str = "driver", **changes: Any) -> None:
        """Start a driver, with settings of its own if there are any."""
        driver = self.cluster.drive(self.run_id, key=key, attempts_max=self.attempts_max, **changes)
        self.drivers.append(driver)

    def done(self) -> int:
        """Count the chunks that are done."""
        return len(self._names("parts"))

    def over(self) -> bool:
        """Return whether the run has ended."""
        return self.lake.exists(f"runs/run={self.run_id}/DONE.json")

    def middle(self) -> None:
        """Wait until a share of the chunks is done and every host is at work on another."""
        wait_for(
            lambda: self.over() or self.done() >= STRIKE_AFTER * self.chunks,
            "the middle of the run",
        )
        # Where a run is short, or a host slow, the blow falls anyway.
        with contextlib.suppress(TimeoutError):
            busy = len(self.cluster.hosts)
            wait_for(lambda: len(self.held()) >= busy or self.over(), "busy hosts", BUSY_S)

    def begun(self, seconds: float = BUSY_S) -> None:
        """Wait until a chunk is begun, which is in hand then for as long as each is held.

        A chunk that has long been in hand may be done before the blow falls.
        """
        known = self.held()
        with contextlib.suppress(TimeoutError):
            wait_for(lambda: self.over() or self.held() - known, "a chunk that is begun", seconds)

    def held(self) -> frozenset[str]:
        """Name the chunks that are begun and not done."""
        begun = {name.split("-attempt-")[0] for name in self._names("started")}
        return frozenset(begun - self._names("parts"))

    @contextmanager
    def strike(self, kind: str, held: frozenset[str] = frozenset()) -> Iterator[None]:
        """Note what was in hand while a blow fell, which is struck in the body.

        `held` is what was in hand before a blow that lasts: workers hand it back meanwhile.
        """
        at, done = time.time(), self.done()
        yield
        self.blows.append(Blow(kind=kind, at=at, held=held | self.held(), done=done))

    def executions(self) -> list[Execution]:
        """List what workers have begun."""
        return read_executions(self.cluster)

    def host(self) -> Host:
        """Choose a host."""
        return self.random.choice(self.cluster.hosts)

    def control(self) -> Host:
        """Name the host of the server."""
        assert self.cluster.control is not None
        return self.cluster.control

    def _names(self, kind: str) -> set[str]:
        found = self.lake.list(f"runs/run={self.run_id}/{kind}")
        return {Path(path).stem for path in found}


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """The outcome of a run."""

    chunks: int
    blows: tuple[Blow, ...]
    executions: int
    duplicates: int
    """Executions of chunks that had been begun before."""
    failures: int
    """Deaths and failures that drivers counted against chunks."""
    lost: int
    """Jobs without a result row."""
    doubled: int
    """Result rows of jobs that have one already."""
    differing: tuple[Mapping[str, Any], ...]
    """Result rows that are not what the undisturbed run says."""
    digest: str
    """Digest of the result table as bytes, without the columns of `TIMED`."""
    recovery_s: float | None
    """The longest that a chunk in hand at a blow took from there until it was done, or that
    nothing got done after it."""
    seconds: float

    @property
    def in_hand(self) -> int:
        """Count the chunks that were being worked when a blow fell."""
        return sum(len(blow.held) for blow in self.blows)


def run(
    cluster: Cluster,
    boards: pa.Table,
    fault: Callable[[Scene], None],
    *,
    expected: pa.Table,
    at_once: bool = False,
    game: str = "pips",
    seed: int = 1,
    attempts_max: int | None = None,
    run_s: float = RUN_S,
) -> Aftermath:
    """Work the boards in the cluster's lake, which is emptied before, and strike once midway.

    `attempts_max` has to be above the number of kills that may hit one innocent chunk: to a driver
    that many deaths look like a guilty one.
    Raises SystemExit when the run does not end, or ends without results.
    `at_once` strikes as soon as a worker is at work, not in the middle of the run.
    """
    lake = fresh_lake(cluster.settings)
    (cluster.notes / EXECUTIONS).unlink(missing_ok=True)
    run_id = plan(lake, boards, cluster.settings, game)
    planned = open_run(lake, run_id)
    chunks = len(planned.chunks())
    begun = time.monotonic()
    scene = Scene(
        cluster=cluster,
        lake=lake,
        run_id=run_id,
        chunks=chunks,
        random=random.Random(seed),
        attempts_max=attempts_max,
    )
    scene.drive()
    try:
        if at_once:
            wait_for(scene.held, "the first chunk")
        else:
            scene.middle()
        fault(scene)
        for driver in scene.drivers:
            driver.wait(run_s)
    except (TimeoutError, subprocess.TimeoutExpired) as error:
        raise SystemExit(f"the run did not end: {error}") from error
    finally:
        for driver in scene.drivers:
            driver.kill()
        said = [driver.communicate()[0] for driver in scene.drivers]
    seconds = time.monotonic() - begun
    if not lake.exists(f"results/{run_id}.parquet"):
        code = scene.drivers[-1].returncode
        raise SystemExit(f"no results; the driver ended with {code}: {cluster.last_words()}")
    results = lake.read_table(f"results/{run_id}.parquet", RESULTS)
    names = results.column("job_id").to_pylist()
    times = Counter(execution.chunk for execution in read_executions(cluster))
    return Aftermath(
        chunks=(read_done(lake, run_id) or {})["chunks"],
        blows=tuple(scene.blows),
        executions=sum(times.values()),
        duplicates=sum(times.values()) - len(times),
        failures=sum(json.loads(text)["failures"] for text in said if text),
        lost=planned.job_count - len(set(names)),
        doubled=len(names) - len(set(names)),
        differing=differing(expected, results),
        digest=digest(results),
        recovery_s=_recovery_s(lake, run_id, scene.blows),
        seconds=seconds,
    )


def _recovery_s(lake: Lake, run_id: str, blows: Iterable[Blow]) -> float | None:
    done_at = _done_at(lake, run_id)
    waited = []
    for blow in blows:
        waited += [done_at[name] - blow.at for name in blow.held if name in done_at]
        later = [blow.at, *sorted(at for at in done_at.values() if at > blow.at)]
        waited += [b - a for a, b in pairwise(later)]
    return max(waited, default=None)


def _done_at(lake: Lake, run_id: str) -> Mapping[str, float]:
    if "://" in lake.url:
        # An object store tells whole seconds, which says nothing of runs of some seconds.
        return {}
    folder = Path(lake.url) / f"runs/run={run_id}" / "parts"
    names = {f"seg-{s:05d}-chunk-{c:05d}" for s, c in done_chunks(lake, run_id)}
    return {name: (folder / f"{name}.parquet").stat().st_mtime for name in names}


def say(aftermath: Aftermath) -> str:
    """Write an aftermath as one line of JSON."""
    blows = [f"{blow.kind} at {blow.done}" for blow in aftermath.blows]
    kept = (
        "executions",
        "duplicates",
        "failures",
        "lost",
        "doubled",
        "differing",
        "recovery_s",
        "seconds",
    )
    values = {name: getattr(aftermath, name) for name in kept}
    return json.dumps({"blows": blows, **values}, default=str)
