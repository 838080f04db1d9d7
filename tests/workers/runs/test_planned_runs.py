"""Planning and finishing runs, without any worker."""

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.archive.games import archive_plug
from nightgrid.archive.lake.arrow_to_numpy import arrays_of, slice_arrays
from nightgrid.archive.lake.schemas import PARTS, RESULTS, manifest_schema
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.question import question_of
from nightgrid.workers.runs.finishing.finish import finish_run
from nightgrid.workers.runs.manifest import SegmentTakenError, add_segment, open_run, read_done
from nightgrid.workers.runs.plan import plan_pass
from nightgrid.workers.runs.plan import planner as planning
from nightgrid.workers.runs.plan.plan_pass import (
    CHUNK_MIN_S,
    SHARES_PER_WORKER,
    Asking,
    chunk_s,
    cut,
)
from nightgrid.workers.runs.plan.planner import estimate_run
from tests.drawn import drawn
from tests.workers.conftest import planner_killed
from tests.workers.pending import pending_chunks
from tests.workers.planning import plan_run

PIPS_PUZZLES = archive_plug("pips").puzzles()


def game(**other):
    """The parts of a game that a planner needs: names, and costs of boards."""
    names = {"name": "pips", "solver_version": "test-1", "rules": "", "lexicon_id": ""}
    return SimpleNamespace(cost_s=cost_s, close_cost_s=lambda *_: None, **names | other)


def cost_s(arrays, _ask):
    return 0.25e-3 * np.exp2(np.clip(arrays["size"] - 16.0, 0.0, 32.0))


GAME = game()
COUNT = Ask(kind="count")
BUDGET = Budget()


def puzzles(sizes):
    rows = len(sizes)
    lists = ("cell_row", "cell_col", "cell_region", "region_type", "region_target")
    return pa.table(
        {
            "puzzle_id": [f"{i:032x}" for i in range(rows)],
            "game": ["pips"] * rows,
            **{name: [[i % 7, 1] for i in range(rows)] for name in lists},
            "domino_a": [[i % 7] for i in range(rows)],
            "domino_b": [[1] for _ in range(rows)],
            "size": sizes,
        },
        schema=PIPS_PUZZLES,
    )


@pytest.fixture
def lake(tmp_path):
    return Lake.open(str(tmp_path / "lake"))


def manifest_of(lake, run):
    return [lake.read_row_groups(ref.manifest_path, [ref.chunk]) for ref in run.chunks()]


def part_of(rows, status="solved", count=1):
    return pa.Table.from_pylist(
        [
            {
                "job_no": row["job_no"],
                "job_id": row["job_id"],
                "part_path": row["part_path"],
                "status": status,
                "count": count,
                "truncated": False,
                "reason": "",
                "states": 1,
                "nodes": 1,
                "kernel_ns": 1,
                "table_bytes": 1,
            }
            for row in rows.select(["job_no", "job_id", "part_path"]).to_pylist()
        ],
        PARTS,
    )


def work(lake, run_id, status="solved"):
    for ref in pending_chunks(lake, open_run(lake, run_id)):
        rows = lake.read_row_groups(ref.manifest_path, [ref.chunk])
        lake.write_table(ref.result_path, part_of(rows, status))


def test_every_puzzle_is_in_exactly_one_chunk(lake):
    table = puzzles([8] * 1000)
    run = open_run(lake, plan_run(lake, GAME, table, COUNT, BUDGET))
    rows = pa.concat_tables(manifest_of(lake, run))
    assert rows.schema.equals(manifest_schema(PIPS_PUZZLES))
    assert rows.column("job_no").to_pylist() == list(range(1000))
    assert sorted(rows.column("puzzle_id").to_pylist()) == table.column("puzzle_id").to_pylist()
    named = [question_of(GAME, COUNT).job_id(name) for name in rows.column("puzzle_id").to_pylist()]
    assert rows.column("job_id").to_pylist() == named
    assert set(rows.column("part").to_pylist()) == set(rows.column("part_path").to_pylist()) == {""}
    assert run.job_count == 1000
    assert len(run.segments[0].chunk_cost_s) == len(run.segments[0].chunk_rows)


