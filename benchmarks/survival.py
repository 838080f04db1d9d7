"""Kill everything that can be killed in the middle of a run, and compare the results row for row.

`python -m benchmarks.survival [--boards 20000] [--workers 2]` works the same generated boards once
undisturbed and once each with kill -9 of a worker child, a whole worker, the server, and the
driver (which takes its supervisor, server and workers with it), then prints a table and exits
with 1 if any result row differs in anything but `kernel_ns` and `run_id`.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from archive.lake import Lake
from archive.puzzles import puzzles_table
from archive.runs import open_run, plan_run
from archive.tables import PIPS_PUZZLES, RESULTS
from benchmarks.report import Section, finish
from solvers.algebra import Ask, Budget
from solvers.pips.generator import generate_many
from solvers.pips.mix import PRESETS
from solvers.registry import game
from workers.driver import drive
from workers.executors import CeleryExecutor
from workers.settings import Settings
from workers.supervisor import child_environment, local_cluster, supervisor_state

MIX = ("easy", "medium", "hard")
SEED = 7
ROLES = ("server", "batch")
KILL_AFTER = 0.3
"""Share of the chunks that are done when the blow falls."""
KINDS: dict[str, str] = {
    "nothing": "",
    "worker child": "a prefork child of the batch worker",
    "whole worker": "the batch worker's main process",
    "server": "the embedded Redis-protocol server",
    "driver": "the driving process, and with it everything it had started",
}


def main() -> int:
    """Run every kind of disturbance and print what became of the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.survival")
    parser.add_argument("--boards", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/RESULTS.md")
    parser.add_argument("--drive", nargs=2, metavar=("RUN", "KIND"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.drive:
        return _drive(*options.drive)
    with tempfile.TemporaryDirectory(prefix="nightgrid-survival-") as folder:
        boards = _boards(options.boards)
        rows = {kind: _work(Path(folder), kind, boards, options.workers) for kind in KINDS}
    return _report(rows, options)


def _boards(count: int) -> pa.Table:
    mixes = [PRESETS[name] for name in MIX]
    return puzzles_table(game("pips"), [puzzle for puzzle, _ in generate_many(SEED, count, mixes)])


def _work(
    folder: Path, kind: str, boards: pa.Table, workers: int
) -> tuple[pa.Table, float, dict[str, str]]:
    """Work the boards in a fresh lake under one kind of disturbance."""
    settings = Settings(lake=str(folder / kind.replace(" ", "-") / "lake"), batch_processes=workers)
    lake = Lake.open(settings.lake)
    lake.write_table("puzzles/game=pips/seg-00000.parquet", boards)
    table = lake.read_table("puzzles/game=pips", PIPS_PUZZLES)
    run_id = plan_run(lake, game("pips"), table, Ask(kind="count"), Budget(), worker_count=workers)
    begun = time.monotonic()
    notes = _drive_as_program(settings, run_id, kind)
    if kind == "driver":
        # Killed half-way; the next driver finds the run as it lies in the lake.
        notes |= _drive_as_program(settings, run_id, "nothing")
    seconds = time.monotonic() - begun
    results = lake.read_table(f"results/{run_id}.parquet", RESULTS)
    return results.drop_columns(["kernel_ns", "run_id"]), seconds, notes


def _drive_as_program(settings: Settings, run_id: str, kind: str) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.survival", "--drive", run_id, kind],
        env=child_environment(settings),
        stdout=subprocess.PIPE,
        check=False,
        text=True,
    )
    expected = -signal.SIGKILL if kind == "driver" else 0
    if done.returncode != expected:
        raise SystemExit(f"{kind}: the driver ended with {done.returncode}, not {expected}")
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


def _drive(run_id: str, kind: str) -> int:
    """Drive the run with a local cluster, and strike once in its middle."""
    settings = Settings()
    lake = Lake.open(settings.lake)
    total = len(open_run(lake, run_id).chunks())
    struck: list[str] = []

    def strike(progress_done: int) -> None:
        if kind != "nothing" and not struck and progress_done >= KILL_AFTER * total:
            struck.append(kind)
            print(f"struck_at={progress_done} of {total}", flush=True)
            os.kill(_victim(settings, kind), signal.SIGKILL)

    with local_cluster(settings, roles=ROLES):
        summary = drive(
            lake,
            run_id,
            CeleryExecutor(settings),
            lambda progress: strike(progress.chunks_done),
            settings=settings,
        )
    print(f"again={summary.resubmissions}")
    print(f"resumed={summary.chunks_resumed}")
    return 0 if summary.finished else 1


def _victim(settings: Settings, kind: str) -> int:
    if kind == "driver":
        return os.getpid()
    state = supervisor_state(settings)
    if state is None:
        raise SystemExit("no supervisor runs")
    pid = int(state["processes"]["server" if kind == "server" else "batch"]["pid"])
    return _first_child(pid) if kind == "worker child" else pid


def _first_child(pid: int) -> int:
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], stdout=subprocess.PIPE, check=True, text=True
    ).stdout
    pairs = (line.split() for line in listing.splitlines())
    return min(int(child) for child, parent in pairs if int(parent) == pid)


def _report(
    rows: dict[str, tuple[pa.Table, float, dict[str, str]]], options: argparse.Namespace
) -> int:
    undisturbed = rows["nothing"][0]
    differing = {kind: _differing(undisturbed, results) for kind, (results, _, _) in rows.items()}
    section = Section(
        name="survival",
        title=f"kill -9 in the middle of a run of {options.boards:,} boards",
        command="python -m benchmarks.survival",
    )
    section.table(
        ("killed", "at chunk", "seconds", "sent again", "resumed", "rows", "differ"),
        [
            (
                kind,
                notes.get("struck_at", "-"),
                f"{seconds:.1f}",
                notes.get("again", "-"),
                notes.get("resumed", "-"),
                f"{results.num_rows:,}",
                differing[kind],
            )
            for kind, (results, seconds, notes) in rows.items()
        ],
    )
    section.say(
        f"{options.workers} worker processes; every column of the result table is compared but "
        "`kernel_ns` and `run_id`. Seconds are those of the whole run, start of the server and "
        "the workers included; `resumed` counts chunks that a second driver found done."
    )
    finish(section, to_results=options.write)
    return 1 if any(differing.values()) else 0


def _differing(expected: pa.Table, actual: pa.Table) -> int:
    compare: Callable[[pa.Table], list[dict[str, object]]] = pa.Table.to_pylist
    one, other = compare(expected), compare(actual)
    return sum(a != b for a, b in zip(one, other, strict=False)) + abs(len(one) - len(other))


if __name__ == "__main__":
    sys.exit(main())
