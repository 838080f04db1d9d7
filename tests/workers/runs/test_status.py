"""Cancelling: a file in the lake that stops driver and workers, and can be deleted."""

from __future__ import annotations

from dataclasses import replace

import pytest
import toy_game as toy

from benchmarks.tuned import retuned
from nightgrid.archive.results.solution_files import file_path, files_folder
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.runs.attempt_notes import (
    Note,
    read_attempts,
    read_note,
    take_back,
    write_failure,
    write_note,
)
from nightgrid.workers.runs.finishing.ended import ensure_plan
from nightgrid.workers.runs.manifest import open_run
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.runs.staged import frontier_path
from nightgrid.workers.runs.status import (
    cancel_run,
    is_finished,
    next_name,
    read_run_status,
    resume_run,
)
from tests.workers.conftest import plan, result_rows, undisturbed_rows
from tests.workers.pending import pending_chunks

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")


def test_a_run_that_is_cancelled_in_progress_stops_and_is_resumed(lake, settings, tmp_path):
    boards = toy.boards(200)
    run_id = plan(lake, boards)
    seen = []

    def cancel_after_three(progress):
        seen.append(progress)
        if progress.chunks_done == 3:
            cancel_run(lake, run_id)

    settings = retuned(settings, reconcile_seconds=1e-6)
    executor = InlineOutbox(lake, settings)
    summary = drive(lake, run_id, executor, cancel_after_three, settings=settings)
    assert (summary.finished, summary.cancelled) == (False, True)
    left = read_run_status(lake, run_id)
    assert 3 <= left.chunks_done < left.chunks_done + left.chunks_left
    assert left.cancelled_at is not None

    # While it is cancelled, neither a driver nor a worker with a message continues it.
    assert drive(lake, run_id, executor, seen.append, settings=settings).cancelled
    ref = pending_chunks(lake, open_run(lake, run_id))[0]
    assert solve_chunk(lake, ref, settings, "late") == "stale"
    assert read_run_status(lake, run_id) == left

    resume_run(lake, run_id)
    again = drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert again.finished
    assert again.chunks_resumed == left.chunks_done
    assert result_rows(lake, run_id) == undisturbed_rows(tmp_path, boards)
    assert cancel_run(lake, run_id).finished, "what is finished is not cancelled"
    end = read_run_status(lake, run_id)
    assert (end.cancelled_at, end.chunks_done, end.chunks_left) == (
        None,
        left.chunks_done + left.chunks_left,
        0,
    )


def test_a_missing_run_cannot_be_cancelled(lake):
    with pytest.raises(PermanentError, match="expected a planned run"):
        cancel_run(lake, "0" * 32)


def test_the_notes_of_a_chunk_are_its_attempts(lake):
    ref = ChunkRef(run_id="0" * 32, segment=0, chunk=2)
    assert read_note(lake, ref) is None
    begun = Note(worker="w")
    write_note(lake, ref, begun)
    assert read_note(lake, ref) == begun
    failure = Reason(code=ReasonCode.EXCEPTION, sentence="KeyError: 1")
    assert write_failure(lake, ref, failure)
    assert not write_failure(lake, ref, failure), "it says so"
    take_back(lake, ref, "w")
    assert read_note(lake, ref) == replace(begun, failure=failure), "what failed stays an attempt"
    write_note(lake, replace(ref, attempt=2), begun)
    assert read_attempts(lake, ref.run_id) == {ref.key: 2}
    take_back(lake, replace(ref, attempt=2), "another")
    assert read_attempts(lake, ref.run_id) == {ref.key: 2}
    take_back(lake, replace(ref, attempt=2), "w")
    assert read_attempts(lake, ref.run_id) == {ref.key: 1}


def test_the_name_of_an_ended_run_is_not_reused(lake, settings):
    """Given an ended run, Then the rest continues under the next name, repeatedly."""
    run_id = plan(lake, toy.boards(3))
    assert not is_finished(lake, run_id)
    assert next_name(lake, run_id, more=True) == run_id
    drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert is_finished(lake, run_id)
    assert next_name(lake, run_id, more=False) == run_id
    following = next_name(lake, run_id, more=True)
    assert following != run_id
    assert next_name(lake, following, more=False) == following, "it is free"
    for path in lake.list(f"runs/run={run_id}"):
        lake.delete(path)
    assert next_name(lake, run_id, more=False) == following, "its results stand"


def test_a_damaged_run_is_not_finished(lake, settings):
    run_id = plan(lake, toy.boards(3))
    drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    for path in lake.list(f"runs/run={run_id}"):
        if path.endswith(".json"):
            lake.write_bytes(path, b"{")
    assert not is_finished(lake, run_id)
    assert next_name(lake, run_id, more=True) == run_id, "to plan it again mends it"
    assert ensure_plan(lake, run_id) is None


def test_states_and_solution_files_are_deleted_only_on_request(lake):
    run_id = plan(lake, toy.boards(3), Ask(kind="all"))
    state = frontier_path(ChunkRef(run_id=run_id, segment=0, chunk=0))
    listed = file_path(files_folder(run_id), "ab" * 16, 0, 5)
    for path in (state, listed):
        lake.write_bytes(path, b"kept")
    cancel_run(lake, run_id)
    assert (lake.exists(state), lake.exists(listed)) == (True, True)
    assert cancel_run(lake, run_id, drop_states=True).cancelled_at is not None
    assert (lake.exists(state), lake.exists(listed)) == (False, False)
