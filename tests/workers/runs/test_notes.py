"""Cancelling: a word in the lake that stops driver and workers, and that can be taken back."""

from __future__ import annotations

import pytest
import toy_game as toy

from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.executors import InlineExecutor
from nightgrid.workers.runs.manifest import open_run
from nightgrid.workers.runs.notes import cancel_run, remains_of, take_up_run
from tests.workers.conftest import plan, result_rows, undisturbed_rows
from tests.workers.pending import pending_chunks

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")


def test_a_run_cancelled_on_its_way_stops_and_goes_on_where_it_was(lake, settings, tmp_path):
    boards = toy.boards(200)
    run_id = plan(lake, boards)
    seen = []

    def cancel_after_three(progress):
        seen.append(progress)
        if progress.chunks_done == 3:
            cancel_run(lake, run_id)

    settings = settings.model_copy(update={"reconcile_seconds": 1e-6})
    executor = InlineExecutor(lake, settings)
    summary = drive(lake, run_id, executor, cancel_after_three, settings=settings)
    assert (summary.finished, summary.cancelled) == (False, True)
    left = remains_of(lake, run_id)
    assert 3 <= left.chunks_done < left.chunks_done + left.chunks_left
    assert left.cancelled_at is not None

    # Nobody touches it as long as the word stands: neither a driver nor a worker with a message.
    assert drive(lake, run_id, executor, seen.append, settings=settings).cancelled
    ref = pending_chunks(lake, open_run(lake, run_id))[0]
    assert solve_chunk(lake, ref, settings, "late").state == "stale"
    assert remains_of(lake, run_id) == left

    take_up_run(lake, run_id)
    again = drive(lake, run_id, InlineExecutor(lake, settings), settings=settings)
    assert again.finished
    assert again.chunks_resumed == left.chunks_done
    assert result_rows(lake, run_id) == undisturbed_rows(tmp_path, boards)
    assert cancel_run(lake, run_id).finished, "what is finished is not cancelled"
    assert remains_of(lake, run_id).cancelled_at is None


def test_progress_tells_states_and_the_age_of_the_oldest_chunk(lake, settings):
    seen = []
    run_id = plan(lake, toy.boards(100))
    drive(lake, run_id, InlineExecutor(lake, settings), seen.append, settings=settings)
    states = [progress.states for progress in seen]
    assert states == sorted(states)
    assert states[-1] == 300, "three a board of the toy"
    assert any(progress.oldest_seconds is not None for progress in seen)
    assert seen[-1].oldest_seconds is None


def test_a_run_that_is_not_there_cannot_be_cancelled(lake):
    with pytest.raises(PermanentError, match="expected a planned run"):
        cancel_run(lake, "0" * 32)
