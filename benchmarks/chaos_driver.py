"""A driver as a program of its own, to be killed: `python -m benchmarks.chaos_driver RUN`.

Prints a line of JSON about how it ended.
"""

from __future__ import annotations

import json
import sys

from archive.lake import Lake
from benchmarks import chaos_inject  # noqa: F401 - its faults are this process's, too
from workers.driver import drive
from workers.executors import CeleryExecutor
from workers.settings import Settings


def main() -> int:
    """Drive one run with the workers that live."""
    settings = Settings()
    executor = CeleryExecutor(settings)
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
