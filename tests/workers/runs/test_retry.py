"""Jobs that a run gave up are retried on request, with a row in each run."""

from __future__ import annotations

import pytest
import toy_game as toy

from nightgrid.archive.results.results import find_results
from nightgrid.solvers.algebra import STATUS_CODES, Budget, Outcome, Status
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.runs.manifest import open_run
from nightgrid.workers.runs.run_files import done_path, folder
from nightgrid.workers.runs.status import next_name
from nightgrid.workers.runs.unanswered_jobs import Retry
from tests.workers.conftest import BUDGET, COUNT, KilledError, result_rows
from tests.workers.planning import plan_run

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

KINDS = {3: toy.RAISE, 4: toy.RAISE, 7: toy.LAYERED, 9: toy.UNSOLVABLE}
BOARDS = toy.boards(12, KINDS)
OVER = Outcome(status=Status.OVER_BUDGET, reason_code=ReasonCode.NODES)


@pytest.fixture
def work(lake, settings):
    """Plan and solve a run of the boards; return it with its statuses."""

    def work(retry=None, boards=BOARDS, budget=BUDGET):
        run_id = plan_run(lake, toy.TOY, boards, COUNT, budget, retry=retry)
        run = open_run(lake, run_id)
        if not run.job_count:
            return run, {}
        summary = drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
        assert summary.finished
        assert len(result_rows(lake, run_id)) == run.job_count, "each planned job has one row"
        return run, summary.statuses

    return work


@pytest.fixture
def over_budget(monkeypatch):
    """Make boards with layers finally over budget."""
    monkeypatch.setattr(toy.ToyGame, "layered", lambda *_: None)


def mend(monkeypatch):
    monkeypatch.setattr(toy, "misbehave", lambda *_: None)


FIRST = {"solved": 8, "unsolvable": 1, "over_budget": 1, "poison": 2}


@pytest.mark.parametrize(
    ("retry", "worked"),
    [
        (None, {}),
        (Retry.POISON, {"solved": 2}),
        (Retry.OVER_BUDGET, {"over_budget": 1}),
        (Retry.ALL, {"solved": 2, "over_budget": 1}),
    ],
)
def test_only_requested_statuses_are_retried(work, lake, monkeypatch, over_budget, retry, worked):
    first, statuses = work()
    assert (statuses, first.poison_count) == (FIRST, 0)
    known, nothing = work()
    assert (nothing, known.answered_count, known.poison_count) == ({}, 12, 2)
    mend(monkeypatch)
    again, statuses = work(retry)
    assert statuses == worked
    assert again.answered_count == 12 - sum(worked.values())
    ids = [row["job_id"] for row in result_rows(lake, first.run_id)]
    rows = find_results(lake, ids)
    assert rows.num_rows == 12, "a job that several runs ended has one row"
    assert rows.column("status").to_pylist().count("poison") == (0 if "solved" in worked else 2)


def test_a_failed_retry_can_be_retried(work, lake, monkeypatch, over_budget):
    names = {work()[0].run_id}
    for _ in range(3):
        run, statuses = work(Retry.POISON)
        assert statuses == {"poison": 2}
        names.add(run.run_id)
    assert len(names) == 4
    mend(monkeypatch)
    assert work(Retry.POISON)[1] == {"solved": 2}
    run, statuses = work(Retry.POISON)
    assert (run.job_count, run.poison_count, statuses) == (0, 0, {})


def test_a_retry_that_was_killed_is_resumed_by_the_same_command(
    work, lake, settings, monkeypatch, over_budget
):
    work()
    mend(monkeypatch)
    run_id = plan_run(lake, toy.TOY, BOARDS, COUNT, BUDGET, retry=Retry.POISON)

    class Dies(InlineOutbox):
        def wait(self, *arguments):
            super().wait(*arguments)
            raise KilledError

    with pytest.raises(KilledError):
        drive(lake, run_id, Dies(lake, settings), settings=settings)
    again, statuses = work(Retry.POISON)
    assert (again.run_id, statuses) == (run_id, {"solved": 2})


@pytest.fixture
def end_with(monkeypatch, over_budget):
    """Make boards that would raise end with a status."""
    solve_batch = toy.ToyGame.solve_batch
    mend(monkeypatch)

    def end_with(status):
        def ended(self, arrays, ask, budget):
            found = solve_batch(self, arrays, ask, budget)
            raising = arrays["domino_b.values"][arrays["domino_b.offsets"][:-1]] == toy.RAISE
            found["status"][raising] = STATUS_CODES.index(status)
            return found

        monkeypatch.setattr(toy.ToyGame, "solve_batch", ended)

    return end_with


def test_invalid_jobs_are_retried_on_request(work, lake, end_with):
    end_with(Status.INVALID)
    first, statuses = work()
    assert statuses == {"solved": 8, "unsolvable": 1, "over_budget": 1, "invalid": 2}
    end_with(Status.SOLVED)
    larger = Budget(seconds=BUDGET.seconds + 1)
    for retry, budget, worked in (
        (None, BUDGET, {}),
        (Retry.POISON, BUDGET, {}),
        (None, larger, {"over_budget": 1}),
        (Retry.INVALID, BUDGET, {"solved": 2}),
        (Retry.INVALID, BUDGET, {}),
    ):
        assert work(retry, budget=budget)[1] == worked
    ids = [row["job_id"] for row in result_rows(lake, first.run_id)]
    assert "invalid" not in find_results(lake, ids).column("status").to_pylist()


def test_a_job_that_another_run_has_answered_is_not_solved_again(
    work, lake, monkeypatch, over_budget
):
    work()
    mend(monkeypatch)
    work(budget=Budget(seconds=BUDGET.seconds + 1))
    run, statuses = work(Retry.POISON)
    assert (run.job_count, run.poison_count, statuses) == (0, 0, {})


def test_the_name_of_a_run_with_a_deleted_folder_is_not_reused(lake, work, over_budget):
    """Given results under the name of a run, Then no other run overwrites them."""
    run_id, results = work()[0].run_id, result_rows
    rows = results(lake, run_id)
    assert next_name(lake, run_id, more=False) == run_id
    lake.delete_folder(folder(run_id), last=done_path(run_id))
    other = next_name(lake, run_id, more=False)
    assert other != run_id
    assert next_name(lake, "f" * 32, more=False) == "f" * 32
    work()
    assert results(lake, run_id) == rows