@settings(max_examples=drawn(20), deadline=None)
@given(
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=300),
    worker_count=st.integers(1, 64),
)
def test_expensive_jobs_come_first_in_chunks_of_their_own_and_cheap_ones_share(
    tmp_path_factory, sizes, worker_count
):
    lake = Lake.open(str(tmp_path_factory.mktemp("plan")))
    # Divided jobs have no chunk of their own: see the tests of dividing.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan_pass, "DIVIDE_S", math.inf)
        patch.setattr(plan_pass, "IDLE_S", math.inf)
        run_id = plan_run(lake, GAME, puzzles(sizes), COUNT, BUDGET, worker_count=worker_count)
    run = open_run(lake, run_id)
    chunks = manifest_of(lake, run)
    costs = [cost_s(arrays_of(chunk), COUNT) for chunk in chunks]
    assert np.allclose(run.segments[0].chunk_cost_s, [cost.sum() for cost in costs], atol=1e-3)
    jobs = np.concatenate(costs)
    assert len(jobs) == len(sizes)
    assert (np.diff(jobs) <= 0).all()
    left = jobs.sum()
    for cost in costs:
        wanted = chunk_s(left, worker_count)
        assert len(cost) == 1 or (cost.max() < wanted and cost[:-1].sum() < 1.001 * wanted)
        left -= cost.sum()


def test_puzzles_may_come_as_a_stream_and_are_the_same_run(lake, monkeypatch):
    table = puzzles([8 + i % 12 for i in range(1000)])
    run_id = plan_run(lake, GAME, table, COUNT, BUDGET)
    planned = pa.concat_tables(manifest_of(lake, open_run(lake, run_id)))
    monkeypatch.setattr(plan_pass, "BATCH_ROWS", 64)
    monkeypatch.setattr(planning, "FIRST_ROWS", 64)

    def again():
        return (table.slice(start, 90) for start in range(0, 1000, 70))

    before = {name: lake.read_bytes(name) for name in lake.list()}
    assert plan_run(lake, GAME, again, COUNT, BUDGET) == run_id
    assert {name: lake.read_bytes(name) for name in lake.list()} == before
    for name in before:
        lake.delete(name)
    assert plan_run(lake, GAME, again, COUNT, BUDGET) == run_id
    assert len(open_run(lake, run_id).segments) > 1
    rows = pa.concat_tables(manifest_of(lake, open_run(lake, run_id)))
    assert rows.column("job_no").to_pylist() == list(range(1000))
    assert sorted(rows.column("job_id").to_pylist()) == sorted(planned.column("job_id").to_pylist())


def test_an_estimate_describes_a_plan_and_writes_nothing(lake):
    table = puzzles([8] * 50)
    work(lake, plan_run(lake, GAME, table.slice(0, 20), COUNT, BUDGET))
    finish_run(lake, plan_run(lake, GAME, table.slice(0, 20), COUNT, BUDGET))
    before = lake.list()
    said = estimate_run(Asking(lake, GAME, COUNT, BUDGET), pa.concat_tables([table, table]))
    assert (said.job_count, said.answered_count, said.repeated_count) == (30, 20, 50)
    assert lake.list() == before
    run = open_run(lake, plan_run(lake, GAME, table, COUNT, BUDGET))
    assert said.chunk_count == len(run.chunks())
    assert said.cost_s == pytest.approx(sum(run.segments[0].chunk_cost_s), abs=1e-3)


@given(
    costs=st.lists(st.floats(1e-4, 3.0), min_size=2, max_size=300),
    worker_count=st.integers(1, 16),
    seed=st.integers(0, 99),
)
def test_workers_end_together_though_every_estimate_is_off(costs, worker_count, seed):
    cost = np.sort(np.array(costs))[::-1]
    taken = cost * np.exp2(np.random.default_rng(seed).normal(0.0, 1.0, len(cost)))
    chunks = [(taken[a:b].sum(), cost[a:b].sum()) for a, b in cut(cost, 0.0, worker_count)]
    free_at = np.zeros(worker_count)
    for seconds, _ in sorted(chunks, key=lambda chunk: -chunk[1]):
        free_at[free_at.argmin()] += seconds
    # At the end nobody waits longer than for a job, or for a chunk of ordinary size.
    idle = free_at.max() - taken.sum() / worker_count
    share = taken.sum() / worker_count / SHARES_PER_WORKER
    assert idle <= max(taken.max(), 4 * share, 8 * CHUNK_MIN_S)


