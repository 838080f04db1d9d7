"""A driver as a program that can be killed: `python -m benchmarks.chaos.processes.driver RUN`.

Prints a line of JSON about how it ended. With NIGHTGRID_CHAOS_MUTE in its environment it never
sends a chunk again of its own accord: what is lost only Redis hands out again.
"""

from __future__ import annotations

import json
import os
import sys

from benchmarks.chaos.processes import inject as chaos_inject  # noqa: F401 - its faults are this process's, too
from nightgrid.archive.lake.storage import Lake
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import CeleryOutbox, Place, Worker
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.settings import Settings


class _Mute(CeleryOutbox):
    """Never tells what became of messages and workers, so that the driver sends nothing again."""

    def place(self, ref: ChunkRef, sent_at: float) -> Place:  # noqa: ARG002
        return Place.UNKNOWN

    def worker(self, name: str) -> Worker:  # noqa: ARG002
        return Worker.LIVES


def main() -> int:
    """Drive one run with the workers that live."""
    settings = Settings()
    # The times of chunk results are read when the run has ended.
    Lake.empty_folder = lambda *_, **__: None  # type: ignore[method-assign]
    mute = "NIGHTGRID_CHAOS_MUTE" in os.environ
    outbox = (_Mute if mute else CeleryOutbox)(settings)
    summary = drive(Lake.open(settings.lake), sys.argv[1], outbox, settings=settings)
    outbox.close()
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
