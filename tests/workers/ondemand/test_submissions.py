"""Submissions: their clients, limits and deadlines, and how they end."""

import time
from pathlib import Path

import pytest
import toy_game as toy

from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.results import find_row, result_row
from nightgrid.workers.ondemand.status import status
from nightgrid.workers.ondemand.submissions import open_jobs, read_wanted
from nightgrid.workers.ondemand.submitting import cancel_job, leave_job
from tests.workers.conftest import COUNT
from tests.workers.ondemand.keeping import keep, submit_without_server

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

PLAIN = toy.ToyPuzzle(number=1, behaviour=toy.PLAIN)


@pytest.fixture
def submit(lake, settings):
    return submit_without_server(lake, settings)


def test_an_answer_of_the_lake_needs_no_job(lake, settings, submit):
    job = submit(PLAIN, COUNT)
    assert status(lake, job).state == "queued"
    assert result_row(lake, job) is None
    keep(lake, settings)
    assert status(lake, job).state == "done"
    assert result_row(lake, job)["count"] == toy.count_of(1)
    assert submit(PLAIN, COUNT) == job
    assert not open_jobs(lake).wanted


def test_the_larger_budget_and_the_later_deadline_of_two_clients_count(lake, settings, submit):
    now = time.time()
    small, large = (Budget(nodes=n, table_bytes=10**6, seconds=1.0) for n in (10, 100))
    job = submit(PLAIN, COUNT, client="one", budget=small, deadline_at=now + 50)
    assert submit(PLAIN, COUNT, client="two", budget=large, deadline_at=now + 10) == job
    wanted = read_wanted(lake, job)
    assert wanted.budget == JobBudget.of(settings, large)
    assert wanted.deadline_at == now + 50
    submit(PLAIN, COUNT, client="three", budget=small)
    assert read_wanted(lake, job).deadline_at is None


def test_a_job_that_has_ended_leaves_nothing_to_list(lake, settings, submit):
    job = submit(PLAIN, COUNT)
    keep(lake, settings)
    (folder,) = (Path(settings.lake) / "runs" / "ondemand").iterdir()
    assert (folder.name, list(folder.iterdir())) == (job[0], [])


def test_a_job_continues_while_a_client_needs_it(lake, submit):
    for client in ("one", "two"):
        job = submit(PLAIN, COUNT, client=client)
    found, left = leave_job(lake, job, "one")
    assert (found.state, left) == ("queued", 1)
    found, left = leave_job(lake, job, "nobody")
    assert (found.state, left) == ("queued", 1), "one that is not known takes nothing away"
    found, left = leave_job(lake, job, "two", reason="by two")
    assert (found.state, found.reason, left) == ("cancelled", "by two", 0)


def test_a_cancelled_job_is_requested_again(lake, settings, submit):
    job = submit(PLAIN, COUNT)
    found, was_open = cancel_job(lake, job)
    assert (found.state, was_open) == ("cancelled", True)
    assert cancel_job(lake, job)[1] is False
    keep(lake, settings)
    assert find_row(lake, job) is None
    assert submit(PLAIN, COUNT) == job
    assert status(lake, job).state == "queued"
    keep(lake, settings)
    assert status(lake, job).state == "done"


def test_a_damaged_submission_affects_nothing_else(lake, settings, submit):
    job = submit(PLAIN, COUNT)
    lost = submit(toy.ToyPuzzle(number=2, behaviour=toy.PLAIN), COUNT)
    path = read_wanted(lake, lost).last.path
    for data in (b"{", b"[]", b'{"job_id": 7}', lake.read_bytes(path).replace(b"job_id", b"no_id")):
        lake.write_bytes(path.replace(".json", "0.json"), data)
        assert open_jobs(lake).wanted.keys() == {job, lost}
        assert len(open_jobs(lake).damaged) == 1
    lake.delete(path)
    keep(lake, settings)
    assert status(lake, job).state == "done"
    assert status(lake, lost).state == "unknown"


@pytest.mark.parametrize("job", ["", "x", "0" * 31, "../../etc"])
def test_a_malformed_job_id_is_refused(lake, job):
    for ask in (status, cancel_job, result_row):
        with pytest.raises(PermanentError, match="hexadecimal digits"):
            ask(lake, job)


def test_a_job_that_was_never_submitted_is_unknown(lake):
    assert status(lake, "0" * 32).state == "unknown"
    with pytest.raises(PermanentError, match="never submitted"):
        result_row(lake, "0" * 32)
