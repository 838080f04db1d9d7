"""Measure what a chunk costs driver, Redis, worker and lake."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa

from benchmarks.instruments.boards import published_mix
from benchmarks.instruments.processes import children_of
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import PARTS
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.registry import game
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.cluster.local import local_cluster
from nightgrid.workers.cluster.supervisor import supervisor_state
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.outbox import CeleryOutbox
from nightgrid.workers.runs.attempts import read_note
from nightgrid.workers.runs.manifest import open_run
from nightgrid.workers.runs.plan import plan_pass as chunking
from nightgrid.workers.runs.plan.planner import plan_run
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.settings import Settings

COUNT = Ask(kind="count")
SEED = 5
MANY = 200
"""Workers for whom the plan with many small chunks is made ..."""
SMALL_S = 0.02
"""... of so much expected work: the same rows as in the other runs, so that all that it takes more
of anything is for chunks."""
CLOCK_TICKS = 100
LOOKED_AT = 2_000
INLINE_BOARDS, INLINE_CHUNKS = 16_000, 40
_CALLS = ("exists", "read_bytes", "list", "write_bytes", "delete", "open_file", "_commit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run, as it was measured."""

    processes: int
    boards: int
    chunks: int
    plan_s: float
    drive_s: float
    """From the first message to the last part."""
    finish_s: float
    kernel_s: float
    driver_cpu_s: float
    """Processor time of the driver, its end included."""
    worker_cpu_s: float
    server_cpu_s: float
    commands: int
    """That Redis carried out."""
    redis_in_bytes: int
    redis_out_bytes: int
    redis_peak_bytes: int
    calls: Mapping[str, int]
    """Calls of the driver to the lake."""
    lake_bytes: Mapping[str, int]
    """By folder."""
    lake_files: Mapping[str, int]
    task_s: tuple[float, ...]
    """From the note that a worker begins a chunk to its part, for each chunk."""
    first_s: float
    """Until the first chunk was begun."""
    gap_s: float
    """From a part to the next note of the same process: median, with one process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Everything that the model needs."""

    usual: Mapping[str, Run]
    """Runs as they are planned, by their number of processes."""
    many: Run
    """A run of many small chunks, one process."""
    look_s: float
    """One look of the driver at a chunk in flight that is not begun."""
    put_s: tuple[float, ...]
    """Writing one part, synced, in order of length."""
    worker_calls: Mapping[str, float]
    """Calls of a worker to the lake for each chunk."""


def measure(boards: int) -> dict[str, Any]:
    """Measure runs of generated boards; what comes back can be written as JSON."""
    table = published_mix(boards, SEED)
    pips = game("pips")
    pips.warm()
    usual = {str(n): _run(table, n, n) for n in (1, 2)}
    with mock.patch.object(chunking, "CHUNK_MIN_S", SMALL_S):
        many = _run(table, 1, MANY)
    with tempfile.TemporaryDirectory(prefix="nightgrid-capacity-") as folder:
        inline = _inline(table.slice(0, INLINE_BOARDS), Path(folder))
    return asdict(Measured(usual=usual, many=many, **inline))


def _run(table: pa.Table, processes: int, planned_for: int) -> Run:
    with tempfile.TemporaryDirectory(prefix="nightgrid-capacity-") as folder:
        settings = Settings(
            lake=str(Path(folder) / "lake"), games="pips", batch_processes=processes
        )
        lake = Lake.open(settings.lake)
        with local_cluster(settings, roles=("server", "batch")), closing(connect(settings)) as r:
            begun = time.perf_counter()
            run_id = plan_run(
                lake, game("pips"), table, COUNT, settings.budget, worker_count=planned_for
            )
            plan_s = time.perf_counter() - begun
            before: Any = r.info()
            busy_before = _worker_cpu_s(settings)
            executor = CeleryOutbox(settings)
            with _counted() as calls:
                cpu = time.process_time()
                begun_at = time.time()
                summary = drive(lake, run_id, executor, settings=settings)
                driver_cpu_s = time.process_time() - cpu
            worker_cpu_s = _worker_cpu_s(settings) - busy_before
            after: Any = r.info()
            executor.close()
        assert summary.finished
        refs = open_run(lake, run_id).chunks()
        ends = [_mtime(lake, ref.result_path) for ref in refs]
        starts = [_started_at(lake, ref) for ref in refs]
        gaps = np.array(sorted(starts)[1:]) - np.array(sorted(ends)[:-1])
        return Run(
            processes=processes,
            boards=table.num_rows,
            chunks=len(refs),
            plan_s=plan_s,
            drive_s=max(ends) - begun_at,
            finish_s=_mtime(lake, f"runs/run={run_id}/DONE.json") - max(ends),
            kernel_s=summary.kernel_ns / 1e9,
            driver_cpu_s=driver_cpu_s,
            worker_cpu_s=worker_cpu_s,
            server_cpu_s=_change(before, after, "used_cpu_user", "used_cpu_sys"),
            commands=int(_change(before, after, "total_commands_processed")),
            redis_in_bytes=int(_change(before, after, "total_net_input_bytes")),
            redis_out_bytes=int(_change(before, after, "total_net_output_bytes")),
            redis_peak_bytes=int(after["used_memory_peak"]),
            calls=dict(calls),
            **_sizes(Path(settings.lake), run_id),
            # A clock of files may be a tick behind.
            task_s=tuple(
                round(max(1e-4, end - start), 5) for start, end in zip(starts, ends, strict=True)
            ),
            first_s=min(starts) - begun_at,
            gap_s=float(np.median(gaps)),
        )


