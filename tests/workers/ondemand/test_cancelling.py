"""Cancel on-demand jobs, queued, at work and as runs; they can be asked again."""

import pytest
import toy_game as toy
import toy_layers

from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.ondemand.cancelling import cancel_job, drop_old_ends
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.jobs.status import status
from nightgrid.workers.ondemand.jobs.submitting import submit
from nightgrid.workers.ondemand.record_files import open_records
from nightgrid.workers.ondemand.task.solving import solve_message
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.runs.staged.frontier import frontier_folder
from nightgrid.workers.runs.status import cancel_run, resume_run
from tests.workers.conftest import COUNT
from tests.workers.ondemand.conftest import look_until

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

PLAIN = toy.ToyPuzzle(number=1, behaviour=toy.PLAIN)
LAYERED = toy.ToyPuzzle(number=21, behaviour=toy.LAYERED)


def test_a_queued_job_is_cancelled_and_asked_again(lake, settings, mailbox):
    job = submit(lake, PLAIN, COUNT, settings=settings)
    now, was_open = cancel_job(lake, job)
    assert (now.state, was_open) == ("cancelled", True)
    assert (open_records(lake), result(lake, job, timeout_s=60.0)) == ([], None)
    assert solve_message(lake, mailbox[0], settings, "w")["state"] == "ended"
    assert cancel_job(lake, job) == (now, False)

    submit(lake, PLAIN, COUNT, settings=settings)
    assert status(lake, job).state == "queued"
    solve_message(lake, mailbox[1], settings, "w")
    assert result(lake, job)["count"] == toy.count_of(1)
    now, was_open = cancel_job(lake, job)
    assert (now.state, was_open) == ("done", False)


def test_what_is_no_job_or_unknown_is_told(lake):
    with pytest.raises(PermanentError, match="expected 32 hexadecimal digits"):
        cancel_job(lake, "../../etc/passwd")
    assert cancel_job(lake, "0" * 32)[0].state == "unknown"


class StopAfterStates(InlineOutbox):
    """Cancels the run when a worker has left states, as another process does."""

    def __init__(self, lake, settings, cancel):
        super().__init__(lake, settings)
        self.cancel = cancel

    def wait(self, timeout_s):
        heard = super().wait(timeout_s)
        for run_id in {announcement.ref.run_id for announcement in heard}:
            if len(self._lake.list(frontier_folder(run_id))) > 2:
                self.cancel(run_id)
        return heard


def large_job(lake, settings, mailbox):
    job = submit(lake, LAYERED, COUNT, settings=settings)
    return job, solve_message(lake, mailbox.pop(), settings, "w")["run_id"]


def go_on(lake, settings, mailbox, job):
    """Submit it again, and work it to its end."""
    submit(lake, LAYERED, COUNT, settings=settings)
    run_id = solve_message(lake, mailbox.pop(), settings, "w")["run_id"]
    done_before = set(lake.list(f"runs/run={run_id}/parts"))
    assert done_before, "it goes on from what was worked"
    assert drive(lake, run_id, InlineOutbox(lake, settings), settings=settings).finished
    assert result(lake, job)["count"] == toy_layers.walks(21)


def test_a_staged_count_is_cancelled_and_leaves_no_states(lake, settings, mailbox):
    job, run_id = large_job(lake, settings, mailbox)
    executor = StopAfterStates(lake, settings, lambda _: cancel_job(lake, job))
    summary = drive(lake, run_id, executor, settings=settings)
    assert (summary.finished, summary.cancelled) == (False, True)
    assert status(lake, job).state == "cancelled"
    assert lake.list(frontier_folder(run_id)) == []
    go_on(lake, settings, mailbox, job)


def test_a_cancelled_run_of_a_count_ends_the_job_that_became_it(lake, settings, mailbox, keeper):
    job, run_id = large_job(lake, settings, mailbox)
    executor = StopAfterStates(lake, settings, lambda run: cancel_run(lake, run))
    drive(lake, run_id, executor, settings=settings)
    assert len(lake.list(frontier_folder(run_id))) > 2, "a count that is cancelled keeps its states"
    assert status(lake, job).state == "cancelled"

    look_until(keeper, lambda: not open_records(lake))
    assert status(lake, job).reason == f"its run {run_id} is cancelled"
    assert lake.list(frontier_folder(run_id)) == []
    go_on(lake, settings, mailbox, job)


def test_a_worker_that_ends_after_the_cancel_leaves_no_states(
    lake, settings, mailbox, monkeypatch, keeper
):
    job, run_id = large_job(lake, settings, mailbox)
    executor = StopAfterStates(lake, settings, lambda run: cancel_run(lake, run))
    drive(lake, run_id, executor, settings=settings)
    resume_run(lake, run_id)
    ref = ChunkRef(run_id=run_id, segment=1, chunk=0)
    lake.delete(ref.result_path)
    left = len(lake.list(frontier_folder(run_id)))

    from nightgrid.workers.chunks import solve

    carry = solve.carry

    def meanwhile(*arguments):
        part = carry(*arguments)
        cancel_job(lake, job)
        # The process that cancels may be between its look and this frontier.
        carry(*arguments)
        return part

    monkeypatch.setattr(solve, "carry", meanwhile)
    assert left > 0
    assert solve_chunk(lake, ref, settings, "w").state == "stale"
    assert lake.list(frontier_folder(run_id)) == []
    keeper.sweep()


def test_an_old_end_is_forgotten_with_its_run_and_a_young_one_is_not(lake, settings, mailbox):
    job, run_id = large_job(lake, settings, mailbox)
    cancel_job(lake, job)
    drop_old_ends(lake, kept_days=1.0)
    assert status(lake, job).state == "cancelled"
    submit(lake, LAYERED, COUNT, settings=settings)
    cancel_job(lake, job)

    drop_old_ends(lake, kept_days=0.0)
    assert status(lake, job).state == "unknown"
    assert lake.list(f"runs/run={run_id}") != [], "no end names it: the job was not a run yet"

    mailbox.clear()
    job, run_id = large_job(lake, settings, mailbox)
    cancel_job(lake, job)
    drop_old_ends(lake, kept_days=0.0)
    assert lake.list("runs") == []
