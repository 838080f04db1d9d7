"""An answer that ran out of a budget is no answer to a question with a larger one."""

from dataclasses import replace

import pytest
import toy_game as toy

from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.cancelling import cancel_job
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.jobs.status import status
from nightgrid.workers.ondemand.jobs.submitting import submit
from nightgrid.workers.ondemand.record_files import open_records
from nightgrid.workers.ondemand.task.solving import solve_message
from tests.workers.conftest import COUNT
from tests.workers.ondemand.conftest import look_until

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

SMALL = Budget(nodes=10, table_bytes=1000, seconds=1.0)
LARGE = Budget(nodes=1000, table_bytes=1000, seconds=2.0)
ALL = Ask(kind="all")
ENDED = {"reason_code": None}
BOARD = toy.ToyPuzzle(number=9, behaviour=toy.LARGE)


def job_budget(part=SMALL, seconds=10.0, size=100):
    return JobBudget(part=part, total_seconds=seconds, total_bytes=size)


def test_a_budget_covers_another_that_is_larger_in_nothing():
    assert job_budget().covers(job_budget())
    assert job_budget(LARGE).covers(job_budget())
    for other in (
        job_budget(LARGE),
        job_budget(seconds=11.0),
        job_budget(size=101),
        replace(job_budget(), solution_bytes=2 * job_budget().solution_bytes),
    ):
        assert not job_budget().covers(other)
        assert job_budget().or_more(other) == other
    assert JobBudget.from_json(job_budget().to_json()) == job_budget()
    row = {**job_budget().to_row(ALL), "reason_code": "solution_bytes"}
    assert JobBudget.of_row(row) == job_budget()
    # How many solutions could be listed says nothing about another end, nor does a count have it.
    for other in ({**row, "reason_code": "nodes"}, {**job_budget().to_row(COUNT), **ENDED}):
        assert JobBudget.of_row(other).covers(replace(job_budget(), solution_bytes=10**15))
    assert JobBudget.of_row({**row, "budget_solution_bytes": None}) is None
    with pytest.raises(PermanentError, match="expected more than 0"):
        job_budget(seconds=0.0)


def test_what_was_over_budget_is_asked_again_under_a_larger_one_alone(lake, settings, mailbox):
    job = submit(lake, BOARD, COUNT, budget=SMALL, settings=settings)
    solve_message(lake, mailbox.pop(), settings, "w")
    row = result(lake, job)
    assert (row["status"], row["budget_nodes"], row["budget_seconds"]) == ("over_budget", 10, 1.0)
    assert row["total_seconds"] == settings.ondemand_total_seconds

    assert submit(lake, BOARD, COUNT, budget=SMALL, settings=settings) == job
    assert (mailbox, status(lake, job).state) == ([], "done")

    submit(lake, BOARD, COUNT, budget=LARGE, settings=settings)
    assert (status(lake, job).state, result(lake, job)) == ("queued", None)
    solve_message(lake, mailbox.pop(), settings, "w")
    row = result(lake, job)
    assert (row["status"], row["budget_nodes"], row["budget_seconds"]) == ("over_budget", 1000, 2.0)
    assert open_records(lake) == []


def test_a_cancel_of_what_was_asked_again_says_that_an_earlier_row_stays(lake, settings, mailbox):
    job = submit(lake, BOARD, COUNT, budget=SMALL, settings=settings)
    solve_message(lake, mailbox.pop(), settings, "w")
    submit(lake, BOARD, COUNT, budget=LARGE, settings=settings)
    now, was_open = cancel_job(lake, job)
    assert (now.state, was_open) == ("done", True)
    assert now.reason == "it is cancelled, and an earlier row of it stays in the lake"
    again, was_open = cancel_job(lake, job)
    assert (again.state, again.reason, was_open) == ("done", "", False)
    assert result(lake, job)["budget_nodes"] == SMALL.nodes


def test_a_second_client_does_not_inherit_the_smaller_budget_of_the_first(lake, settings, mailbox):
    job = submit(lake, BOARD, COUNT, budget=SMALL, settings=settings)
    assert submit(lake, BOARD, COUNT, budget=LARGE, settings=settings) == job
    (record,) = open_records(lake)
    assert record.budget.part == LARGE
    assert len(mailbox) == 1
    solve_message(lake, mailbox[0], settings, "w")
    assert result(lake, job)["budget_nodes"] == 1000


def test_a_budget_that_is_raised_while_a_worker_is_at_it_is_worked_after(
    lake,
    settings,
    mailbox,
    keeper,
    monkeypatch,
):
    job = submit(lake, BOARD, COUNT, budget=SMALL, settings=settings)
    solve = toy.ToyGame.solve

    def meanwhile(*arguments):
        monkeypatch.setattr(toy.ToyGame, "solve", solve)
        submit(lake, BOARD, COUNT, budget=LARGE, settings=settings)
        return solve(*arguments)

    monkeypatch.setattr(toy.ToyGame, "solve", meanwhile)
    solve_message(lake, mailbox.pop(), settings, "w")
    assert (status(lake, job).state, result(lake, job)) == ("queued", None)
    look_until(keeper, lambda: mailbox)
    assert mailbox[0]["budget"]["nodes"] == 1000
    solve_message(lake, mailbox[0], settings, "w")
    assert result(lake, job)["budget_nodes"] == 1000


def test_a_run_within_a_smaller_budget_does_not_end_a_job_with_a_larger_one(
    lake,
    settings,
    mailbox,
    keeper,
    monkeypatch,
):
    monkeypatch.setattr(toy, "LARGE_LIMIT", 0)
    job = submit(lake, BOARD, COUNT, settings=settings)
    run_id = solve_message(lake, mailbox.pop(), settings, "w")["run_id"]
    larger = Budget(nodes=2 * settings.budget_nodes)
    submit(lake, BOARD, COUNT, budget=larger, settings=settings)
    drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert (status(lake, job).state, result(lake, job)) == ("queued", None)

    monkeypatch.setattr(toy, "LARGE_LIMIT", 4)
    look_until(keeper, lambda: mailbox)
    again = solve_message(lake, mailbox.pop(), settings, "w")["run_id"]
    assert again != run_id
    drive(lake, again, InlineOutbox(lake, settings), settings=settings)
    look_until(keeper, lambda: not open_records(lake))
    row = result(lake, job)
    assert (row["status"], row["run_id"], row["total_seconds"]) == ("solved", again, None)
    assert row["budget_nodes"] == larger.nodes
