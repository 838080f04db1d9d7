"""A run solved while it is planned: whatever is killed, nothing is planned twice or lost."""

from __future__ import annotations

import threading
import time
from collections import Counter

import pyarrow as pa
import pytest
import toy_game as toy

from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.runs.manifest import SegmentTakenError, add_segment, open_run, read_segments
from nightgrid.workers.runs.plan import plan_pass
from nightgrid.workers.runs.plan import planner as planning
from nightgrid.workers.runs.plan.plan_pass import Asking
from nightgrid.workers.runs.plan.planner import begin_run, extend_run
from nightgrid.workers.runs.run_files import segment_path
from tests.workers.conftest import (
    BUDGET,
    COUNT,
    KilledError,
    result_rows,
    undisturbed_rows,
)

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

RUN_ID = "c0" * 16
BOARDS = toy.boards(300, {7: toy.LARGE, 150: toy.UNSOLVABLE, 290: toy.LARGE})


@pytest.fixture(autouse=True)
def _many_segments(monkeypatch):
    monkeypatch.setattr(plan_pass, "BATCH_ROWS", 16)
    monkeypatch.setattr(planning, "FIRST_ROWS", 20)


def asking(lake):
    return Asking(lake, toy.TOY, COUNT, BUDGET)


def begin(lake):
    begin_run(asking(lake), RUN_ID, puzzle_count=len(BOARDS))


def extend(lake, boards=BOARDS):
    extend_run(asking(lake), lambda: [boards], RUN_ID)


def before_segments(patch, act):
    """Let something happen before the planner writes each segment."""
    add_plan = planning.add_plan

    def stream(*arguments):
        act()
        return add_plan(*arguments)

    patch.setattr(planning, "add_plan", stream)


def test_the_first_segments_are_small_and_batches_run_over_the_tables_of_a_corpus(
    lake, monkeypatch
):
    monkeypatch.setattr(plan_pass, "BATCH_ROWS", 32)
    monkeypatch.setattr(planning, "FIRST_ROWS", 4)
    begin(lake)
    # Tables that no batch ends with.
    tables = [BOARDS.slice(start, 7) for start in range(0, len(BOARDS), 7)]
    extend_run(asking(lake), lambda: tables, RUN_ID)
    sizes = [sum(s.chunk_rows) for s in open_run(lake, RUN_ID).segments if s.kind == "plan"]
    assert sizes[:4] == [4, 8, 16, 32]
    whole = [row["puzzle_id"] for row in planned_jobs(lake) if not row["part_path"]]
    assert sorted(whole) == sorted(BOARDS.column("puzzle_id").to_pylist())


def planner_beside(lake):
    """Plan the run in a thread of its own."""
    planner = threading.Thread(target=extend, args=(lake,))
    planner.start()
    return planner


def planned_jobs(lake):
    """The jobs of the plan: number and puzzle of each whole one, with repetitions."""
    run = open_run(lake, RUN_ID)
    rows = [
        lake.read_row_groups(segment_path(RUN_ID, segment.number), [chunk]).select(
            ["job_no", "puzzle_id", "part_path"]
        )
        for segment in run.segments
        if segment.kind == "plan"
        for chunk in range(len(segment.chunk_rows))
    ]
    return pa.concat_tables(rows).to_pylist()


def check_plan(lake):
    """Every puzzle is one job, numbered from 0."""
    rows = [row for row in planned_jobs(lake) if row["part_path"] in ("", "0")]
    run = open_run(lake, RUN_ID)
    assert run.planned
    assert sorted(row["job_no"] for row in rows) == list(range(300))
    assert sorted(row["puzzle_id"] for row in rows) == sorted(
        BOARDS.column("puzzle_id").to_pylist()
    )
    assert (run.job_count, run.answered_count, run.puzzle_count) == (300, 0, 300)


def check_results(lake, tmp_path):
    assert result_rows(lake, RUN_ID) == undisturbed_rows(tmp_path, BOARDS)


def test_a_plan_that_is_made_in_segments_has_every_job_once(lake):
    begin(lake)
    assert not open_run(lake, RUN_ID).planned
    extend(lake)
    check_plan(lake)
    run = open_run(lake, RUN_ID)
    assert len(run.segments) > 5
    assert {segment.kind for segment in run.segments} == {"plan"}
    assert all(len(s.chunk_cost_s) == len(s.chunk_rows) for s in run.segments)
    extend(lake)
    assert open_run(lake, RUN_ID) == run, "what is planned to its end stays as it is"


