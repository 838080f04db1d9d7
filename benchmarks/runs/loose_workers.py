"""One loose board: counted whole on one core, and by stages on real workers.

`python -m benchmarks.runs.loose_workers` counts a board of the mix LOOSE unsplit, then by stages
with one worker process and with two. `--table-mb N` gives every process so little memory for states
that the unsplit count is refused, counts by stages within it, and compares with the unsplit count
in more memory.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.instruments.boards import LOOSE_ROWS, loose_board
from benchmarks.instruments.processes import cpu_seconds, peak_bytes
from benchmarks.instruments.report import Section, add_write, command_line, finish
from benchmarks.tuned import tuned_settings
from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import PARTS, RESULTS
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.registry import game
from nightgrid.workers.cluster.local import local_cluster
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.outbox import CeleryOutbox
from nightgrid.workers.runs.attempts import read_note
from nightgrid.workers.runs.manifest import open_run
from nightgrid.workers.runs.plan import plan_pass
from nightgrid.workers.runs.plan.planner import plan_run
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.runs.staged.frontier import frontier_folder
from nightgrid.workers.runs.staged.stages import CARRIED

DOMINOES = 20
SEED = 0
WORKERS = (1, 2)
TABLE_BYTES = 2 * 1024**3
UNSPLIT_BYTES = 8 * 1024**3
SECONDS = 90.0
UNSPLIT_SECONDS = 3600.0
LOOK_SECONDS = 0.5
COUNT = Ask(kind="count")


def unsplit(task: tuple[int, int, int]) -> dict[str, Any]:
    """Count a board whole. `task` is dominoes, seed, table bytes."""
    dominoes, seed, table_bytes = task
    pips = game("pips")
    pips.warm()
    puzzle = loose_board(dominoes, seed)
    budget = Budget(nodes=10**15, table_bytes=table_bytes, seconds=UNSPLIT_SECONDS)
    begun, busy = time.perf_counter(), time.process_time()
    outcome = pips.solve(puzzle, COUNT, None, budget)
    return {
        "status": str(outcome.status),
        "count": outcome.count,
        "states": outcome.statistics.states,
        "wall": time.perf_counter() - begun,
        "cpu": time.process_time() - busy,
        "table": outcome.statistics.table_bytes,
        "peak": peak_bytes(os.getpid()),
        "reason": outcome.reason,
    }


class Watcher:
    """Looks at the spilled states and at the workers while a run is driven."""

    def __init__(self, lake: Lake, run_id: str) -> None:
        self._folder = Path(lake.url) / frontier_folder(run_id)
        self._at = 0.0
        self.sizes: dict[str, int] = {}
        self.most = 0
        self.memory: dict[int, int] = {}
        self.cpu: dict[int, float] = {}

    def look(self, progress: object) -> None:
        """Look, now and then; always without a progress."""
        if progress is not None and time.monotonic() - self._at < LOOK_SECONDS:
            return
        self._at = time.monotonic()
        now = {}
        for path in self._folder.glob("*.parquet"):
            try:
                now[path.name] = path.stat().st_size
            except FileNotFoundError:
                continue
        self.sizes |= now
        self.most = max(self.most, sum(now.values()))
        for pid in _descendants(os.getpid()):
            with contextlib.suppress(OSError):
                self.memory[pid] = max(self.memory.get(pid, 0), peak_bytes(pid))
                self.cpu[pid] = cpu_seconds(pid)


def _descendants(pid: int) -> list[int]:
    """List the processes below one, on Linux."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *_descendants(int(child))]
    return found


def staged(
    dominoes: int, seed: int, workers: int, table_bytes: int, options: argparse.Namespace
) -> dict[str, Any]:
    """Count a board by stages with real workers."""
    with tempfile.TemporaryDirectory(prefix="nightgrid-loose-", dir=options.folder) as folder:
        return _staged(dominoes, seed, workers, table_bytes, options, Path(folder))


def _staged(
    dominoes: int,
    seed: int,
    workers: int,
    table_bytes: int,
    options: argparse.Namespace,
    folder: Path,
) -> dict[str, Any]:
    pips = game("pips")
    changes = {n: v for n in ("stage_rows",) if (v := getattr(options, n))}
    settings = tuned_settings(
        lake=str(folder / "lake"), batch_processes=workers, games="pips", **changes
    )
    lake = Lake.open(settings.lake)
    budget = Budget(nodes=10**15, table_bytes=table_bytes, seconds=SECONDS)
    table = puzzles_table(pips, [loose_board(dominoes, seed)])
    with local_cluster(settings, roles=("server", "batch")):
        begun = time.perf_counter()
        # Whatever is expected of the board, it begins with its first stage.
        plan_pass.DIVIDE_S = 0.0
        run_id = plan_run(lake, pips, table, COUNT, budget)
        watcher = Watcher(lake, run_id)
        watcher.look(None)
        started = sum(watcher.cpu.values())
        drive(lake, run_id, CeleryOutbox(settings), watcher.look, settings=settings)
        wall = time.perf_counter() - begun
        watcher.look(None)
    (row,) = lake.read_table(f"results/{run_id}.parquet", RESULTS).to_pylist()
    found = {
        "status": row["status"],
        "count": None if row["count"] is None else int(row["count"]),
        "states": row["states"],
        "parts": row["parts"],
        "wall": wall,
        "cpu": sum(watcher.cpu.values()) - started,
        "kernel": row["kernel_ns"] / 1e9,
        "table": row["table_bytes"],
        "peak": max(watcher.memory.values(), default=0),
        "spilled": sum(watcher.sizes.values()),
        "most": watcher.most,
        "stages": _stages(lake, run_id),
        "reason": row["reason"],
    }
    found["written"] = sum(stage["written"] for stage in found["stages"])
    return found


