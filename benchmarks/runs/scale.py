"""Count Pips boards by the million: plan, two workers, results; beside what the kernels alone take.

python -m benchmarks.runs.scale --boards 10000 100000 1000000 [--repeat 3] [--corpora FOLDER]
[--write]

Boards of the published mix are generated once, into the lake `--corpora`, and not counted into any
time. Every number of boards is the beginning of the same corpus, and is run in a lake and a driver
process of its own; of several runs the median one is told. `--distinct N` generates only N boards
and counts them again and again under other names: the kernels' work is the same, and generating
takes a fraction.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.instruments.processes import children_of, cpu_seconds, peak_bytes
from benchmarks.instruments.report import add_write, finish
from benchmarks.runs.scale_figures import Figures, tell
from nightgrid.archive.corpus.corpus import Corpus, open_corpus
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.without_pandas import keep_pandas_out
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.child_processes import pool_of
from nightgrid.solvers.registry import game
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.cluster.local import local_cluster
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.outbox import CeleryOutbox
from nightgrid.workers.driver.progress import Progress
from nightgrid.workers.freed_memory import keep_freed
from nightgrid.workers.runs.job_keys import ids_of
from nightgrid.workers.runs.manifest import count_segments
from nightgrid.workers.runs.plan.open_jobs import Asking
from nightgrid.workers.runs.plan.planner import begin_run, extend_run
from nightgrid.workers.settings import Settings

COUNT = Ask(kind="count")
SEED = 7
SPAWN = multiprocessing.get_context("spawn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Boards:
    """Which boards are counted: the first of a corpus, again and again under other names."""

    lake: str
    spec: str
    count: int

    def corpus(self) -> Corpus:
        """Open the corpus; it has been made."""
        return open_corpus(Lake.open(self.lake), self.spec)

    def tables(self) -> Iterator[pa.Table]:
        """Read them, batch by batch."""
        left, lap = self.count, 0
        while left > 0:
            for table in self.corpus().tables():
                rows = table.slice(0, left)
                yield rows if lap == 0 else _renamed(rows, self.count - left)
                left -= rows.num_rows
                if left <= 0:
                    return
            lap += 1


def _renamed(rows: pa.Table, first: int) -> pa.Table:
    """Give boards other names, so that they are other jobs."""
    keys = np.random.default_rng(first).integers(0, 2**64, (len(rows), 2), dtype=np.uint64)
    return rows.set_column(0, rows.schema.field(0), ids_of(keys))


def kernels_alone(boards: Boards, processes: int) -> tuple[float, float]:
    """Count all boards in processes side by side, without files or messages.

    Returns boards a second, and seconds of processor time in all.
    """
    with SPAWN.Pool(processes) as pool:
        found = pool.starmap(_kernel_rate, [(boards, i, processes) for i in range(processes)])
    return sum(rate for rate, _ in found), sum(cpu_s for _, cpu_s in found)


def _kernel_rate(boards: Boards, mine: int, processes: int) -> tuple[float, float]:
    pips = game("pips")
    pips.warm()
    rows, seconds, cpu_s = 0, 0.0, 0.0
    for table in boards.tables():
        taken = table.take(np.arange(mine, len(table), processes))
        # As a plan has them: kernels are faster by a twentieth where boards are like the last.
        order = np.argsort(-pips.cost_s(arrays_of(taken), COUNT), kind="stable")
        arrays = arrays_of(taken.take(order))
        begun, busy = time.perf_counter(), time.process_time()
        rows += len(pips.solve_batch(arrays, COUNT, Budget())["status"])
        seconds += time.perf_counter() - begun
        cpu_s += time.process_time() - busy
    return rows / seconds, cpu_s


def end_to_end(boards: Boards, processes: int) -> dict[str, Any]:
    """Plan, solve and finish in a driver process of its own; return fields of its `Figures`."""
    # As `nightgrid count` does: Arrow's own allocators keep what they had at the peak.
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    with tempfile.TemporaryDirectory(prefix="nightgrid-scale-") as folder, pool_of(1) as pool:
        return pool.submit(_drive, boards, processes, str(Path(folder) / "lake")).result()


RUN_ID = digest("scale")


def _ready() -> None:
    # As `nightgrid count` does.
    keep_freed()
    keep_pandas_out()
    game("pips").warm()
    Lake.open(tempfile.gettempdir()).exists("anything")


def _plan(boards: Boards, lake_url: str, processes: int) -> tuple[float, int, float]:
    """Plan in a process of its own; returns when it ended, its peak of memory, and its CPU time."""
    lake, pips, budget = Lake.open(lake_url), game("pips"), Settings(lake=lake_url).budget
    busy = time.process_time()
    asking = Asking(lake, pips, COUNT, budget, processes)
    begin_run(asking, RUN_ID, puzzle_count=boards.count)
    extend_run(asking, boards.tables, RUN_ID)
    return time.time(), peak_bytes(os.getpid()), time.process_time() - busy


def _drive(boards: Boards, processes: int, lake_url: str) -> dict[str, Any]:
    keep_pandas_out()  # as `nightgrid count` does
    settings = Settings(lake=lake_url, batch_processes=processes, games="pips")
    lake = Lake.open(settings.lake)
    begun = time.time()
    with local_cluster(settings, roles=("server", "batch")), pool_of(1) as pool:
        pool.submit(_ready).result()
        marks, busy = [time.time()], time.process_time()
        planning = pool.submit(_plan, boards, lake_url, processes)

        def check() -> None:
            if planning.done():
                planning.result()

        while not count_segments(lake, RUN_ID):
            check()
            time.sleep(0.01)
        marks.append(time.time())
        solved_at = marks[-1]

        def note(progress: Progress) -> None:
            nonlocal solved_at
            if progress.chunks_done < progress.chunks_total:
                solved_at = time.time()

        executor = CeleryOutbox(settings)
        summary = drive(lake, RUN_ID, executor, note, settings=settings, check_planner=check)
        marks += [solved_at, time.time()]
        driver_cpu_s = time.process_time() - busy
        planned_at, planner_bytes, planner_cpu_s = planning.result()
        with connect(settings) as client:
            redis_bytes = int(client.info("memory")["used_memory_peak"])
        worker_bytes, workers_cpu_s = _workers(settings)
    if not summary.finished or sum(summary.statuses.values()) != summary.job_count:
        raise SystemExit(f"{summary.job_count} jobs, but {summary.statuses}")
    first_s, solve_s, finish_s = np.diff(marks).tolist()
    base = Path(lake_url)
    return {
        "start_s": marks[0] - begun,
        "first_s": first_s,
        "plan_s": planned_at - marks[0],
        "solve_s": solve_s,
        "finish_s": finish_s,
        "chunks": summary.chunks_total,
        "kernel_s": summary.kernel_ns / 1e9,
        "driver_bytes": peak_bytes(os.getpid()),
        "driver_cpu_s": driver_cpu_s,
        "planner_bytes": planner_bytes,
        "planner_cpu_s": planner_cpu_s,
        "workers_cpu_s": workers_cpu_s,
        "worker_bytes": worker_bytes,
        "redis_bytes": redis_bytes,
        "manifest_bytes": _bytes_under(base / f"runs/run={RUN_ID}/manifest"),
        "parts_bytes": _bytes_under(base / f"runs/run={RUN_ID}/parts"),
        "results_bytes": _bytes_under(base / "results"),
    }


def _workers(settings: Settings) -> tuple[int, float]:
    """Find the largest peak of memory and the whole processor time of the batch children."""
    state = (settings.side_dir / "supervisor.json").read_text()
    pid = json.loads(state)["processes"]["batch"]["pid"]
    children = children_of(pid)
    return max(map(peak_bytes, children)), sum(map(cpu_seconds, children))


def _bytes_under(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> int:
    """Run every size, the smallest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--distinct", type=int, help="generate only so many boards")
    parser.add_argument("--made", type=int, default=0, help="generate so many boards at least")
    parser.add_argument("--corpora", type=Path, help="a lake that keeps the generated boards")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=1, help="tell the median of so many runs")
    add_write(parser)
    options = parser.parse_args()
    options.boards.sort()
    made = options.distinct or max(options.boards[-1], options.made)
    with tempfile.TemporaryDirectory(prefix="nightgrid-corpora-") as folder:
        lake, spec = str(options.corpora or folder), f"pips:n={made},mix=published,seed={SEED}"
        begun = time.perf_counter()
        open_corpus(Lake.open(lake), spec, processes=options.processes)
        made_s = time.perf_counter() - begun
        runs: list[list[Figures]] = []
        for count in options.boards:
            boards = Boards(lake=lake, spec=spec, count=count)
            runs.append([])
            after = kernels_alone(boards, options.processes)
            for _ in range(options.repeat):
                before, found = after, end_to_end(boards, options.processes)
                after = kernels_alone(boards, options.processes)
                runs[-1].append(Figures(boards=count, kernels=(before, after), **found))
                print(runs[-1][-1], file=sys.stderr)
    finish(tell(options, SEED, made_s, runs), to_results=options.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
