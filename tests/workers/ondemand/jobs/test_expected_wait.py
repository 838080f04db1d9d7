"""A new job waits for what those before it are expected to take, as far as that is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Expected
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.ondemand.jobs import expected_wait as module
from nightgrid.workers.ondemand.jobs.expected_wait import (
    ENDED_S,
    JOB_S,
    LOOK_S,
    NOT_BEGUN_S,
    SMALL,
    ExpectedWait,
)
from nightgrid.workers.ondemand.record import BadRecordError
from nightgrid.workers.settings import Settings

SETTINGS = Settings(ondemand_seconds=10, interactive_processes=2)  # type: ignore[call-arg]

LARGE = Expected(seconds=90.0, passed=(0.0, 1.0))


class Queue:
    """A queue of so many messages, of which the first are told."""

    def __init__(self, waiting: list[str], number: int | None = None) -> None:
        self.waiting = waiting
        self.number = len(waiting) if number is None else number

    def llen(self, _: str) -> int:
        return self.number


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.open(str(tmp_path / "lake"))


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch, lake: Lake) -> ExpectedWait:
    def told(client: Any, *_: Any) -> list[str]:
        if client.number < 0:
            raise redis.ConnectionError("away")
        return client.waiting

    monkeypatch.setattr(module, "waiting_in_order", told)
    made = ExpectedWait(Queue([]), lake, SETTINGS)  # type: ignore[arg-type]
    made.note("small", Expected(seconds=0.1))
    made.note("long", Expected(seconds=1000.0))
    made.note("large", LARGE)
    return made


@pytest.mark.parametrize(
    ("waiting", "number", "expected_s"),
    [
        ([], None, 0.0),
        (["small"] * 20, None, 20 * (0.1 + JOB_S) / 2),
        (["long"], None, 10 / 2),
        (["large"] * 9, None, 9 * JOB_S / 2),
        (["unknown", "long/share"], None, 5 / 2),
        (["small"] * 10, 1000, 1000 * (0.1 + JOB_S) / 2),
        (["long"], -1, 0.0),
    ],
)
def test_a_wait_is_what_those_before_are_expected_to_take(
    waits: ExpectedWait, waiting: list[str], number: int | None, expected_s: float
) -> None:
    waits._client = Queue(waiting, number)  # type: ignore[assignment]
    assert waits.wait_s(SMALL) == pytest.approx(expected_s)


def test_a_large_job_is_delayed_by_the_runs_of_others(
    waits: ExpectedWait, monkeypatch: pytest.MonkeyPatch
) -> None:
    huge = Expected(seconds=9e6, passed=(0.0, 1.0))
    waits.note("huge", huge)
    monkeypatch.setattr(module, "list_jobs", lambda _: ["small", "large", "huge"])
    processes = SETTINGS.batch_processes
    assert waits.wait_s(LARGE) == pytest.approx(2 * 90 / processes)
    # A job ends over budget after so many seconds.
    most_s = SETTINGS.ondemand_total_seconds
    assert waits.wait_s(huge) == pytest.approx((90 + most_s) / processes)
    assert waits.wait_s(SMALL) == 0


@pytest.mark.parametrize("seconds", [4.0, 10.0])
def test_a_job_whose_budget_one_task_spends_counts_as_that_task(
    waits: ExpectedWait, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    # A worker makes no run of it, however long it is expected to take.
    budget = replace(SETTINGS.budget, seconds=seconds)
    waits.note("short", LARGE, budget)
    monkeypatch.setattr(module, "list_jobs", lambda _: ["large", "short"])
    waits._client = Queue(["short"] * 6)  # type: ignore[assignment]
    assert waits.wait_s(SMALL) == pytest.approx(6 * seconds / 2)
    own_s = waits.wait_s(LARGE, budget)
    assert own_s == pytest.approx(6 * seconds / 2), "it does not wait for runs"
    longer_s = waits.wait_s(LARGE) - own_s
    assert longer_s == pytest.approx(90 / SETTINGS.batch_processes)


def test_a_job_has_the_larger_budget_of_two_clients(waits: ExpectedWait) -> None:
    waits.note("large", LARGE, replace(SETTINGS.budget, seconds=5.0))
    waits._client = Queue(["large"])  # type: ignore[assignment]
    assert waits.wait_s(SMALL) == pytest.approx(JOB_S / 2)


def test_jobs_after_a_look_count_as_if_they_were_seen(
    waits: ExpectedWait, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = waits.look()
    assert look.is_idle
    for expected in (LARGE, Expected(seconds=0.1), Expected(seconds=1000.0)):
        look = waits.with_job(look, expected)
    monkeypatch.setattr(module, "list_jobs", lambda _: ["large", "small", "long"])
    waits._client = Queue(["large", "small", "long"])  # type: ignore[assignment]
    assert not look.is_idle
    for each in (LARGE, SMALL):
        assert waits.wait_s(each, look=look) == pytest.approx(
            waits.wait_s(each, look=waits._look())
        )


def test_without_a_server_the_open_jobs_of_the_lake_count(
    waits: ExpectedWait, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits._client = Queue([], -1)  # type: ignore[assignment]
    monkeypatch.setattr(module, "list_jobs", lambda _: ["small", "long", "large", "unknown"])
    assert waits.wait_s(SMALL) == pytest.approx((0.1 + JOB_S + 10 + 5) / 2)


def test_a_look_reads_few_records_and_the_next_one_others(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, read, begun = [0.0], list[str](), set[str]()
    jobs = [f"{number}" for number in range(250)]

    def read_record(_: Lake, job: str) -> Any:
        read.append(job)
        worker = "w" if job in begun else None
        return SimpleNamespace(
            worker=worker, expected=LARGE, budget=SimpleNamespace(part=SETTINGS.budget)
        )

    monkeypatch.setattr(module, "waiting_in_order", lambda *_: [])
    monkeypatch.setattr(module, "list_jobs", lambda _: jobs)
    monkeypatch.setattr(module, "read_record", read_record)
    waits = ExpectedWait(Queue([]), lake, SETTINGS, lambda: now[0])  # type: ignore[arg-type]
    counts = []
    for _ in range(4):
        waits._look()
        counts.append(len(read))
        now[0] += LOOK_S
    assert counts == [100, 200, 250, 250], "it is kept that none has begun"
    assert sorted(read) == sorted(jobs)
    now[0] = NOT_BEGUN_S
    begun.add(jobs[0])
    assert waits._look().large_s == (LARGE.seconds,)
    assert read[250:] == jobs[:100]
    now[0] += NOT_BEGUN_S
    waits._look()
    assert read[350:] == jobs[100:200], "those that were not read for longest come first"
    assert jobs[0] not in waits._read_at


def test_what_was_noted_of_a_job_goes_when_it_has_ended(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, jobs = [0.0], ["open"]
    monkeypatch.setattr(module, "waiting_in_order", lambda client, *_: client.waiting)
    monkeypatch.setattr(module, "list_jobs", lambda _: jobs)
    queue = Queue(["cancelled"])
    waits = ExpectedWait(queue, lake, SETTINGS, lambda: now[0])  # type: ignore[arg-type]
    for job in ("open", "ended", "cancelled"):
        waits.note(job, LARGE)
    now[0] = ENDED_S
    waits.note("late", LARGE)
    waits._look()
    assert "ended" in waits._noted, "its record may be about to be written"
    now[0] += 0.5
    queue.number = 2
    waits._look()
    assert "ended" in waits._noted, "it may be what the other message is about"
    queue.number = 1
    look = waits._look()
    assert look.large_s == (LARGE.seconds,)
    assert look.queue_s == JOB_S, "the message of a job that was cancelled counts as noted"
    kept = {job for job in ("open", "ended", "cancelled", "late") if job in waits._noted}
    assert kept == {"open", "cancelled", "late"}

    def fails(failure: Exception) -> Callable[..., list[str]]:
        def look(*_: Any) -> list[str]:
            raise failure

        return look

    now[0] += ENDED_S + 1
    for name, failure in (
        ("list_jobs", TransientError("the lake does not answer")),
        ("waiting_in_order", redis.ConnectionError("away")),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, fails(failure))
            waits._look()
        assert "late" in waits._noted, "what is open, or waits, is not known"


def test_what_is_noted_of_open_jobs_stays_longest(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = ["first", "second"]
    monkeypatch.setattr(module, "NOTED_MAX", 10)
    monkeypatch.setattr(module, "waiting_in_order", lambda *_: [])
    monkeypatch.setattr(module, "list_jobs", lambda _: jobs)
    waits = ExpectedWait(Queue([]), lake, SETTINGS)  # type: ignore[arg-type]
    for job in (*jobs, *map(str, range(8))):
        waits.note(job, SMALL)
    waits._look()
    for job in ("ninth", "tenth"):
        waits.note(job, SMALL)
    assert all(job in waits._noted for job in jobs)


def test_a_record_that_is_none_is_not_read_in_each_look(
    waits: ExpectedWait, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []

    def read_record(_: Lake, job: str) -> Any:
        read.append(job)
        raise BadRecordError("a value is none")

    monkeypatch.setattr(module, "list_jobs", lambda _: ["damaged"])
    monkeypatch.setattr(module, "read_record", read_record)
    waits._look()
    waits._look()
    assert read == ["damaged"]
