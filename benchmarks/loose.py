"""Count loose boards of more and more dominoes until the table budget ends.

`python -m benchmarks.loose`: each board in a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
from dataclasses import replace
from typing import Any

from benchmarks.report import Section, finish
from solvers.algebra import Ask, Budget, Status
from solvers.pips.generator import generate
from solvers.pips.mix import LOOSE
from solvers.registry import game

SIZES = (16, 18, 20, 22, 24, 26, 28)
ROWS = 4
SEEDS = 2
TABLE_BYTES = 4 * 1024**3
SECONDS = 600.0


def measure(task: tuple[int, int, int, float]) -> dict[str, Any]:
    """Count one board. `task` is dominoes, seed, table bytes, seconds."""
    size, seed, table_bytes, most_s = task
    pips = game("pips")
    pips.warm()
    mix = replace(LOOSE, dominoes=((size, 1.0),), rows=ROWS, cols=2 * size // ROWS)
    puzzle, _ = generate(mix, seed)
    outcome = pips.solve(
        puzzle,
        Ask(kind="count"),
        None,
        Budget(nodes=10**15, table_bytes=table_bytes, seconds=most_s),
    )
    return {
        "outcome": outcome,
        "board": f"{ROWS} x {2 * size // ROWS}",
        "peak": _peak_bytes(),
    }


def _peak_bytes() -> int:
    """Peak resident memory; Linux counts in KiB, macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def run(options: argparse.Namespace) -> None:
    section = Section(
        name="loose",
        title="Loose boards, one core, until the table budget ends",
        command=options.command,
    )
    tasks = [
        (size, seed, int(options.table_gb * 1024**3), options.seconds)
        for size in options.sizes
        for seed in range(options.seeds)
    ]
    rows: list[tuple[object, ...]] = []
    # One process at a time, a new one for every board.
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for task, found in zip(tasks, pool.imap(measure, tasks), strict=True):
            size, seed = task[:2]
            rows.append(_row(size, seed, found))
            print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    section.table(
        (
            "board",
            "dominoes",
            "seed",
            "status",
            "solutions",
            "states",
            "states/s",
            "table bytes/state",
            "table GB",
            "peak memory GB",
            "s",
        ),
        rows,
    )
    section.say(
        f"Boards of the generator's mix `LOOSE` (few and wide constraints, 15 % of the cells "
        f"free), {ROWS} rows; budget {options.table_gb:g} GB of table and "
        f"{options.seconds:g} s. Peak memory is the whole process's, Python and Numba included. "
        f"Reasons: {'; '.join(sorted({r[-1] for r in _REASONS})) or 'none'}."
    )
    finish(section, to_results=options.write)


_REASONS: list[tuple[str]] = []


def _row(size: int, seed: int, found: dict[str, Any]) -> tuple[object, ...]:
    outcome = found["outcome"]
    cost = outcome.statistics
    if outcome.status is Status.OVER_BUDGET:
        _REASONS.append((outcome.reason,))
    taken = cost.kernel_ns / 1e9
    return (
        found["board"],
        size,
        seed,
        str(outcome.status),
        "" if outcome.count is None else f"{outcome.count:.3e}",
        f"{cost.states:,}",
        f"{cost.states / max(taken, 1e-9):,.0f}",
        f"{cost.table_bytes / max(cost.states, 1):.1f}",
        f"{cost.table_bytes / 1024**3:.2f}",
        f"{found['peak'] / 1024**3:.2f}",
        f"{taken:,.2f}",
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="DOMINOES")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="boards of each size")
    parser.add_argument("--table-gb", type=float, default=TABLE_BYTES / 1024**3)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="most for one board")


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main("loose")