@pytest.mark.parametrize("seed", range(4))
def test_planners_at_the_same_run_plan_nothing_twice(lake, monkeypatch, seed):
    begin(lake)
    gate = threading.Lock()
    failures, begun = [], set()
    all_begin = threading.Barrier(3, timeout=60.0)

    def stream(*arguments):
        # All three have seen the same plan before any of them adds to it.
        if threading.get_ident() not in begun:
            begun.add(threading.get_ident())
            all_begin.wait()
        # The writer of the next segment changes every few milliseconds.
        time.sleep(0.002 * ((seed + threading.get_ident() // 64) % 4))
        try:
            return add_plan(*arguments)
        except SegmentTakenError:
            with gate:
                failures.append(1)
            raise

    add_plan = planning.add_plan
    monkeypatch.setattr(planning, "add_plan", stream)
    planners = [threading.Thread(target=extend, args=(lake,)) for _ in range(3)]
    for planner in planners:
        planner.start()
    for planner in planners:
        planner.join()
    check_plan(lake)
    assert failures, "nobody ever came second"


def test_a_segment_that_a_driver_adds_meanwhile_does_not_disturb_the_planner(lake, monkeypatch):
    begin(lake)
    streamed = []

    def stream(*arguments):
        streamed.append(1)
        if len(streamed) == 3:
            (row,) = planned_jobs(lake)[:1]
            rows = lake.read_row_groups(segment_path(RUN_ID, 0), [0]).slice(0, 1)
            assert rows.column("job_no").to_pylist() == [row["job_no"]]
            add_segment(lake, RUN_ID, 2, "split", [(0, 0)], [rows])
        return add_plan(*arguments)

    add_plan = planning.add_plan
    monkeypatch.setattr(planning, "add_plan", stream)
    extend(lake)
    kinds = [segment.kind for segment in open_run(lake, RUN_ID).segments]
    assert Counter(kinds)["split"] == 1
    assert kinds[2] == "split"
    assert len(streamed) == len(kinds) - 1, "no segment was written twice"


@pytest.mark.parametrize("pause_s", [0.0, 0.03])
def test_a_run_is_solved_while_it_is_planned(
    lake, settings, monkeypatch, tmp_path, pause_s, kept_files
):
    begin(lake)

    def pause():
        time.sleep(pause_s)
        ends_at = time.monotonic() + 60.0
        while pause_s and lake.exists(segment_path(RUN_ID, 3)) and not was_split():
            assert time.monotonic() < ends_at, "no row came back split before"
            time.sleep(0.005)

    def was_split():
        return any(segment.kind == "split" for segment in read_segments(lake, RUN_ID))

    before_segments(monkeypatch, pause)
    planner = planner_beside(lake)
    shares = []
    summary = drive(
        lake,
        RUN_ID,
        InlineOutbox(lake, settings),
        lambda progress: shares.append((progress.planned_share, progress.chunks_done)),
        settings=settings,
        check_planner=lambda: None,
    )
    planner.join()
    assert summary.finished
    assert summary.job_count == 300
    assert shares == sorted(shares)
    if pause_s:
        assert any(share < 1.0 and done for share, done in shares), "nothing was worked before"
        kinds = [segment.kind for segment in read_segments(lake, RUN_ID)]
        assert "plan" in kinds[kinds.index("split") :], "no row came back split before"
    check_results(lake, tmp_path)


def test_a_driver_whose_planner_has_died_says_so_and_the_next_continues(
    lake, settings, monkeypatch, tmp_path
):
    begin(lake)

    def die():
        if lake.exists(segment_path(RUN_ID, 2)):
            raise KilledError

    with monkeypatch.context() as patch:
        before_segments(patch, die)
        with pytest.raises(KilledError):
            extend(lake)

    def check():
        raise TransientError("the process that planned was killed")

    executor = InlineOutbox(lake, settings)
    with pytest.raises(TransientError, match="was killed"):
        drive(lake, RUN_ID, executor, settings=settings, check_planner=check)
    with pytest.raises(PermanentError, match="not planned to its end, and no process plans it"):
        drive(lake, RUN_ID, executor, settings=settings)
    extend(lake)
    assert drive(lake, RUN_ID, executor, settings=settings).finished
    check_results(lake, tmp_path)
