"""Large boards on demand beside a batch: what each gets done while all of them want every worker.

`python -m benchmarks.runs.fair_queues` submits four loose boards of 26 dominoes, which become runs
of staged counts. When each of them is at work it begins a batch and submits a fifth, and counts
after a while how many chunks of each are done. It exits with 1 if nothing got done of the batch or
of the fifth, or if the batch failed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from contextlib import closing
from dataclasses import dataclass
from unittest import mock

import pyarrow as pa

from benchmarks.instruments.boards import loose_board
from benchmarks.instruments.processes import wait_for
from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.registry import game
from nightgrid.workers.cluster.local import local_cluster
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.outbox import CeleryOutbox
from nightgrid.workers.ondemand.jobs.status import status
from nightgrid.workers.ondemand.jobs.submitting import submit
from nightgrid.workers.runs.manifest import open_run
from nightgrid.workers.runs.plan import plan_pass
from nightgrid.workers.runs.plan.planner import plan_run
from nightgrid.workers.runs.run_files import done_chunks
from nightgrid.workers.settings import Settings

DOMINOES, JOBS = 26, 5
BATCH_DOMINOES, BATCH_BOARDS = 12, 17
SECONDS = 120.0
PROCESSES = 2
START_S = 300.0
COUNT = Ask(kind="count")


def chunks(lake: Lake, run_id: str | None) -> tuple[int, int]:
    """Count the chunks of a run: done, in all as far as they are known."""
    if run_id is None:
        return 0, 0
    return len(done_chunks(lake, run_id)), len(open_run(lake, run_id).chunks())


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What jobs and a batch got done beside each other."""

    rows: list[tuple[str, int, int, int]]
    """Each with the chunks that were done when the batch began, those done at the end, and those
    known. The last two are what came when all workers were at other jobs."""
    errors: list[str]
    """Why the batch failed."""

    def failures(self) -> list[str]:
        """Say what did not get on."""
        left = [name for name, before, after, _ in self.rows[-2:] if after <= before]
        return [*(f"nothing got done of {name}" for name in left), *self.errors]


def measure(lake: Lake, settings: Settings, seconds: float) -> Measured:
    """Let jobs and a batch compete."""
    pips = game("pips")
    boards = [loose_board(DOMINOES, seed) for seed in range(JOBS)]
    ids = [submit(lake, board, COUNT, settings=settings) for board in boards[:-1]]

    def done(job: str) -> int:
        return chunks(lake, status(lake, job).run_id)[0]

    wait_for(lambda: all(done(job) for job in ids), "four jobs at work", START_S)
    batch = puzzles_table(pips, [loose_board(BATCH_DOMINOES, n) for n in range(BATCH_BOARDS)])
    with mock.patch.object(plan_pass, "CHUNK_MAX_ROWS", 1):
        run_id = plan_run(lake, pips, batch, COUNT, settings.budget)
    before = [done(job) for job in ids]
    errors: list[str] = []
    driver = threading.Thread(target=_drive, args=(lake, run_id, settings, errors), daemon=True)
    driver.start()
    ids.append(submit(lake, boards[-1], COUNT, settings=settings))
    time.sleep(seconds)
    rows = [
        (f"job {number}", at, *chunks(lake, status(lake, job).run_id))
        for number, (job, at) in enumerate(zip(ids, [*before, 0], strict=True), 1)
    ]
    rows.append(("batch", 0, *chunks(lake, run_id)))
    return Measured(rows=rows, errors=list(errors))


def _drive(lake: Lake, run_id: str, settings: Settings, errors: list[str]) -> None:
    try:
        with closing(CeleryOutbox(settings)) as executor:
            drive(lake, run_id, executor, settings=settings)
    except (NightgridError, pa.ArrowException) as error:
        errors.append(f"batch: {error}")


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.fair_queues")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    add_write(parser)
    options = parser.parse_args()
    game("pips").warm()
    with tempfile.TemporaryDirectory(prefix="nightgrid-fair-") as folder:
        settings = Settings(lake=f"{folder}/lake", batch_processes=PROCESSES, games="pips")
        with local_cluster(settings):
            found = measure(Lake.open(settings.lake), settings, options.seconds)
    section = Section(
        name="fair-queues",
        title="Large boards on demand beside a batch",
        command=command_line("runs.fair_queues"),
    )
    section.table(("who", "done before", "done after", "chunks known"), found.rows)
    section.say(
        f"{PROCESSES} worker processes; four loose boards of {DOMINOES} dominoes on demand at "
        f"work, then a batch of {BATCH_BOARDS} loose boards of {BATCH_DOMINOES} dominoes, a chunk "
        f"each, and a fifth board on demand: chunks that are done {options.seconds:g} s later."
    )
    finish(section, to_results=options.write)
    failures = found.failures()
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
