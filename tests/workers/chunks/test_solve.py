"""The result of one chunk, row by row."""

import errno
import json
import os
from dataclasses import replace

import numpy as np
import pytest
import toy_game as toy
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.tuned import tuned_settings
from nightgrid.archive.lake.faults import NoRoomError
from nightgrid.archive.lake.schemas import PARTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import MAX_COUNT, Ask, Budget
from nightgrid.solvers.errors import (
    InvalidPuzzleError,
    PermanentError,
    RefusalError,
    TransientError,
)
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.chunks import solve as chunks
from nightgrid.workers.chunks.result_rows import decimals
from nightgrid.workers.chunks.solve import open_run_head, solve_chunk
from nightgrid.workers.chunks.solved_rows import AGAIN, solve_rows
from nightgrid.workers.runs.attempt_notes import read_note
from nightgrid.workers.runs.manifest import open_run
from nightgrid.workers.settings import Settings
from tests.workers.conftest import COUNT, plan

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")


def rows_of(lake, run_id, chunk=0):
    run = open_run(lake, run_id)
    return run, lake.read_row_groups(f"runs/run={run_id}/manifest/seg-00000.parquet", [chunk])


@given(st.lists(st.tuples(st.integers(0, MAX_COUNT), st.booleans()), max_size=20))
def test_counts_of_any_size_pass_exactly_and_invalid_ones_are_null(counts):
    hi = np.array([c >> 64 for c, _ in counts], np.uint64)
    lo = np.array([c & (2**64 - 1) for c, _ in counts], np.uint64)
    column = decimals(hi, lo, np.array([valid for _, valid in counts], bool))
    column.validate(full=True)
    found = [None if value is None else int(value) for value in column.to_pylist()]
    assert found == [count if valid else None for count, valid in counts]


def test_a_part_has_one_row_for_every_manifest_row_in_its_order(lake, settings):
    run, rows = rows_of(lake, plan(lake, toy.boards(30, {4: toy.UNSOLVABLE})))
    part = solve_rows(lake, toy.TOY, run, rows, settings)
    assert part.schema.equals(PARTS, check_metadata=True)
    for name in ("job_no", "job_id", "part_path"):
        assert part.column(name).to_pylist() == rows.column(name).to_pylist()


@pytest.mark.parametrize(("idle", "parts"), [(1, 1), (3, 3)])
def test_a_small_job_over_budget_is_divided_only_among_idle_processes(
    lake, settings, monkeypatch, idle, parts
):
    run_id = plan(lake, toy.boards(1, {0: toy.LARGE}))
    (ref,) = open_run(lake, run_id).chunks()
    run = replace(open_run(lake, run_id), divide_into=idle)
    monkeypatch.setattr(chunks, "open_run_head", lambda *_: run)
    assert solve_chunk(lake, ref, settings, "w", small=True) == "solved"
    (row,) = lake.read_table(ref.result_path, PARTS).to_pylist()
    assert row["status"] == "split"
    found = json.loads(row["children"])
    assert len(found) == parts
    assert (found == [None]) is (idle == 1)


@pytest.mark.parametrize("ask", [COUNT, Ask(kind="all", limit=2)], ids=str)
def test_a_row_over_the_small_budget_gets_a_chunk_of_its_own(lake, settings, ask):
    run, rows = rows_of(lake, plan(lake, toy.boards(20, {7: toy.LARGE}), ask))
    part = solve_rows(lake, toy.TOY, run, rows, settings)
    split = [row for row in part.to_pylist() if row["status"] == "split"]
    assert [row["children"] for row in split] == [AGAIN]
    assert split[0]["reason_code"] == ReasonCode.NODES
    assert split[0]["reason"] == ReasonCode.NODES.sentence


