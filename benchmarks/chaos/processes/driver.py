"""A driver as a program that can be killed: `python -m benchmarks.chaos.processes.driver RUN`.

Prints a line of JSON about how it ended. With NIGHTGRID_CHAOS_MUTE in its environment it never
sends a chunk again of its own accord: what is lost only Redis hands out again.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

from benchmarks.chaos.processes import inject as chaos_inject  # noqa: F401 - its faults are this process's, too
from nightgrid.archive.lake.storage import Lake
from nightgrid.workers.driver import collector
from nightgrid.workers.driver.chunk_records import Flight
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.executors import CeleryExecutor, MessageStatus
from nightgrid.workers.runs.finishing import gathering
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.settings import Settings


class _Mute(CeleryExecutor):
    """Never tells what became of messages and workers, so that the driver sends nothing again."""

    def status(self, flights: Sequence[Flight]) -> dict[ChunkRef, MessageStatus]:
        super().status(flights)
        return {}


def main() -> int:
    """Drive one run with the workers that live."""
    settings = Settings()
    # A short run shall take answers in on its way, as a long one does, and read some parts again.
    gathering.BATCH_CHUNKS, collector.HELD_PARTS = 4, 2
    mute = "NIGHTGRID_CHAOS_MUTE" in os.environ
    executor = (_Mute if mute else CeleryExecutor)(settings)
    summary = drive(Lake.open(settings.lake), sys.argv[1], executor, settings=settings)
    executor.close()
    print(
        json.dumps(
            {
                "finished": summary.finished,
                "failures": summary.failures,
                "resubmissions": summary.resubmissions,
            }
        )
    )
    return 0 if summary.finished else 1


if __name__ == "__main__":
    sys.exit(main())
