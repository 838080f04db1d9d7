"""The keeper, looking at records that are damaged, and at jobs that workers refuse."""

import json

import pytest
import toy_game as toy

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError, RefusalError
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.jobs.status import status
from nightgrid.workers.ondemand.jobs.submitting import submit
from nightgrid.workers.ondemand.keeper import Keeper
from nightgrid.workers.ondemand.record_files import (
    list_set_aside,
    open_records,
    read_records,
    record_path,
)
from nightgrid.workers.ondemand.task.solving import solve_message
from tests.workers.conftest import COUNT, quick_settings
from tests.workers.ondemand.conftest import look_until, puzzle

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")


def without(name):
    return lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != name})


def with_value(name, value):
    return lambda text: json.dumps(json.loads(text) | {name: value})


BAD = {
    "truncated": lambda text: text[: len(text) // 2],
    "empty": lambda _: "",
    "a list": lambda _: "[1]",
    "deep": lambda _: "[" * 100_000,
    **{f"no {name}": without(name) for name in ("job_id", "game", "budget", "puzzle")},
    **{f"no {name}": without(name) for name in ("submitted_at", "attempts", "worker", "run_id")},
    "attempts as text": with_value("attempts", "1"),
    "submitted never": with_value("submitted_at", float("nan")),
    "budget as a list": with_value("budget", [1]),
    "a budget of nothing": with_value("budget", {"nodes": 0}),
    "of another job": with_value("job_id", "0" * 32),
    "an unknown ask": with_value("ask", "sing"),
    "a failure that is none": with_value("failure", {"code": "hm"}),
}


@pytest.mark.parametrize("damage", BAD.values(), ids=BAD)
def test_a_bad_record_costs_itself_and_no_other(lake, settings, mailbox, keeper, damage):
    bad = submit(lake, puzzle(1), COUNT, settings=settings)
    good = submit(lake, puzzle(2), COUNT, settings=settings)
    path = record_path(bad)
    lake.write_bytes(path, damage(lake.read_bytes(path).decode()).encode())
    assert [record.job_id for record in open_records(lake)] == [good]
    assert list(read_records(lake).bad) == [path]
    assert status(lake, bad).state == "damaged"
    assert result(lake, bad, timeout_s=60.0) is None

    del mailbox[:]
    look_until(keeper, lambda: mailbox)
    assert mailbox[0]["job_id"] == good
    assert list_set_aside(lake) == [f"runs/set-aside/{bad}.json"]
    assert status(lake, bad).state == "damaged"

    assert submit(lake, puzzle(1), COUNT, settings=settings) == bad
    assert list_set_aside(lake) == []
    for message in list(mailbox):
        solve_message(lake, message, settings, "w")
    assert {result(lake, job)["status"] for job in (bad, good)} == {"solved"}


def test_a_record_that_cannot_be_read_costs_itself_and_no_other(
    lake, settings, mailbox, keeper, monkeypatch
):
    """Given a record that another user owns, When the keeper looks, Then the others go on."""
    bad, good = (submit(lake, puzzle(number), COUNT, settings=settings) for number in (1, 2))
    read_bytes = Lake.read_bytes

    def refused(self, path):
        if path == record_path(bad):
            raise PermanentError(f"{path}: the lake refuses: Permission denied")
        return read_bytes(self, path)

    monkeypatch.setattr(Lake, "read_bytes", refused)
    del mailbox[:]
    look_until(keeper, lambda: mailbox)
    assert mailbox[0]["job_id"] == good
    assert "Permission denied" in status(lake, bad).reason


@pytest.mark.parametrize("is_set_aside", [False, True])
def test_a_message_whose_record_is_damaged_is_worked_all_the_same(
    lake, settings, mailbox, keeper, is_set_aside
):
    job = submit(lake, puzzle(1), COUNT, settings=settings)
    lake.write_bytes(record_path(job), b"{")
    if is_set_aside:
        keeper.poll()
        assert not lake.exists(record_path(job))
    solve_message(lake, mailbox[0], settings, "w")
    assert result(lake, job)["count"] == toy.count_of(1)
    assert read_records(lake) == ([], [], {})


def test_a_job_whose_run_is_gone_is_sent_again(lake, settings, mailbox, keeper):
    job = submit(lake, puzzle(9, toy.LARGE), COUNT, settings=settings)
    run_id = solve_message(lake, mailbox[0], settings, "w")["run_id"]
    for path in lake.list(f"runs/run={run_id}"):
        lake.delete(path)
    assert "is not in" in status(lake, job).reason
    look_until(keeper, lambda: len(mailbox) == 2)
    assert solve_message(lake, mailbox[1], settings, "w")["state"] == "run"


def older(message):
    """The same message, as an older version takes it: for a solver that it has not got."""
    return {**message, "solver_version": "toy-0", "job_id": "0" * 32}


def test_a_job_that_only_older_workers_take_ends_as_refused(lake, settings, mailbox, keeper):
    job = submit(lake, puzzle(1), COUNT, settings=settings)
    (late,) = mailbox

    def refused():
        while mailbox:
            with pytest.raises(RefusalError) as refusal:
                solve_message(lake, older(mailbox.pop()), settings, "old")
            keeper.told["old"] = str(refusal.value)
            sends.append(job)
        return status(lake, job).state == "refused"

    sends = []
    look_until(keeper, refused)
    assert len(sends) == settings.tuning.ondemand_sends_max + 1
    assert "expected the same solver version" in status(lake, job).reason
    assert (result(lake, job, timeout_s=60.0), open_records(lake)) == (None, [])
    assert lake.list("results") == [], "what surrounds a worker is no answer about a puzzle"

    assert solve_message(lake, late, settings, "new")["state"] == "ended"
    assert submit(lake, puzzle(1), COUNT, settings=settings) == job
    assert status(lake, job).state == "queued"
    solve_message(lake, mailbox[0], settings, "new")
    assert result(lake, job)["count"] == toy.count_of(1)


def test_a_keeper_that_is_started_again_goes_on_counting(
    lake, settings, mailbox, keeper, monkeypatch
):
    """Given workers that refuse a job and a keeper that is killed, Then sending still ends."""
    job = submit(lake, puzzle(1), COUNT, settings=settings)
    sends, keepers = 0, [keeper]
    while status(lake, job).state != "refused":
        if mailbox:
            sends += len(mailbox)
            del mailbox[:]
            keepers.append(Keeper(lake, settings))
        keepers[-1].poll()
        assert sends <= settings.tuning.ondemand_sends_max + 1
    assert sends == settings.tuning.ondemand_sends_max + 1
    assert f"sent {settings.tuning.ondemand_sends_max} times" in status(lake, job).reason

    submit(lake, puzzle(1), COUNT, settings=settings)
    assert open_records(lake)[0].sent_in_vain == 0


def test_a_worker_that_begins_is_not_counted_as_a_refusal(lake, mailbox, tmp_path, keeper):
    settings = quick_settings(tmp_path, ondemand_sends_max=2)
    job = submit(lake, puzzle(7, toy.RAISE), COUNT, settings=settings)
    look_until(keeper, lambda: mailbox and _raised(lake, mailbox.pop(), settings))
    assert result(lake, job)["status"] == "poison"


def _raised(lake, message, settings):
    try:
        return solve_message(lake, message, settings, "w")["state"] == "done"
    except Exception:  # noqa: BLE001
        return False


def test_what_one_job_fails_on_costs_no_other(lake, settings, mailbox, keeper, monkeypatch):
    jobs = [submit(lake, puzzle(number), COUNT, settings=settings) for number in range(3)]
    del mailbox[:]
    check_record = Keeper._check_record

    def failing(self, record, row, gone):
        if record.job_id == jobs[0]:
            raise KeyError("surprise")
        check_record(self, record, row, gone)

    monkeypatch.setattr(Keeper, "_check_record", failing)
    look_until(keeper, lambda: len(mailbox) == 2)
    assert {message["job_id"] for message in mailbox} == set(jobs[1:])