@pytest.mark.parametrize("code", [code for code in ReasonCode if not code.is_budget])
def test_a_capacity_that_no_part_can_avoid_is_not_split(lake, settings, monkeypatch, code):
    # Whatever the sentence says: only the code counts.
    reason = Reason(code=code, sentence="the budget of nodes ran out")
    monkeypatch.setattr(toy.TOY, "reasons", (None, reason), raising=False)
    run, rows = rows_of(lake, plan(lake, toy.boards(1, {0: toy.LARGE})))
    (row,) = solve_rows(lake, toy.TOY, run, rows, settings).to_pylist()
    assert (row["status"], row["count"]) == ("over_budget", None)
    assert (row["reason_code"], row["reason"]) == (code, "the budget of nodes ran out")


def test_a_row_that_the_game_refuses_to_split_stays_over_budget(lake, settings, monkeypatch):
    def refuse(*_):
        raise PermanentError("the board has too many cells to be split")

    monkeypatch.setattr(toy.TOY, "split", refuse, raising=False)
    run, rows = rows_of(lake, plan(lake, toy.boards(1, {0: toy.LARGE})))
    (row,) = solve_rows(lake, toy.TOY, run, rows, settings).to_pylist()
    assert (row["status"], row["reason_code"]) == ("over_budget", ReasonCode.NODES)


def test_a_row_that_is_no_puzzle_is_invalid_and_its_neighbours_are_not(lake, settings, monkeypatch):
    read = toy.TOY.from_arrays

    def refuse_one(arrays, row):
        puzzle = read(arrays, row)
        if puzzle.number == 3:
            raise InvalidPuzzleError("odd-cells", "regions", "the board has 3 cells")
        return puzzle

    monkeypatch.setattr(toy.TOY, "from_arrays", refuse_one, raising=False)
    run, rows = rows_of(lake, plan(lake, toy.boards(10), Ask(kind="first")))
    statuses = {
        r["status"]: r["reason"] for r in solve_rows(lake, toy.TOY, run, rows, settings).to_pylist()
    }
    assert statuses == {"solved": "", "invalid": "regions: the board has 3 cells"}


def test_each_row_of_many_gets_the_smaller_of_both_budgets(lake, settings, monkeypatch):
    seen = []
    solve = toy.TOY.solve_batch

    def spy(arrays, ask, budget):
        seen.append(budget)
        return solve(arrays, ask, budget)

    monkeypatch.setattr(toy.TOY, "solve_batch", spy, raising=False)
    budget = Budget(nodes=500, table_bytes=2**40, seconds=80.0)
    run, rows = rows_of(lake, plan(lake, toy.boards(10), COUNT, budget))
    solve_rows(lake, toy.TOY, run, rows, settings)
    solve_rows(lake, toy.TOY, run, rows.slice(0, 1), settings)
    assert seen == [
        Budget(
            nodes=500,
            table_bytes=settings.tuning.batch_row_table_bytes,
            seconds=settings.tuning.batch_row_seconds,
        ),
        budget,
    ]


def test_rows_get_time_by_the_estimate_of_their_game(lake, settings, monkeypatch):
    seen = []
    solve = toy.TOY.solve

    def spy(puzzle, ask, part, budget):
        seen.append(budget)
        return solve(puzzle, ask, part, budget)

    run, rows = rows_of(lake, plan(lake, toy.boards(10), Ask(kind="first")))
    monkeypatch.setattr(toy.TOY, "cost_s", lambda arrays, ask: np.full(10, 0.3), raising=False)
    monkeypatch.setattr(toy.TOY, "solve", spy, raising=False)
    solve_rows(lake, toy.TOY, run, rows, settings)
    (budget,) = set(seen)
    assert budget.seconds == pytest.approx(3.0)
    more = budget.seconds / settings.tuning.batch_row_seconds
    assert budget.nodes == pytest.approx(more * settings.tuning.batch_row_nodes)


def test_a_worker_notes_its_start_and_deletes_the_note_when_told_to_exit(
    lake, settings, monkeypatch
):
    noted = []

    def die(*_):
        noted.append(read_note(lake, ref).worker)
        raise KeyboardInterrupt

    run_id = plan(lake, toy.boards(5))
    (ref,) = open_run(lake, run_id).chunks()
    monkeypatch.setattr(toy.TOY, "solve_batch", die, raising=False)
    with pytest.raises(KeyboardInterrupt):
        solve_chunk(lake, ref, settings, "worker-7")
    assert noted == ["worker-7"]
    assert not lake.exists(ref.started_path)
    assert not lake.exists(ref.result_path)


