"""Runs of large on-demand jobs are driven side by side, in turn, and within the jobs' budgets."""

import time
from collections import Counter, deque
from contextlib import closing

import pytest
import toy_game as toy
import toy_layers

from nightgrid.workers.broker.notices.announcements import Announcement
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.driver.driver import AllRefuseError, Driver, drive
from nightgrid.workers.driver.outbox import CeleryOutbox, InlineOutbox
from nightgrid.workers.ondemand import run_drivers as driving
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.jobs.status import status
from nightgrid.workers.ondemand.jobs.submitting import submit
from nightgrid.workers.ondemand.record_files import open_records
from nightgrid.workers.ondemand.run_drivers import RunDrivers, WantedRun
from nightgrid.workers.ondemand.task.solving import solve_message
from nightgrid.workers.runs.staged.frontier import frontier_folder
from tests.workers.conftest import COUNT, plan, quick_settings
from tests.workers.ondemand.conftest import look_until

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

LAYERED = toy.ToyPuzzle(number=21, behaviour=toy.LAYERED)


def wait_until(done):
    deadline = time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_every_run_gets_a_turn_however_many_there_are(lake, settings, monkeypatch):
    """Given runs that never end, When more are wanted than are driven at once, Then all are."""
    driven = Counter()

    def for_ever(_lake, run_id, *_, stopping, **__):
        driven[run_id] += 1
        stopping.wait(60)

    monkeypatch.setattr(driving, "drive", for_ever)
    monkeypatch.setattr(driving, "RUNS_AT_ONCE", 4)
    monkeypatch.setattr(driving, "TURN_SECONDS", 0.0)
    drivers, wanted = RunDrivers(lake, settings), [f"run-{i}" for i in range(9)]

    def all_had(times):
        drivers.give_turns([WantedRun(run_id, JobBudget.of(settings), 0.0) for run_id in wanted])
        assert len(drivers) <= 4
        return len(driven) == 9 and min(driven.values()) >= times

    wait_until(lambda: all_had(3))
    assert max(driven.values()) - min(driven.values()) <= 2
    wait_until(lambda: drivers.give_turns([]) or not len(drivers))


def test_a_run_that_is_cancelled_and_asked_again_gets_another_driver(lake, settings, monkeypatch):
    """Given a driver that has not seen the cancel, Then it waits for nothing that was given up."""
    stops = []

    def for_ever(*_, stopping, **__):
        stops.append(stopping)
        stopping.wait(60)

    monkeypatch.setattr(driving, "drive", for_ever)
    drivers = RunDrivers(lake, settings)

    def give_turn(submitted_at):
        drivers.give_turns([WantedRun("run", JobBudget.of(settings), submitted_at)])
        return len(stops)

    wait_until(lambda: give_turn(1.0) == 1)
    give_turn(1.0)
    assert not stops[0].is_set()
    wait_until(lambda: give_turn(2.0) == 2)
    assert [stop.is_set() for stop in stops] == [True, False]
    wait_until(lambda: drivers.give_turns([]) or not len(drivers))


class OneQueue(InlineOutbox):
    """Sends the chunks of several runs to one queue, as the keeper does."""

    def __init__(self, lake, settings, queue, window):
        super().__init__(lake, settings)
        self._waiting, self.most = queue, window

    def window(self, queue):
        return self.most


