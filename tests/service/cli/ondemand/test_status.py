"""`nightgrid status`: the queue and its workers."""

from __future__ import annotations

from typing import Any

import pytest

from nightgrid.service.cli.ondemand.status import _job_text, _queue
from nightgrid.workers.ondemand.status import JobStatus


class Remote:
    """A service with a given queue."""

    def __init__(self, queue: dict[str, Any]) -> None:
        self.queue = lambda: queue


@pytest.mark.parametrize(
    ("queue", "told"),
    [
        ({"state": "starting", "answers": True, "workers": []}, "workers are starting"),
        ({"state": "none", "answers": True, "workers": []}, "0 workers"),
        (
            {"state": "up", "answers": True, "workers": [{"name": "a", "refusing": None}]},
            "1 worker",
        ),
        ({"state": "starting", "answers": False, "workers": []}, "no server"),
    ],
)
def test_workers_that_are_not_ready_are_starting(queue: dict[str, Any], told: str) -> None:
    jobs = Remote({"oldest_s": None, "waiting": 2, "running": 0} | queue)
    assert _queue(jobs)[1] == f"2 queued, 0 working; {told}"


def test_workers_that_cannot_work_are_named_with_their_reason() -> None:
    workers = [{"name": "a", "refusing": "no words"}, {"name": "b", "refusing": None}]
    queue = {"state": "up", "answers": True, "workers": workers, "oldest_s": None}
    told = {"waiting": 1, "running": 0}
    text = _queue(Remote(queue | told))[1]
    assert text.splitlines()[1:] == ["a cannot work: no words"]


def test_what_is_left_of_a_job_has_a_unit_that_fits() -> None:
    run = JobStatus(job_id="0" * 32, state="working", chunks_done=1, chunks_total=3, left_s=5e13)
    assert _job_text(run).endswith("1 of 3 chunks, 1,584,404 years of a core left")