def _change(before: Mapping[str, Any], after: Mapping[str, Any], *names: str) -> float:
    return sum(float(after[name]) - float(before[name]) for name in names)


def _mtime(lake: Lake, path: str) -> float:
    return (Path(lake.url) / path).stat().st_mtime


def _started_at(lake: Lake, ref: ChunkRef) -> float:
    note = read_note(lake, ref)
    assert note is not None
    return note.started_at


def _worker_cpu_s(settings: Settings) -> float:
    """Count the processor time of the batch worker and its children."""
    state = supervisor_state(settings)
    assert state is not None
    pid = state["processes"]["batch"]["pid"]
    ticks = 0
    for one in (pid, *children_of(pid)):
        fields = Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / CLOCK_TICKS


def _sizes(lake: Path, run_id: str) -> dict[str, dict[str, int]]:
    sizes, files = Counter[str](), Counter[str]()
    folders = {
        name: lake / f"runs/run={run_id}" / name for name in ("manifest", "parts", "started")
    }
    for name, folder in {**folders, "results": lake / "results"}.items():
        for path in folder.rglob("*"):
            if path.is_file():
                sizes[name] += path.stat().st_size
                files[name] += 1
    return {"lake_bytes": dict(sizes), "lake_files": dict(files)}


@contextmanager
def _counted() -> Iterator[Counter[str]]:
    """Count what this process asks of lakes."""
    calls = Counter[str]()
    originals = {name: getattr(Lake, name) for name in _CALLS}

    def counting(name: str, original: Any) -> Any:
        @wraps(original)
        def call(*arguments: Any, **others: Any) -> Any:
            calls[name.strip("_")] += 1
            return original(*arguments, **others)

        return call

    for name, original in originals.items():
        setattr(Lake, name, counting(name, original))
    try:
        yield calls
    finally:
        for name, original in originals.items():
            setattr(Lake, name, original)


def _inline(table: pa.Table, folder: Path) -> dict[str, Any]:
    """Measure single steps in this process."""
    settings = Settings(lake=str(folder / "lake"), games="pips")
    lake = Lake.open(settings.lake)
    with mock.patch.object(chunking, "CHUNK_MIN_S", SMALL_S):
        run_id = plan_run(lake, game("pips"), table, COUNT, settings.budget, worker_count=MANY)
    refs = open_run(lake, run_id).chunks()[: INLINE_CHUNKS + 1]
    # The first opens the game and the run.
    solve_chunk(lake, refs[0], settings, "w")
    with _counted() as calls:
        for ref in refs[1:]:
            solve_chunk(lake, ref, settings, "w")
    part = lake.read_table(refs[1].result_path, PARTS)
    put_s = []
    for number in range(100):
        begun = time.perf_counter()
        lake.create_table(f"scratch/{number}.parquet", part)
        put_s.append(time.perf_counter() - begun)
    unbegun = [ChunkRef(run_id=run_id, segment=99, chunk=number) for number in range(LOOKED_AT)]
    begun = time.perf_counter()
    for ref in unbegun:
        assert not lake.exists(ref.result_path)
        assert read_note(lake, ref) is None
    return {
        "look_s": (time.perf_counter() - begun) / LOOKED_AT,
        "put_s": tuple(round(float(s), 6) for s in np.sort(put_s)),
        "worker_calls": {name: number / (len(refs) - 1) for name, number in calls.items()},
    }
