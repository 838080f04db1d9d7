"""Count and rank all Strands boards with one worker process and with two; what bounds the ratio.

python -m benchmarks.runs.strands_workers [--every N] [--ask "best(10)"] [--write]

First without any machinery: one process works all boards, then two side by side work half of them
each. What two take in this way, no machinery can beat on the same hardware: they share its caches
and its memory. Then `nightgrid count`, from the payloads to the results, with one worker process
and with two, each into a lake of its own; solving begins when the workers are ready.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from benchmarks.instruments.boards import published_files
from benchmarks.instruments.report import Section, add_write, finish
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS
from nightgrid.archive.words.binding import bind_game
from nightgrid.service.terminal.console import Exit
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.strands.puzzle import Puzzle

SPAWN = multiprocessing.get_context("spawn")
GOAL = 0.55


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """Processes that only solve, side by side."""

    processes: int
    wall_s: float
    """The longest of them."""
    cpu_s: float
    kernel_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """One call of `nightgrid count`."""

    processes: int
    wall_s: float
    """From the command to its end, interpreter and all."""
    solve_s: float
    """From the first chunk to the results."""
    kernel_s: float
    boards: int


def alone(files: list[Path], ask: str, processes: int) -> Alone:
    """Solve all boards in processes side by side, which begin together, warm."""
    with SPAWN.Manager() as manager, SPAWN.Pool(processes) as pool:
        ready = manager.Barrier(processes)
        shares = [(files[i::processes], ask, ready) for i in range(processes)]
        found = pool.starmap(_solve, shares)
    return Alone(
        processes=processes,
        wall_s=max(wall_s for wall_s, _, _ in found),
        cpu_s=sum(cpu_s for _, cpu_s, _ in found),
        kernel_s=sum(kernel_s for _, _, kernel_s in found),
    )


def _solve(files: list[Path], ask: str, ready: Any) -> tuple[float, float, float]:
    game = bind_game("strands")
    game.warm()
    puzzles = []
    for path in files:
        payload = json.loads(path.read_text())
        words = len(payload["themeWords"])
        puzzles.append(Puzzle(board=tuple(payload["startingBoard"]), theme_words=words))
    game.solve(puzzles[0], Ask.parse(ask))
    ready.wait()
    begun, busy = time.perf_counter(), time.process_time()
    kernel_ns = 0
    for puzzle in puzzles:
        kernel_ns += game.solve(puzzle, Ask.parse(ask)).statistics.kernel_ns
    return time.perf_counter() - begun, time.process_time() - busy, kernel_ns / 1e9


def counted(source: Path, lake: Path, ask: str, processes: int) -> Counted:
    """Call `nightgrid count` on a folder of payloads."""
    command = [
        *(
            sys.executable,
            "-m",
            "nightgrid.service.cli.app",
            "count",
            str(source),
            "--lake",
            str(lake),
        ),
        *("--game", "strands", "--ask", ask, "--workers", str(processes)),
        *("--no-prefect", "--json"),
    ]
    begun = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall_s = time.perf_counter() - begun
    if done.returncode not in (Exit.OK, Exit.LOOK):
        raise SystemExit(f"nightgrid count ended with {done.returncode}: {done.stderr[-2000:]}")
    report = json.loads(done.stdout.strip().splitlines()[-1])
    results = Lake.open(str(lake)).read_table("results", RESULTS, ["kernel_ns"])
    return Counted(
        processes=processes,
        wall_s=wall_s,
        solve_s=report["solve_seconds"],
        kernel_s=pc.sum(results.column("kernel_ns")).as_py() / 1e9,
        boards=results.num_rows,
    )


def tell(options: argparse.Namespace, apart: list[Alone], counts: list[Counted]) -> Section:
    """Write the figures of all runs."""
    every = f" --every {options.every}" if options.every > 1 else ""
    section = Section(
        name="strands-workers",
        title=f"{counts[0].boards} Strands boards, {options.ask}, two workers against one",
        command=f"python -m benchmarks.runs.strands_workers{every}",
    )
    section.say("Processes that only solve, side by side, from the first board to the last:")
    section.table(
        ("processes", "wall s", "against one", "CPU s", "kernel s"),
        [
            (
                found.processes,
                f"{found.wall_s:.1f}",
                f"{found.wall_s / apart[0].wall_s:.2f}",
                f"{found.cpu_s:.1f}",
                f"{found.kernel_s:.1f}",
            )
            for found in apart
        ],
    )
    section.say("`nightgrid count`, from the payloads to the results:")
    section.table(
        ("workers", "whole s", "against one", "solve s", "against one", "kernel s", "other s"),
        [
            (
                found.processes,
                f"{found.wall_s:.1f}",
                f"{found.wall_s / counts[0].wall_s:.2f}",
                f"{found.solve_s:.1f}",
                f"{found.solve_s / counts[0].solve_s:.2f}",
                f"{found.kernel_s:.1f}",
                f"{found.wall_s - found.solve_s:.1f}",
            )
            for found in counts
        ],
    )
    section.say(
        f"Whole: interpreter, payloads, server, workers, words, plan, solving, results. Wanted is "
        f"{GOAL} of the time of one worker."
    )
    return section


def main() -> int:
    """Measure one and two processes, alone and with everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="take every Nth board only")
    parser.add_argument("--ask", default="best(10)")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    add_write(parser)
    options = parser.parse_args()
    files = published_files("strands")[:: options.every]
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    )
    apart = [alone(files, options.ask, processes) for processes in options.processes]
    with tempfile.TemporaryDirectory(prefix="nightgrid-strands-") as place:
        source = Path(place) / "payloads"
        source.mkdir()
        for path in files:
            shutil.copyfile(path, source / path.name)
        counts = [
            counted(source, Path(place) / f"lake-{n}" / "lake", options.ask, n)
            for n in options.processes
        ]
    finish(tell(options, apart, counts), to_results=options.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
