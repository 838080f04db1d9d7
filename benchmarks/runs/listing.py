"""List every solution of a published board through Celery, into files of the lake.

    python -m benchmarks.runs.listing [--night] --write

The board is asked on demand, or with `--night` by a night over its payload. It is Pips, 2025-09-15,
hard: 2,764,800 solutions. Workers, submitter and reader are the commands that a user runs. The
files are compared with what the game lists in one process; exits with 1 if they differ, or if the
board is not solved.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.instruments.boards import archive_folder
from benchmarks.instruments.processes import children_of, cpu_seconds, peak_bytes, wait_for
from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.archive.games import reader
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import PARTS, RESULTS
from nightgrid.archive.results.solution_files import files_of, texts_in
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.registry import game
from nightgrid.workers.ondemand.jobs.results import result_row

LOOK_SECONDS = 0.5
READY_SECONDS = 300.0
ALL = Ask(kind="all")


def nightgrid(folder: Path, *words: str) -> list[str]:
    """Write a command on the lake in a folder."""
    command = [sys.executable, "-m", "nightgrid.service.cli.app", *words]
    return [*command, "--lake", str(folder / "lake")]


def told(folder: Path, *words: str) -> dict[str, Any]:
    """Run a command and read the last line that it prints as JSON."""
    done = subprocess.run(
        nightgrid(folder, *words, "--json"), capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    if not lines:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def descendants(pid: int) -> list[int]:
    """List the processes below one."""
    children = children_of(pid)
    return [*children, *(found for child in children for found in descendants(child))]


def listed(options: argparse.Namespace, folder: Path, payload: Path) -> dict[str, Any]:
    """List the board on real workers; return what it took."""
    begin = nightgrid(folder, "worker", "--processes", str(options.processes))
    with subprocess.Popen(begin, cwd=folder, stderr=subprocess.DEVNULL) as worker:
        try:
            wait_for((folder / "lake").exists, "the lake", READY_SECONDS)
            wait_for(
                lambda: (told(folder, "status").get("workers") or 0) >= 2,
                "the workers",
                READY_SECONDS,
            )
            cpu = sum(map(cpu_seconds, descendants(worker.pid)))
            began = time.perf_counter()
            job = told(folder, "submit", str(payload), "--level", "hard", "--ask", "all")["job_id"]
            peak = 0
            while told(folder, "status", job)["state"] != "done":
                peak = max([peak, *map(peak_bytes, descendants(worker.pid))])
                time.sleep(LOOK_SECONDS)
            wall = time.perf_counter() - began
            cpu = sum(map(cpu_seconds, descendants(worker.pid))) - cpu
        finally:
            worker.terminate()
            worker.wait()
    return {"job_id": job, "wall": wall, "cpu": cpu, "peak": peak}


def listed_by_night(options: argparse.Namespace, folder: Path, payload: Path) -> dict[str, Any]:
    """List the boards of the payload's day in a night; return what it took."""
    source = folder / "source"
    source.mkdir()
    (source / payload.name).symlink_to(payload)
    words = ("nightly", "--source", str(source), "--ask", "all", "--no-prefect", "--workers")
    command = nightgrid(folder, *words, str(options.processes))
    began = time.perf_counter()
    peak, cpu = 0, 0.0
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as night:
        while night.poll() is None:
            with contextlib.suppress(OSError):
                below = descendants(night.pid)
                peak = max([peak, *map(peak_bytes, below)])
                # The processes end with the night: what they took is what was seen last.
                cpu = max(cpu, sum(map(cpu_seconds, below)))
            time.sleep(LOOK_SECONDS)
    wall = time.perf_counter() - began
    rows = Lake.open(str(folder / "lake")).read_table("results", RESULTS).to_pylist()
    job = max(rows, key=lambda row: row["count"] or 0)["job_id"]
    return {"job_id": job, "wall": wall, "cpu": cpu, "peak": peak}


def main() -> int:
    """List the board, compare the files, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.listing", description=__doc__)
    parser.add_argument("--payload", default="2025-09-15", help="date of the board")
    parser.add_argument("--processes", type=int, default=2, help="batch processes")
    parser.add_argument("--night", action="store_true", help="list it in a night")
    add_write(parser)
    options = parser.parse_args()
    payload = archive_folder() / "pips" / f"{options.payload}.json"
    if not payload.exists():
        sys.exit(f"{payload} is not there; expected NIGHTGRID_ARCHIVE to name a folder that has it")
    boards = reader("pips").read_puzzles(payload.read_bytes(), payload.name)
    puzzle = next(board.puzzle for board in boards if board.level == "hard")
    with tempfile.TemporaryDirectory(prefix="nightgrid-listing-") as name:
        folder = Path(name)
        found = (listed_by_night if options.night else listed)(options, folder, payload)
        print(found, file=sys.stderr, flush=True)
        lake = Lake.open(str(folder / "lake"))
        row = result_row(lake, found["job_id"])
        assert row is not None
        files = files_of(lake, row["run_id"], found["job_id"], row["count"])
        same = _digest(texts_in(lake, files)) == _digest(
            map(game("pips").solution_text, game("pips").stream(puzzle, ALL))
        )
        parts = lake.read_table(f"runs/run={row['run_id']}/parts", PARTS).to_pylist()
        kernel_s = max(part["kernel_ns"] for part in parts) / 1e9
        stored = sum((folder / "lake" / file.path).stat().st_size for file in files)
    way = "in a night" if options.night else "on demand"
    section = Section(
        name="listing-night" if options.night else "listing",
        title=f"All solutions of one published board, {way} on {options.processes} processes",
        command=command_line("runs.listing"),
    )
    section.table(
        ("board", "status", "solutions", "wall s", "CPU s", "longest part, kernel s", "parts",
         "files", "MB", "peak memory MB", "as listed whole"),
        [
            (
                f"Pips {options.payload} hard", row["status"], f"{row['count']:,}",
                f"{found['wall']:.1f}", f"{found['cpu']:.1f}", f"{kernel_s:.2f}", len(parts),
                len(files), f"{stored / 1e6:.1f}", f"{found['peak'] / 2**20:.0f}",
                "yes" if same else "NO",
            )
        ],
    )  # fmt: skip
    begin = (
        "From the start of `nightgrid nightly` to its end, server, workers and the other two "
        "boards of the day included. "
        if options.night
        else "From `nightgrid submit` to the result in the lake. "
    )
    section.say(
        f"{begin}Peak memory is that of the largest process of the workers, kernels included."
    )
    finish(section, to_results=options.write)
    return 0 if same and row["status"] == "solved" else 1


def _digest(texts: Any) -> str:
    found = hashlib.sha256()
    for text in texts:
        found.update(text.encode())
        found.update(b"\n")
    return found.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