def test_the_same_question_is_the_same_run_and_another_one_is_not(lake):
    table = puzzles([8] * 20)
    run_id = plan_run(lake, GAME, table, COUNT, BUDGET)
    shuffled = table.take(pa.array(list(reversed(range(20)))))
    assert plan_run(lake, GAME, shuffled, COUNT, BUDGET) == run_id
    others = [
        plan_run(lake, GAME, table, Ask(kind="first"), BUDGET),
        plan_run(lake, GAME, table, COUNT, Budget(nodes=5)),
        plan_run(lake, GAME, table.slice(1), COUNT, BUDGET),
        plan_run(lake, game(solver_version="test-2"), table, COUNT, BUDGET),
        plan_run(lake, game(rules="words=any"), table, COUNT, BUDGET),
        plan_run(lake, game(lexicon_id="abc"), table, COUNT, BUDGET),
    ]
    assert len({run_id, *others}) == 7


def test_answered_jobs_and_repeated_puzzles_are_not_planned(lake):
    table = puzzles([8] * 50)
    run_id = plan_run(lake, GAME, table.slice(0, 20), COUNT, BUDGET)
    work(lake, run_id)
    finish_run(lake, run_id)
    twice = pa.concat_tables([table, table])
    run = open_run(lake, plan_run(lake, GAME, twice, COUNT, BUDGET))
    assert (run.job_count, run.answered_count) == (30, 20)
    nothing = open_run(lake, plan_run(lake, GAME, table.slice(0, 20), COUNT, BUDGET))
    assert (nothing.job_count, nothing.answered_count) == (0, 20)
    assert pending_chunks(lake, nothing) == []
    assert finish_run(lake, nothing.run_id)["result_count"] == 0


def test_an_unplanned_or_half_planned_run_is_refused(lake):
    with pytest.raises(PermanentError, match="expected a planned run"):
        open_run(lake, "0" * 32)
    with pytest.raises(PermanentError, match="expected 32 hexadecimal digits"):
        open_run(lake, "../secrets")


def test_results_are_one_row_a_job_sorted_and_the_same_bytes_whoever_finishes(lake, kept_files):
    run_id = plan_run(lake, GAME, puzzles([8] * 100), COUNT, BUDGET)
    with pytest.raises(PermanentError, match="is not done"):
        finish_run(lake, run_id)
    work(lake, run_id)
    done = finish_run(lake, run_id)
    path = f"results/{run_id}.parquet"
    written = lake.read_bytes(path)
    table = lake.read_table(path, RESULTS)
    assert done["statuses"] == {"solved": 100}
    assert table.column("job_id").to_pylist() == sorted(table.column("job_id").to_pylist())
    assert set(table.column("parts").to_pylist()) == {1}
    assert finish_run(lake, run_id) == done == read_done(lake, run_id)
    lake.delete(f"runs/run={run_id}/DONE.json")
    finish_run(lake, run_id)
    assert lake.read_bytes(path) == written


def test_a_job_that_another_run_has_answered_meanwhile_keeps_that_answer(lake):
    table = puzzles([8] * 40)
    one = plan_run(lake, GAME, table.slice(0, 30), COUNT, BUDGET)
    other = plan_run(lake, GAME, table.slice(20, 20), COUNT, BUDGET)
    for run_id in (one, other):
        work(lake, run_id)
        finish_run(lake, run_id)
    ids = lake.read_table("results", RESULTS, ["job_id"]).column("job_id").to_pylist()
    assert len(ids) == len(set(ids)) == 40
    assert read_done(lake, other)["result_count"] == 10


