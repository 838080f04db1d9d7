"""What runs of boards by the million cost: the figures of one run, and how all are told."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchmarks.instruments.report import Section

MB = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What one run cost."""

    boards: int
    kernels: tuple[tuple[float, float], tuple[float, float]]
    """Figures of all processes side by side, in the kernels, before and after the run: boards a
    second, and seconds of processor time."""
    start_s: float
    first_s: float
    """Until there was something to solve."""
    plan_s: float
    """Until all was planned, while workers were at it."""
    solve_s: float
    """From the first thing to solve to the last one solved."""
    finish_s: float
    chunks: int
    kernel_s: float
    """Seconds that workers spent in kernels, all together."""
    driver_bytes: int
    driver_cpu_s: float
    planner_bytes: int
    planner_cpu_s: float
    workers_cpu_s: float
    """Processor time of the worker's children."""
    worker_bytes: int
    redis_bytes: int
    manifest_bytes: int
    parts_bytes: int
    results_bytes: int

    @property
    def kernel_rate(self) -> float:
        """Boards a second in the kernels alone, before and after the run together."""
        return 2.0 / sum(1.0 / rate for rate, _ in self.kernels)

    @property
    def kernel_cpu_s(self) -> float:
        """Seconds of processor time that kernels alone take, on average of before and after."""
        return sum(cpu_s for _, cpu_s in self.kernels) / len(self.kernels)

    @property
    def total_s(self) -> float:
        """From the puzzles in the lake to the results in the lake."""
        return self.first_s + self.solve_s + self.finish_s

    @property
    def share(self) -> float:
        """Part of the rate that kernels alone have right before this run and right after it."""
        return self.boards / self.total_s / self.kernel_rate


def _median(runs: list[Figures]) -> Figures:
    return sorted(runs, key=lambda run: run.total_s)[len(runs) // 2]


def _shares(runs: list[Figures]) -> str:
    """Tell the median of the shares of runs: each is held against the kernels around it."""
    shares = [100 * run.share for run in runs]
    spread = f" ({min(shares):.0f}-{max(shares):.0f})" if len(runs) > 1 else ""
    return f"{np.median(shares):.1f} %{spread}"


def _further_us(smaller: Figures, larger: Figures) -> float:
    """Microseconds that each board takes by which one run has more than another."""
    return 1e6 * (larger.total_s - smaller.total_s) / (larger.boards - smaller.boards)


def _linear(runs: list[Figures]) -> str:
    """Say by how much the sizes are off what grows linearly: a fixed part, and a part a board."""
    boards, taken = np.array([f.boards for f in runs]), np.array([f.total_s for f in runs])
    # Least squares of relative errors: the small sizes weigh as much as the large ones.
    columns = np.column_stack([1.0 / taken, boards / taken])
    fixed_s, board_s = np.linalg.lstsq(columns, np.ones(len(runs)))[0]
    off = 100 * (taken / (fixed_s + boards * board_s) - 1.0)
    return (
        f" As a fixed part and a part a board: {fixed_s:.2f} s and {1e6 * board_s:.1f} us "
        f"(least squares of relative errors), from which the sizes are off by "
        f"{', '.join(f'{x:+.0f}' for x in off)} %."
    )


def tell(
    options: argparse.Namespace, seed: int, made_s: float, all_runs: list[list[Figures]]
) -> Section:
    """Write the figures of the median run of every size."""
    figures = [_median(runs) for runs in all_runs]
    shown = [
        *(["--distinct", str(options.distinct)] if options.distinct else []),
        *(["--repeat", str(options.repeat)] if options.repeat > 1 else []),
    ]
    section = Section(
        name="scale",
        title="Pips boards by the million, counted end to end",
        command=" ".join(
            ["python -m benchmarks.runs.scale --boards", *map(str, options.boards), *shown]
        ),
    )
    section.say(
        f"Boards of the published mix, seed {seed}, from the puzzles in the lake to the results in "
        f"the lake, {options.processes} worker processes. Kernels alone: as many processes side by "
        "side count the same boards, the largest first, without files or messages, before the run "
        "and after it, for the machine's speed wanders. First: until there is something to solve; "
        "the rest is planned in a process of its own meanwhile. Finish: after the last chunk."
    )
    section.table(
        ("boards", "first s", "solve s", "finish s", "all s", "of runs", "planned s", "boards/s",
         "kernels alone boards/s", "share", "us a board", "us a further board"),
        [
            (
                f"{f.boards:,}",
                f"{f.first_s:.2f}",
                f"{f.solve_s:.2f}",
                f"{f.finish_s:.2f}",
                f"{f.total_s:.2f}",
                f"{min(r.total_s for r in runs):.2f}-{max(r.total_s for r in runs):.2f}",
                f"{f.plan_s:.2f}",
                f"{f.boards / f.total_s:,.0f}",
                f"{f.kernel_rate:,.0f}",
                _shares(runs),
                f"{1e6 * f.total_s / f.boards:.1f}",
                f"{_further_us(smaller, f):.1f}" if smaller else "",
            )
            for runs, (smaller, f) in zip(all_runs, pairwise([None, *figures]), strict=True)
        ],
    )  # fmt: skip
    section.table(
        ("boards", "chunks", "kernel s", "kernels alone CPU s",
         "workers CPU s", "planner CPU s", "driver CPU s", "planner MB", "driver MB", "worker MB",
         "Redis MB", "manifest MB", "parts MB", "results MB"),
        [
            (
                f"{f.boards:,}",
                f.chunks,
                f"{f.kernel_s:.1f}",
                f"{f.kernel_cpu_s:.1f}",
                f"{f.workers_cpu_s:.1f}",
                f"{f.planner_cpu_s:.1f}",
                f"{f.driver_cpu_s:.1f}",
                f"{f.planner_bytes / MB:.0f}",
                f"{f.driver_bytes / MB:.0f}",
                f"{f.worker_bytes / MB:.0f}",
                f"{f.redis_bytes / MB:.1f}",
                f"{f.manifest_bytes / MB:.1f}",
                f"{f.parts_bytes / MB:.1f}",
                f"{f.results_bytes / MB:.1f}",
            )
            for f in figures
        ],
    )  # fmt: skip
    made = "generating them, once" + (f" ({made_s:.0f} s)" if made_s >= 1 else "")
    medians = (
        f" The median of {options.repeat} runs of every size, by their time; of runs: the fastest "
        "and the slowest. Share: the median of what each run had of the kernels' rate before and "
        "after it, and the least and the most."
        if options.repeat > 1
        else ""
    )
    again = (
        f" {options.distinct:,} boards are different; they are counted again under other names."
        if options.distinct
        else ""
    )
    section.say(
        f"Not counted: {made}, and starting server and workers "
        f"({max(f.start_s for f in figures):.1f} s at most). Memory is the peak of a run. A "
        "further board: what each costs by which a corpus is larger than the one above it."
        f"{medians}{again}{_linear(figures) if len(figures) > 2 else ''}"
    )
    return section