def test_runs_that_share_the_queue_go_on_alike(lake, tmp_path, monkeypatch):
    """Given four large runs at work, When a fifth comes, Then it gets every fifth chunk."""
    settings = quick_settings(tmp_path, window_chunks=8, reconcile_seconds=60)
    monkeypatch.setattr("nightgrid.workers.runs.plan.plan_pass.CHUNK_MAX_ROWS", 1)
    runs = [plan(lake, toy.boards(40, start=100 * i)) for i in range(5)]
    queue, done = deque(), Counter()

    def shared(count):
        with closing(CeleryOutbox(settings, runs=lambda: count)) as outbox:
            return outbox.window("batch")

    assert [shared(count) for count in (0, 1, 4, 5, 100)] == [8, 8, 2, 2, 1]

    def driver(run_id, count):
        return Driver(lake, run_id, OneQueue(lake, settings, queue, shared(count)), settings)

    def work(drivers, chunks):
        for _ in range(chunks):
            for one in drivers:
                one.step()
            ref = queue.popleft()
            solve_chunk(lake, ref, settings, "w")
            done[ref.run_id] += 1
            for one in drivers:
                one.hear(Announcement(event="done", ref=ref))

    work([driver(run_id, 4) for run_id in runs[:4]], 40)
    assert set(done.values()) == {10}
    queue.clear()
    done.clear()
    work([driver(run_id, 5) for run_id in runs], 50)
    assert set(done.values()) == {10}


def over_the_total(lake, settings, mailbox, keeper, monkeypatch, **totals):
    """Submit a staged count under small totals, and let the keeper find them spent."""
    monkeypatch.setattr(
        driving, "CeleryOutbox", lambda settings, *_, **__: InlineOutbox(lake, settings)
    )
    monkeypatch.setattr(driving, "SIZE_POLL_SECONDS", 0.0)
    little = settings.model_copy(update=totals)
    job = submit(lake, LAYERED, COUNT, settings=little)
    run_id = solve_message(lake, mailbox.pop(), settings, "w")["run_id"]

    def over():
        time.sleep(0.01)
        return not open_records(lake)

    look_until(keeper, over)
    return job, run_id


@pytest.mark.parametrize(
    ("totals", "code", "why"),
    [
        ({"ondemand_total_seconds": 1e-9}, "seconds", "the job's total of 1e-09 s ran out"),
        (
            {"ondemand_total_bytes": 100},
            "table_bytes",
            "the job's total of 100 bytes of states ran out",
        ),
    ],
    ids=["seconds", "bytes"],
)
def test_a_job_ends_with_its_total_and_goes_on_under_a_larger_one(
    lake, settings, mailbox, keeper, monkeypatch, totals, code, why
):
    job, run_id = over_the_total(lake, settings, mailbox, keeper, monkeypatch, **totals)
    row = result(lake, job)
    assert (row["status"], row["reason_code"], row["reason"]) == ("over_budget", code, why)
    assert {row[name.removeprefix("ondemand_")] for name in totals} == set(totals.values())
    assert lake.list(frontier_folder(run_id)) == []

    submit(lake, LAYERED, COUNT, settings=settings.model_copy(update=totals))
    assert (mailbox, status(lake, job).state) == ([], "done")
    submit(lake, LAYERED, COUNT, settings=settings)
    assert solve_message(lake, mailbox.pop(), settings, "w")["run_id"] == run_id
    assert lake.list(f"runs/run={run_id}/parts"), "it goes on from what was worked"
    assert drive(lake, run_id, InlineOutbox(lake, settings), settings=settings).finished
    assert result(lake, job)["count"] == toy_layers.walks(21)


def test_a_run_that_no_worker_can_work_ends_its_job_as_refused(
    lake, settings, mailbox, keeper, monkeypatch
):
    """Given a large job that became a run, When all workers refuse it, Then it does not stay."""
    job = submit(lake, LAYERED, COUNT, settings=settings)
    run_id = solve_message(lake, mailbox.pop(), settings, "w")["run_id"]

    def refused(*_, **__):
        raise AllRefuseError("no worker can work here: the words are missing")

    def over():
        time.sleep(0.01)
        return not open_records(lake)

    with monkeypatch.context() as patch:
        patch.setattr(driving, "drive", refused)
        look_until(keeper, over)
    assert (status(lake, job).state, result(lake, job)) == ("refused", None)
    assert "the words are missing" in status(lake, job).reason

    submit(lake, LAYERED, COUNT, settings=settings)
    assert solve_message(lake, mailbox.pop(), settings, "w")["run_id"] == run_id
    assert drive(lake, run_id, InlineOutbox(lake, settings), settings=settings).finished
    assert result(lake, job)["count"] == toy_layers.walks(21)
