"""What is not wanted any more is stopped while it is worked, and leaves nothing behind."""

import threading
import time
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest
import toy_game as toy

from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.workers import stopping
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.stop_keys import is_stop_requested, request_stop
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.ondemand.cancelling import cancel_job
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.jobs.status import status
from nightgrid.workers.ondemand.jobs.submitting import submit
from nightgrid.workers.ondemand.record_files import open_records, read_record, write_record
from nightgrid.workers.ondemand.task.solving import solve_message
from nightgrid.workers.runs.attempts import read_note
from nightgrid.workers.runs.plan.planner import plan_run
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.runs.status import cancel_run
from nightgrid.workers.stopping import Watcher
from tests.workers.conftest import BUDGET, COUNT
from tests.workers.ondemand.conftest import keeper, look_until  # noqa: F401 - a fixture

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

ENDLESS = toy.ToyPuzzle(number=3, behaviour=toy.ENDLESS)


class Requests(set):
    """Names of the jobs and runs that are to stop, as Redis has them."""


@pytest.fixture
def requests():
    return Requests()


@pytest.fixture
def watcher(requests, monkeypatch):
    monkeypatch.setattr(stopping, "KEY_POLL_SECONDS", 0.005)
    return Watcher(requests.__contains__)


def when(true, act):
    """Do something in another thread as soon as something is true."""

    def wait():
        while not true():
            time.sleep(0.001)
        act()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def is_at_work(lake, job):
    record = read_record(lake, job)
    return record is not None and record.worker is not None


def test_a_job_that_is_cancelled_stops_and_leaves_no_answer(
    lake, settings, mailbox, watcher, requests
):
    job = submit(lake, ENDLESS, COUNT, settings=settings)

    def cancel():
        cancel_job(lake, job, settings)
        requests.add(job)

    when(lambda: is_at_work(lake, job), cancel)
    assert solve_message(lake, mailbox[0], settings, "w", watcher)["state"] == "ended"
    assert (status(lake, job).state, result(lake, job)) == ("cancelled", None)
    assert open_records(lake) == []


def test_a_request_alone_stops_nothing(lake, settings, mailbox, watcher, requests):
    """Given the request for a job that is submitted again, Then the lake decides."""
    job = submit(lake, ENDLESS, COUNT, settings=settings)
    cancel_job(lake, job, settings)
    requests.add(job)
    submit(lake, ENDLESS, COUNT, settings=settings)

    def cancel_again():
        time.sleep(0.05)
        assert is_at_work(lake, job)
        cancel_job(lake, job, settings)

    asking = when(lambda: is_at_work(lake, job), cancel_again)
    assert solve_message(lake, mailbox[1], settings, "w", watcher)["state"] == "ended"
    asking.join()
    assert status(lake, job).state == "cancelled"


def test_without_a_server_the_lake_is_looked_at(lake, settings, mailbox, watcher, monkeypatch):
    monkeypatch.setattr(stopping, "LAKE_POLL_SECONDS", 0.01)
    job = submit(lake, ENDLESS, COUNT, settings=settings)
    when(lambda: is_at_work(lake, job), lambda: cancel_job(lake, job))
    assert solve_message(lake, mailbox[0], settings, "w", watcher)["state"] == "ended"


def test_a_request_is_seen_and_a_dead_server_fails_none(settings, cluster):
    request_stop(settings, "0" * 32)
    with closing(connect(settings)) as away, closing(connect(cluster)) as client:
        assert not is_stop_requested(away, settings, "0" * 32)
        request_stop(cluster, "0" * 32)
        assert is_stop_requested(client, cluster, "0" * 32)
        assert not is_stop_requested(client, cluster, "1" * 32)


def with_deadline(lake, job, seconds):
    record = replace(read_record(lake, job), deadline_at=time.time() + seconds)
    write_record(lake, record)


def test_a_job_whose_deadline_passes_at_work_is_expired(lake, settings, mailbox, watcher):
    job = submit(lake, ENDLESS, COUNT, settings=settings)
    with_deadline(lake, job, 0.05)
    assert solve_message(lake, mailbox[0], settings, "w", watcher)["state"] == "ended"
    now = status(lake, job)
    assert (now.state, now.reason) == ("expired", ReasonCode.DEADLINE.sentence)
    assert result(lake, job) is None
    submit(lake, ENDLESS, COUNT, settings=settings)
    assert (status(lake, job).state, read_record(lake, job).deadline_at) == ("queued", None)


def test_a_deadline_that_was_put_off_meanwhile_does_not_end_it(
    lake, settings, mailbox, watcher, requests, monkeypatch
):
    job = submit(lake, ENDLESS, COUNT, settings=settings)
    with_deadline(lake, job, 60.0)
    later = SimpleNamespace(
        time=lambda: time.time() + 120.0, monotonic=time.monotonic, sleep=time.sleep
    )

    def put_off():
        write_record(lake, replace(read_record(lake, job), deadline_at=time.time() + 3600))
        # Its first deadline passes.
        monkeypatch.setattr(stopping, "time", later)
        time.sleep(0.1)
        assert status(lake, job).state == "working"
        cancel_job(lake, job)
        requests.add(job)

    asking = when(lambda: is_at_work(lake, job), put_off)
    solve_message(lake, mailbox[0], settings, "w", watcher)
    asking.join()
    assert status(lake, job).state == "cancelled"


def test_a_job_that_waited_past_its_deadline_is_not_begun(lake, settings, mailbox):
    job = submit(lake, ENDLESS, COUNT, settings=settings)
    with_deadline(lake, job, -1.0)
    assert solve_message(lake, mailbox[0], settings, "w")["state"] == "ended"
    assert (status(lake, job).state, status(lake, job).attempts) == ("expired", 0)


@pytest.mark.parametrize("as_run", [False, True])
def test_the_keeper_ends_what_is_past_its_deadline(
    lake, settings, mailbox, keeper, as_run  # noqa: F811 - the fixture
):  # fmt: skip
    board = toy.ToyPuzzle(number=21, behaviour=toy.LAYERED)
    job = submit(lake, board, COUNT, settings=settings)
    if as_run:
        solve_message(lake, mailbox[0], settings, "w")
        assert status(lake, job).state == "run"
    with_deadline(lake, job, -1.0)
    look_until(keeper, lambda: not open_records(lake))
    assert status(lake, job).state == "expired"


def test_a_chunk_of_a_cancelled_run_stops_and_counts_no_attempt(lake, settings, watcher, requests):
    game = toy.ToyGame()
    run_id = plan_run(lake, game, toy.puzzles_table([ENDLESS]), Ask(kind="first"), BUDGET)
    ref = ChunkRef(run_id=run_id, segment=0, chunk=0)

    def cancel():
        cancel_run(lake, run_id)
        requests.add(run_id)

    when(lambda: read_note(lake, ref) is not None, cancel)
    assert solve_chunk(lake, ref, settings, "w", watcher).state == "stale"
    assert not lake.exists(ref.result_path)
    assert read_note(lake, ref) is None, "a note without a worker at work would be a death"