def test_the_first_of_two_executions_of_a_chunk_counts(lake, settings, monkeypatch):
    (ref,) = open_run(lake, plan(lake, toy.boards(5))).chunks()
    solve = toy.TOY.solve_batch

    def overtaken(*arguments):
        lake.write_bytes(ref.result_path, b"the faster one")
        return solve(*arguments)

    monkeypatch.setattr(toy.TOY, "solve_batch", overtaken, raising=False)
    assert solve_chunk(lake, ref, settings, "slower") == "done"
    assert lake.read_bytes(ref.result_path) == b"the faster one"


def foreign_lake(lake, ref, monkeypatch):
    return Lake.open(f"{lake.url}-of-others")


def another_version(lake, ref, monkeypatch):
    monkeypatch.setattr(toy.TOY, "solver_version", "toy-2", raising=False)
    return lake


def no_manifest(lake, ref, monkeypatch):
    lake.delete(ref.manifest_path)
    return lake


def read_only(lake, ref, monkeypatch):
    def refuse(*_, **__):
        raise PermanentError("the lake refuses: read-only file system")

    for name in ("write_table", "write_bytes"):
        monkeypatch.setattr(lake, name, refuse)
    return lake


def failing(monkeypatch, code):
    def fail(*_, **__):
        raise OSError(code, os.strerror(code), "/somewhere")

    monkeypatch.setattr(toy.ToyGame, "solve_batch", fail)


def full_disk(lake, ref, monkeypatch):
    failing(monkeypatch, errno.ENOSPC)
    return lake


def many_open_files(lake, ref, monkeypatch):
    failing(monkeypatch, errno.EMFILE)
    return lake


@pytest.mark.parametrize(
    ("disturb", "reason"),
    [
        (full_disk, "does not let the process work: .* No space left on device: '/somewhere'"),
        (many_open_files, "Too many open files"),
        (foreign_lake, "is not in"),
        (another_version, "this worker has toy-2"),
        (no_manifest, "manifest"),
        (read_only, "read-only file system"),
    ],
)
def test_faults_of_a_worker_are_refusals_and_not_faults_of_boards(
    lake, settings, monkeypatch, disturb, reason
):
    run_id = plan(lake, toy.boards(20))
    (ref,) = open_run(lake, run_id).chunks()
    before = lake.list()
    with monkeypatch.context() as patch:
        open_run_head.cache_clear()
        other = disturb(lake, ref, patch)
        with pytest.raises(RefusalError, match=reason):
            solve_chunk(other, ref, settings, "w")
    assert set(lake.list()) <= set(before), "it leaves no note and no result"
    assert not lake.exists(ref.result_path)


@pytest.mark.parametrize("fault", [TransientError("the lake fails"), NoRoomError("a/b: full")])
def test_a_chunk_whose_lake_fails_leaves_no_note_of_a_worker_at_it(
    lake, settings, monkeypatch, fault
):
    """Given a lake that fails temporarily, Then no driver later mistakes the note for a death."""
    (ref,) = open_run(lake, plan(lake, toy.boards(5))).chunks()

    def fail(*_, **__):
        raise fault

    with monkeypatch.context() as patch:
        patch.setattr(lake, "write_table", fail)
        with pytest.raises(type(fault)):
            solve_chunk(lake, ref, settings, "w")
    assert not lake.exists(ref.started_path)
    assert solve_chunk(lake, ref, settings, "w") == "solved"


def test_limits_nest():
    """A task is killed after its kernels' limit, and its message is redelivered later."""
    for changed in (
        Settings(),
        Settings(budget_seconds=3600.0),
        tuned_settings(batch_slice_rows=40_000),
    ):
        kernels_s = max(
            changed.budget_seconds,
            changed.tuning.batch_chunk_seconds + changed.batch_slice_seconds,
        )
        assert kernels_s < changed.hard_limit_seconds < changed.visibility_timeout_seconds