def test_a_segment_is_never_written_over(lake):
    run_id = plan_run(lake, GAME, puzzles([8] * 10), COUNT, BUDGET)
    (rows,) = manifest_of(lake, open_run(lake, run_id))
    chunks = [rows.slice(i, 1) for i in range(10)]
    add_segment(lake, run_id, 1, "halved", [(0, 0)] * 10, chunks)
    run = open_run(lake, run_id)
    with pytest.raises(SegmentTakenError, match="another process has added segment 1"):
        add_segment(lake, run_id, 1, "split", [(0, 0)], chunks[:1])
    assert open_run(lake, run_id) == run
    keys = [ref.key for ref in pending_chunks(lake, run)]
    assert keys == [(1, i) for i in range(10)]


def test_a_run_planned_twice_at_once_keeps_the_chunks_of_the_first(lake, monkeypatch):
    boards = puzzles([8] * 200)
    run_id = plan_run(lake, GAME, boards, COUNT, BUDGET, worker_count=1)
    run = open_run(lake, run_id)
    lake.delete(f"runs/run={run_id}/plan.json")
    assert plan_run(lake, GAME, boards, COUNT, BUDGET, worker_count=50) == run_id
    assert open_run(lake, run_id).segments == run.segments


@pytest.fixture
def small_segments(monkeypatch):
    monkeypatch.setattr(plan_pass, "BATCH_ROWS", 16)
    monkeypatch.setattr(planning, "FIRST_ROWS", 16)


def check_whole(lake, run_id, table):
    """Every puzzle is one numbered job of a completely planned run."""
    run = open_run(lake, run_id)
    rows = pa.concat_tables(manifest_of(lake, run))
    assert run.planned
    assert (run.job_count, run.puzzle_count) == (len(table), len(table))
    assert sorted(rows.column("job_no").to_pylist()) == list(range(len(table)))
    assert sorted(rows.column("puzzle_id").to_pylist()) == table.column("puzzle_id").to_pylist()


@pytest.mark.parametrize("when", [0, 1, 3, "before the plan"])
def test_a_planner_that_was_killed_anywhere_is_continued_under_the_same_name(
    lake, monkeypatch, small_segments, when
):
    table = puzzles([8] * 150)
    with planner_killed(monkeypatch, when):
        plan_run(lake, GAME, table, COUNT, BUDGET)
    (asked,) = [name for name in lake.list("runs") if name.endswith("/asked.json")]
    run_id = plan_run(lake, GAME, table.take(pa.array(range(149, -1, -1))), COUNT, BUDGET)
    assert asked == f"runs/run={run_id}/asked.json"
    assert len(open_run(lake, run_id).segments) > 3
    check_whole(lake, run_id, table)


def test_answers_during_planning_do_not_change_the_jobs_of_a_run(lake, monkeypatch, small_segments):
    table = puzzles([8] * 150)
    other = plan_run(lake, GAME, table.slice(140), COUNT, BUDGET)
    add_plan = planning.add_plan

    def stream(*arguments):
        work(lake, other)
        finish_run(lake, other)
        return add_plan(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(planning, "add_plan", stream)
        run_id = plan_run(lake, GAME, table, COUNT, BUDGET)
    check_whole(lake, run_id, table)


@settings(max_examples=drawn(60), deadline=None)
@given(lists=st.lists(st.lists(st.integers(-9, 9), max_size=4), max_size=12), data=st.data())
def test_slices_of_columns_equal_slices_of_the_table(lists, data):
    table = pa.table(
        {
            "a": pa.array(lists, pa.list_(pa.int32())),
            "size": pa.array([len(item) for item in lists], pa.int32()),
            "name": ["x"] * len(lists),
        }
    )
    start = data.draw(st.integers(0, len(lists)))
    stop = data.draw(st.integers(start, len(lists)))
    for arrays in (
        slice_arrays(arrays_of(table), start, stop),
        arrays_of(table.slice(start, stop - start)),
    ):
        offsets, values = arrays["a.offsets"], arrays["a.values"]
        assert offsets[0] == 0
        rows = [values[i:j].tolist() for i, j in pairwise(offsets)]
        assert rows == lists[start:stop]
        assert arrays["size"].tolist() == [len(row) for row in rows]
        assert set(arrays) == {"a.values", "a.offsets", "size"}
