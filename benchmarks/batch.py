"""Count generated boards by the hundred thousand: in the kernel call, and end to end.

`python -m benchmarks.batch`: boards of the published mix (easy, medium and hard in turn). The
kernel call gets all of them column-wise on one core; end to end means planned, cut into chunks,
sent through Redis and Celery to worker processes, solved, and written to the lake as results.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa

from archive.columns import arrays_of
from archive.lake import Lake
from archive.puzzles import puzzles_table
from archive.runs import plan_run
from archive.tables import PIPS_PUZZLES, RESULTS
from benchmarks.report import Section, finish
from solvers.algebra import STATUS_CODES, Ask, Budget
from solvers.pips.generator import generate_many
from solvers.pips.mix import LEVELS, PRESETS
from solvers.pips.puzzle import REGION_TYPES
from solvers.registry import game
from workers.driver import RunSummary, drive
from workers.executors import CeleryExecutor
from workers.settings import Settings
from workers.supervisor import local_cluster

COUNT = Ask(kind="count")
BOARDS = 100_000
SEED = 1
REPEATS = 3
ROLES = ("server", "batch")


def generate_table(boards: int, seed: int) -> tuple[pa.Table, float]:
    """Generate boards of the published mix; return their table and the seconds it took."""
    begun = time.perf_counter()
    mixes = [PRESETS[level] for level in LEVELS]
    parts = []
    for start in range(0, boards, 10_000):
        size = min(10_000, boards - start)
        drawn = generate_many(seed, size, mixes, start)
        parts.append(puzzles_table(game("pips"), [puzzle for puzzle, _ in drawn]))
    return pa.concat_tables(parts), time.perf_counter() - begun


def describe_mix(section: Section, table: pa.Table) -> None:
    """Say what boards these are."""
    kinds_of_regions = [chunk.flatten() for chunk in table.column("region_type").chunks]
    codes = Counter(pa.concat_arrays(kinds_of_regions).to_pylist())
    regions = sum(codes.values())
    sizes = table.column("size").to_numpy()
    kinds = ", ".join(
        f"{kind} {100 * codes[code] / regions:.1f} %" for code, kind in enumerate(REGION_TYPES)
    )
    section.say(
        f"{table.num_rows:,} boards, one third of each preset of the generator (easy, medium, "
        f"hard: sizes, region kinds and region sizes as often as on the 88 published days), "
        f"seed {SEED}: {sizes.min()}-{sizes.max()} dominoes, {sizes.mean():.1f} on average; "
        f"{regions / table.num_rows:.1f} regions a board: {kinds}."
    )


def in_the_kernel(table: pa.Table, repeats: int) -> list[tuple[object, ...]]:
    """Time solve_batch over all rows, by level and over everything; best of the repeats."""
    pips = game("pips")
    pips.warm()
    rows: list[tuple[object, ...]] = []
    for name, step in (*((level, i) for i, level in enumerate(LEVELS)), ("all", None)):
        part = table if step is None else table.take(np.arange(step, table.num_rows, len(LEVELS)))
        arrays = arrays_of(part)
        walls, processor = [], []
        for _ in range(repeats):
            begun, busy = time.perf_counter(), time.process_time()
            columns = pips.solve_batch(arrays, COUNT, Budget())
            walls.append(time.perf_counter() - begun)
            processor.append(time.process_time() - busy)
        statuses = Counter(STATUS_CODES[code] for code in columns["status"].tolist())
        assert set(statuses) == {"solved"}, statuses
        kernel_ns = columns["kernel_ns"]
        rows.append(
            (
                name,
                f"{part.num_rows:,}",
                f"{min(walls):.2f}",
                f"{part.num_rows / min(walls):,.0f}",
                f"{part.num_rows / min(processor):,.0f}",
                f"{columns['states'].mean():,.0f}",
                f"{np.percentile(kernel_ns, 50) / 1e3:,.0f}",
                f"{np.percentile(kernel_ns, 99) / 1e3:,.0f}",
                f"{kernel_ns.max() / 1e6:,.1f}",
            )
        )
    return rows


def end_to_end(table: pa.Table, processes: int) -> tuple[RunSummary, dict[str, float], int]:
    """Plan, distribute, solve and write; return the summary and the seconds of each stage."""
    with tempfile.TemporaryDirectory(prefix="nightgrid-batch-") as folder:
        settings = Settings(lake=str(Path(folder) / "lake"), batch_processes=processes)
        lake = Lake.open(settings.lake)
        lake.write_table("puzzles/game=pips/seg-00000.parquet", table)
        marks = [time.perf_counter()]
        with local_cluster(settings, roles=ROLES):
            marks.append(time.perf_counter())
            puzzles = lake.read_table("puzzles/game=pips", PIPS_PUZZLES)
            run_id = plan_run(
                lake, game("pips"), puzzles, COUNT, settings.budget, worker_count=processes
            )
            marks.append(time.perf_counter())
            summary = drive(lake, run_id, CeleryExecutor(settings), settings=settings)
            marks.append(time.perf_counter())
        results = lake.read_table(f"results/{run_id}.parquet", RESULTS)
        assert summary.finished
        assert results.num_rows == summary.job_count
        assert set(summary.statuses) == {"solved"}, summary.statuses
        stages = dict(zip(("start", "plan", "drive"), np.diff(marks).tolist(), strict=True))
        return summary, stages, results.num_rows


def run(options: argparse.Namespace) -> None:
    section = Section(
        name="batch",
        title=f"{options.boards:,} generated boards of the published mix",
        command=options.command,
    )
    table, generated_s = generate_table(options.boards, options.seed)
    describe_mix(section, table)
    section.say("In one kernel call, on one core, warm:")
    section.table(
        (
            "level",
            "boards",
            "s",
            "boards/s",
            "boards/s of processor time",
            "states a board",
            "p50 us",
            "p99 us",
            "max ms",
        ),
        in_the_kernel(table, options.repeats),
    )
    if options.end_to_end:
        summary, stages, rows = end_to_end(table, options.processes)
        taken = stages["plan"] + stages["drive"]
        section.say(
            f"End to end through Celery into Parquet, {options.processes} worker processes:"
        )
        section.table(
            ("boards", "chunks", "plan s", "drive s", "boards/s", "kernel s"),
            [
                (
                    f"{rows:,}",
                    summary.chunks_total,
                    f"{stages['plan']:.2f}",
                    f"{stages['drive']:.2f}",
                    f"{rows / taken:,.0f}",
                    f"{summary.kernel_ns / 1e9:.2f}",
                )
            ],
        )
        section.say(
            f"From the puzzles table in the lake to the results table in the lake. Not counted: "
            f"generating the boards ({generated_s:.1f} s) and starting server and workers "
            f"({stages['start']:.1f} s). Boards that are equal are one job."
        )
    finish(section, to_results=options.write)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--boards", type=int, default=BOARDS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--no-end-to-end", dest="end_to_end", action="store_false")


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main("batch")