def _stages(lake: Lake, run_id: str) -> list[dict[str, Any]]:
    """Tell of every stage its layer, parts, states and seconds."""
    stages: dict[int, dict[str, Any]] = defaultdict(
        lambda: {"parts": 0, "states": 0, "written": 0, "kernel": 0, "begun": [], "ended": []}
    )
    for ref in open_run(lake, run_id).chunks():
        (row,) = lake.read_table(ref.result_path, PARTS).to_pylist()
        if not row["part_path"] or row["status"] == "split":
            continue
        stage = stages[int(row["part_path"].split(".")[0])]
        manifest = lake.read_row_group(ref.manifest_path, ref.chunk)
        stage["layer"] = json.loads(manifest.column("part")[0].as_py())["layer"]
        stage["parts"] += 1
        stage["states"] += row["states"]
        stage["kernel"] += row["kernel_ns"]
        if row["status"] == CARRIED:
            stage["written"] += sum(json.loads(row["children"])["rows"])
        note = read_note(lake, ChunkRef(run_id=run_id, segment=ref.segment, chunk=ref.chunk))
        stage["begun"].append(note.started_at if note else 0.0)
        stage["ended"].append((Path(lake.url) / ref.result_path).stat().st_mtime)
    return [stages[number] for number in sorted(stages)]


def main() -> int:
    """Count the board every way and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.loose_workers")
    parser.add_argument("--dominoes", type=int, default=DOMINOES)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--workers", type=int, nargs="+", default=list(WORKERS))
    parser.add_argument("--table-mb", type=int, help="memory for states; the unsplit count fails")
    parser.add_argument("--unsplit-gb", type=float, default=UNSPLIT_BYTES / 1024**3)
    parser.add_argument("--stage-rows", type=int, help="states of one part, about")
    parser.add_argument("--folder", type=Path, help="where lakes are made; default: temporary")
    add_write(parser)
    options = parser.parse_args()
    section = Section(
        name="loose_workers" + ("_refused" if options.table_mb else ""),
        title="One loose board on several workers"
        + (", more states than fit into memory" if options.table_mb else ""),
        command=command_line("runs.loose_workers"),
    )
    table_bytes = options.table_mb * 1024**2 if options.table_mb else TABLE_BYTES
    found = _measure(options, table_bytes)
    _report(section, options, found)
    finish(section, to_results=options.write)
    exact = {row["count"] for _, row in found if row["status"] == "solved"}
    by_stages = [row["status"] for name, row in found if name.startswith("stages")]
    return 0 if len(exact) == 1 and set(by_stages) == {"solved"} else 1


def _measure(options: argparse.Namespace, table_bytes: int) -> list[tuple[str, dict[str, Any]]]:
    tasks = [("unsplit", int(options.unsplit_gb * 1024**3))]
    if options.table_mb:
        tasks.append((f"unsplit in {options.table_mb} MB", table_bytes))
    found = []
    for name, limit in tasks:
        # A process of its own, so that its memory is its own.
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found.append((name, pool.apply(unsplit, ((options.dominoes, options.seed, limit),))))
        _tell(*found[-1])
    for workers in options.workers:
        row = staged(options.dominoes, options.seed, workers, table_bytes, options)
        found.append((f"stages, {workers} worker{'s' if workers > 1 else ''}", row))
        _tell(*found[-1])
    return found


def _tell(name: str, row: dict[str, Any]) -> None:
    shown = {key: value for key, value in row.items() if key != "stages"}
    print(name, shown, file=sys.stderr, flush=True)


def _report(
    section: Section, options: argparse.Namespace, found: list[tuple[str, dict[str, Any]]]
) -> None:
    whole = found[0][1]
    section.table(
        (
            "count", "status", "solutions", "states", "of unsplit", "written", "parts", "wall s",
            "of unsplit", "CPU s", "table MB", "peak memory MB", "spilled GB", "at once GB",
        ),
        [
            (
                name,
                row["status"],
                "" if row["count"] is None else f"{row['count']:,}",
                f"{row['states']:,}",
                f"{row['states'] / whole['states']:.3f}",
                f"{row['written']:,}" if "written" in row else "",
                row.get("parts", 1),
                f"{row['wall']:.1f}",
                f"{row['wall'] / whole['wall']:.2f}",
                f"{row['cpu']:.1f}",
                f"{row['table'] / 1024**2:,.0f}",
                f"{row['peak'] / 1024**2:,.0f}",
                f"{row.get('spilled', 0) / 1024**3:.2f}",
                f"{row.get('most', 0) / 1024**3:.2f}",
            )
            for name, row in found
        ],
    )  # fmt: skip
    section.say(
        f"Board of {options.dominoes} dominoes, {LOOSE_ROWS} rows, mix `LOOSE`, seed "
        f"{options.seed}. `written`: states handed from one stage to the next, those that several "
        "parts have reached once for each. Wall time is from planning to the result "
        "in the lake. Peak memory is that of the largest process."
    )
    name, last = found[-1]
    section.say(f"The stages of `{name}`:")
    previous = 0.0
    rows = []
    for stage in last["stages"]:
        begun, ended = min(stage["begun"]), max(stage["ended"])
        rows.append(
            (
                stage["layer"],
                stage["parts"],
                f"{stage['states']:,}",
                f"{stage['written']:,}",
                f"{stage['kernel'] / 1e9:.2f}",
                f"{ended - begun:.2f}",
                f"{begun - previous:.3f}" if previous else "",
            )
        )
        previous = ended
    section.table(
        ("from layer", "parts", "states", "written", "kernel s", "wall s", "after the last s"), rows
    )


if __name__ == "__main__":
    sys.exit(main())
