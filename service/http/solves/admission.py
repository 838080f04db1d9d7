"""Whether another job is taken: not while those before it would keep it waiting too long."""

from __future__ import annotations

import math

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.problems import Problem
from nightgrid.workers.caches import Cached
from nightgrid.workers.driver.progress import clock_time
from nightgrid.workers.ondemand.submissions import OpenJobs, open_jobs
from nightgrid.workers.settings import Settings

LOOK_S = 0.5
"""How long a look at the open jobs counts."""
JOB_S = 0.05
"""What a job costs besides its solve: its files and messages."""


class Admission:
    """Refuses jobs that would wait too long. One for a service; any thread may use it."""

    def __init__(self, lake: Lake, settings: Settings) -> None:
        self._settings = settings
        self._open: Cached[OpenJobs] = Cached(lambda: open_jobs(lake), LOOK_S)

    def check(self, job_id: str, expected_s: float) -> None:
        """Raise Problem where a job that is expected to take so long would wait too long.

        Small jobs wait for small ones, large jobs for large ones: what these are expected to take,
        divided by the processes that work them. A job that is open already is no further one.
        """
        settings, wanted = self._settings, self._open.get().wanted
        is_small = expected_s <= settings.ondemand_seconds
        before_s = [
            min(job.submissions[-1].expected_s + JOB_S, settings.ondemand_total_seconds)
            for job in wanted.values()
            if (job.submissions[-1].expected_s <= settings.ondemand_seconds) is is_small
        ]
        wait_s = sum(before_s) / (
            settings.interactive_processes if is_small else settings.batch_processes
        )
        most_s = settings.ondemand_wait_seconds
        if wait_s <= most_s or job_id in wanted:
            return
        raise Problem(
            "queue-full",
            f"a new job would wait about {clock_time(wait_s)} for the jobs that come first; "
            f"expected at most {clock_time(most_s)}",
            headers={"Retry-After": str(max(1, math.ceil(wait_s - most_s)))},
        )
