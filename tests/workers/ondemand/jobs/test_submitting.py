"""A submission costs a message only where the lake has no answer and nothing is under way."""

import pytest
import toy_game as toy

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.ondemand.jobs import submitting
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.jobs.status import status
from nightgrid.workers.ondemand.jobs.submitting import submit
from nightgrid.workers.ondemand.record_files import open_records
from nightgrid.workers.ondemand.task.solving import solve_message
from nightgrid.workers.runs.manifest import open_run
from tests.workers.conftest import COUNT, plan, quick_settings
from tests.workers.pending import pending_chunks

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

PLAIN = toy.ToyPuzzle(number=1, behaviour=toy.PLAIN)


def puzzle(number, behaviour=toy.PLAIN):
    return toy.ToyPuzzle(number=number, behaviour=behaviour)


def test_a_job_that_the_lake_can_answer_costs_no_message(lake, settings, mailbox):
    drive(
        lake,
        plan(lake, toy.boards(10)),
        InlineOutbox(lake, settings),
        settings=settings,
    )
    job = submit(lake, PLAIN, COUNT, settings=settings)
    assert mailbox == []
    assert status(lake, job).state == "done"
    assert result(lake, job)["count"] == toy.count_of(1)


def test_the_same_job_is_sent_once(lake, settings, mailbox):
    jobs = {submit(lake, PLAIN, COUNT, settings=settings) for _ in range(3)}
    assert len(jobs) == len(mailbox) == 1


def test_a_puzzle_too_large_for_a_message_becomes_a_run_at_once(tmp_path, mailbox, monkeypatch):
    settings = quick_settings(tmp_path, ondemand_message_bytes=256)
    lake = Lake.open(settings.lake)
    value = {"number": 5, "behaviour": 0, "padding": "x" * 300}
    monkeypatch.setattr(toy.TOY, "puzzle_to_json", lambda _: value, raising=False)
    job = submit(lake, puzzle(5), COUNT, settings=settings)
    assert mailbox == []
    run_id = status(lake, job).run_id
    assert len(pending_chunks(lake, open_run(lake, run_id))) == 1


def test_a_dead_broker_is_reported_within_seconds_and_the_job_stays_for_the_keeper(lake, settings):
    with pytest.raises(TransientError, match="does not answer"):
        submit(lake, PLAIN, COUNT, settings=settings)
    (record,) = open_records(lake)
    assert record.question.ask == COUNT
    # A second submitter relies on it: it sends nothing.
    assert submit(lake, PLAIN, COUNT, settings=settings) == record.job_id


def test_poison_is_asked_again_by_the_next_submission(lake, settings, mailbox, monkeypatch):
    job = submit(lake, puzzle(7, toy.RAISE), COUNT, settings=settings)
    for _ in range(settings.attempts_max):
        with pytest.raises(TransientError):
            solve_message(lake, mailbox[0], settings, "w")
    solve_message(lake, mailbox[0], settings, "w")
    assert result(lake, job)["status"] == "poison"

    monkeypatch.setattr(toy, "misbehave", lambda *_: None)
    assert submit(lake, puzzle(7, toy.RAISE), COUNT, settings=settings) == job
    assert len(mailbox) == 2
    assert (status(lake, job).state, result(lake, job)) == ("queued", None)
    solve_message(lake, mailbox[1], settings, "w")
    assert result(lake, job)["status"] == "solved"
    assert open_records(lake) == []


def test_an_answer_that_comes_between_look_and_record_ends_the_submission(
    lake, settings, mailbox, keeper, monkeypatch
):
    """Given another process that asks and is answered right after the first look."""
    keep = submitting.keep_asked

    def answered_meanwhile(*arguments):
        monkeypatch.setattr(submitting, "keep_asked", keep)
        submit(lake, PLAIN, COUNT, settings=settings)
        solve_message(lake, mailbox.pop(), settings, "other")
        keep(*arguments)

    monkeypatch.setattr(submitting, "keep_asked", answered_meanwhile)
    job = submit(lake, PLAIN, COUNT, settings=settings)

    path = f"results/ondemand-{job}.parquet"
    written = lake.read_bytes(path)
    (message,) = mailbox
    assert solve_message(lake, message, settings, "w") == {"job_id": job, "state": "done"}
    assert lake.read_bytes(path) == written
    keeper.poll()
    assert open_records(lake) == []
    assert status(lake, job).state == "done"
    assert result(lake, job)["count"] == toy.count_of(1)
