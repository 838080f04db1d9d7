"""Large counts on demand: which become runs at once, and what is told of them meanwhile."""

import time
from functools import partial
from itertools import pairwise

import pytest

from benchmarks.instruments.boards import loose_board
from benchmarks.tuned import retuned
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.registry import game
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.ondemand.jobs.forecast import forecast
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.jobs.status import status
from nightgrid.workers.ondemand.jobs.submitting import submit
from nightgrid.workers.ondemand.record_files import read_record
from nightgrid.workers.ondemand.task import solving
from nightgrid.workers.ondemand.task.solving import solve_message
from nightgrid.workers.runs.staged.stages import first_stage

COUNT = Ask(kind="count")
PIPS = game("pips")
BOARD = loose_board(10, 3)


@pytest.fixture
def hasty(settings, monkeypatch):
    """Settings under which a board of a twentieth of a second is large."""
    monkeypatch.setattr(solving, "EXPECTED_FROM_S", 0.0)
    monkeypatch.setattr("nightgrid.workers.runs.plan.plan_pass.IDLE_S", 0.001)
    begin = partial(first_stage, carry_rows=500)
    monkeypatch.setattr("nightgrid.workers.runs.plan.plan_pass.first_stage", begin)
    changes = {"ondemand_seconds": 0.01, "stage_carry_rows": 500, "stage_rows": 5000}
    return retuned(settings, **changes, split="ahead")


def test_what_is_expected_to_be_large_becomes_a_run_at_once(lake, hasty, mailbox, monkeypatch):
    monkeypatch.setattr(solving, "solve_whole", lambda *_: 1 / 0)
    job = submit(lake, BOARD, COUNT, game="pips", settings=hasty)
    report = solve_message(lake, mailbox[0], hasty, "w")
    assert report["state"] == "run"
    drive(lake, report["run_id"], InlineOutbox(lake, hasty), settings=hasty)
    assert result(lake, job)["count"] == PIPS.solve(BOARD, COUNT).count


def test_a_job_that_may_do_in_one_task_is_tried(lake, settings, mailbox):
    job = submit(lake, BOARD, COUNT, game="pips", settings=settings)
    assert solve_message(lake, mailbox[0], settings, "w")["state"] == "done"
    assert result(lake, job)["count"] == PIPS.solve(BOARD, COUNT).count


def test_a_task_tells_for_how_long_it_has_run_and_what_is_expected(
    lake, settings, mailbox, monkeypatch
):
    monkeypatch.setattr(solving, "EXPECTED_FROM_S", 0.0)
    seen = []

    def solve(*_):
        record = read_record(lake, job)
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda: record.started_at + 0.001)
            seen.append((status(lake, job), record))
        raise ValueError("stopped here")

    monkeypatch.setattr(solving, "solve_whole", solve)
    job = submit(lake, BOARD, COUNT, game="pips", settings=settings)
    with pytest.raises(solving._FailedError):
        solve_message(lake, mailbox[0], settings, "w")
    ((told, record),) = seen
    assert told.state == "working"
    assert told.started_at == record.started_at
    assert record.started_at is not None
    assert told.elapsed_s is not None
    assert 0 < told.left_s <= told.expected_s
    assert told.left_s == told.expected_s - told.elapsed_s


def test_what_a_run_is_expected_to_take_begins_with_what_was_expected(lake, hasty, mailbox):
    job = submit(lake, BOARD, COUNT, game="pips", settings=hasty)
    run_id = solve_message(lake, mailbox[0], hasty, "w")["run_id"]
    record = read_record(lake, job)
    told = [status(lake, job)]
    drive(
        lake,
        run_id,
        InlineOutbox(lake, hasty),
        settings=hasty,
        on_progress=lambda _: told.append(status(lake, job)),
    )
    told = [each for each in told if each.state == "run"]
    first = told[0].expected_s
    assert first == pytest.approx(record.expected.seconds, rel=0.01)
    assert len({each.chunks_done for each in told}) > 2
    assert all(0 <= each.left_s <= each.expected_s for each in told)


def test_a_forecast_goes_from_what_was_expected_to_what_it_took():
    # Expected 10 s, and takes 40 s.
    expected = [forecast(10.0, 40.0 * i / 100, i / 100).expected_s for i in range(101)]
    assert (expected[0], expected[-1]) == (10.0, 40.0)
    assert all(a <= b < 1.2 * a for a, b in pairwise(expected))
    # Takes 4 s.
    left = [forecast(10.0, 4.0 * i / 100, i / 100).left_s for i in range(101)]
    assert (left[0], left[-1]) == (10.0, 0.0)
    assert all(a >= b for a, b in pairwise(left))
    assert forecast(0.0, 3.0, 0.0) == (3.0, 0.0)
    assert forecast(2.0, 30.0, 0.5).left_s > 1.0, "something is left"
