"""What jobs are expected to take, learnt from runs."""

import numpy as np
import pyarrow as pa
import pytest

from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.json_files import read_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import PARTS, RESULTS
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.pips.generate.generator import generate_many
from nightgrid.solvers.pips.generate.mix import LEVELS, PRESETS
from nightgrid.solvers.question import question_of
from nightgrid.solvers.registry import game
from nightgrid.workers.runs.finishing.finish import finish_run
from nightgrid.workers.runs.job_keys import ids_of, name_jobs
from nightgrid.workers.runs.manifest import open_run
from nightgrid.workers.runs.plan import costs
from nightgrid.workers.runs.plan.costs import Estimator, Lesson, cost_path, read_model
from nightgrid.workers.runs.plan.planner import plan_run
from tests.workers.pending import pending_chunks

COUNT = Ask(kind="count")
PIPS = game("pips")
MODEL = question_of(PIPS, COUNT)
NAMES = PIPS.features(PIPS.to_arrays([]))[0]


@pytest.fixture(scope="module")
def boards():
    drawn = generate_many(1, 240, [PRESETS[level] for level in LEVELS], 0)
    return puzzles_table(PIPS, [puzzle for puzzle, _ in drawn])


@pytest.fixture
def lake(tmp_path):
    return Lake.open(str(tmp_path / "lake"))


def true_s(arrays):
    """What a machine takes that the game's own estimate knows nothing of."""
    free = PIPS.features(arrays)[1][:, NAMES.index("free_cells")]
    return 3e-5 * np.exp2(0.5 * arrays["size"] + 0.3 * free)


def run_of(lake, table, status="solved", budget=None, slower=1.0):
    run_id = plan_run(lake, PIPS, table, COUNT, budget or Budget())
    for ref in pending_chunks(lake, open_run(lake, run_id)):
        rows = lake.read_row_group(ref.manifest_path, ref.chunk)
        took_ns = (1e9 * slower * true_s(arrays_of(rows))).astype(np.int64)
        part = rows.select(["job_no", "job_id", "part_path"]).to_pylist()
        blank = {"truncated": False, "reason": "", "states": 1, "nodes": 1, "table_bytes": 1}
        part = [
            {**row, "status": status, "count": None if status == "over_budget" else 1, **blank}
            | {"kernel_ns": int(ns)}
            for row, ns in zip(part, took_ns, strict=True)
        ]
        lake.write_table(ref.result_path, pa.Table.from_pylist(part, PARTS))
    finish_run(lake, run_id)
    return run_id


def expected_s(lake, table):
    keys = name_jobs(MODEL, table.column("puzzle_id"))
    return Estimator(lake, PIPS, COUNT).expect(keys, arrays_of(table))


def errors(lake, table):
    return np.abs(np.log2(expected_s(lake, table) / true_s(arrays_of(table))))


def test_what_a_run_took_tells_what_other_boards_will_take(lake, boards):
    seen, unseen = boards.slice(0, 160), boards.slice(160)
    before = errors(lake, unseen)
    assert expected_s(lake, unseen).tolist() == (PIPS.cost_s(arrays_of(unseen), COUNT).tolist())
    run_of(lake, seen)
    after = errors(lake, unseen)
    assert np.median(before) > 1
    assert np.median(after) < 0.3
    told = read_json(lake, cost_path(MODEL))
    assert told["error_log2_p50"] > 1
    run_of(lake, unseen)
    assert read_json(lake, cost_path(MODEL))["error_log2_p50"] < 0.3


def test_a_board_of_pips_is_expected_to_take_longer_the_larger_it_is():
    own_s = PIPS.cost_s({"size": np.arange(1, 2000)}, COUNT)
    assert np.isfinite(own_s).all()
    assert (np.diff(own_s) >= 0).all()
    assert (np.diff(own_s[:40]) > 0).all()


def test_a_handful_of_rows_hardly_moves_what_the_game_says(lake, boards):
    own_s = PIPS.cost_s(arrays_of(boards), COUNT)
    run_of(lake, boards.slice(0, 1), slower=1000.0)
    said_s = expected_s(lake, boards)
    assert np.log2(said_s / own_s).max() < 5.0


def test_jobs_over_budget_took_longer_than_is_known(lake, boards):
    run_of(lake, boards.slice(0, 200))
    before_s = expected_s(lake, boards)
    # Given up early: that they took less than expected says nothing.
    run_of(lake, boards.slice(200), status="over_budget", budget=Budget(nodes=1), slower=1e-3)
    assert np.abs(np.log2(expected_s(lake, boards) / before_s)).max() < 0.3
    run_of(lake, boards.slice(200), status="over_budget", budget=Budget(nodes=2), slower=1e3)
    assert expected_s(lake, boards).sum() > 1.5 * before_s.sum()


def test_a_run_is_learnt_from_once_and_its_boards_decide_what_comes_first(lake, boards):
    run_id = run_of(lake, boards)
    told = lake.read_bytes(cost_path(MODEL))
    lesson = Lesson(lake, open_run(lake, run_id))
    assert sum(map(len, lesson.note([lake.read_table("results", RESULTS)]))) == len(boards)
    lesson.learn()
    assert lake.read_bytes(cost_path(MODEL)) == told
    assert read_json(lake, cost_path(MODEL))["runs"] == [run_id]
    again = open_run(lake, plan_run(lake, PIPS, boards, COUNT, Budget(nodes=7)))
    assert again.job_count == 0
    lake.delete(f"results/{run_id}.parquet")
    again = open_run(lake, plan_run(lake, PIPS, boards, COUNT, Budget(nodes=7)))
    path = f"runs/run={again.run_id}/manifest/seg-00000.parquet"
    taken = true_s(arrays_of(pa.concat_tables(lake.iter_row_groups(path, boards.column_names))))
    half = len(taken) // 2
    assert taken[:half].sum() > 5 * taken[half:].sum()


def test_what_was_learnt_of_other_features_is_nothing(lake, boards):
    run_of(lake, boards)
    assert read_model(lake, MODEL, NAMES).rows == len(boards)
    assert read_model(lake, MODEL, ("another",)).rows == 0


def test_the_sample_is_the_same_jobs_however_they_come(lake, boards, monkeypatch):
    monkeypatch.setattr(costs, "SAMPLE_JOBS", 50)
    keys = name_jobs(MODEL, boards.column("puzzle_id"))
    kept = []
    for step in (240, 7):
        estimator = Estimator(lake, PIPS, COUNT)
        for start in range(0, 240, step):
            part = slice(start, start + step)
            estimator.expect(keys[part], arrays_of(boards.slice(start, step)))
        estimator.keep_sample("0" * 32)
        sample = read_json(lake, f"runs/run={'0' * 32}/sample.json")
        assert set(sample["job_ids"]) < set(ids_of(keys).to_pylist())
        assert len(sample["features"]) == len(sample["own_s"]) == len(sample["job_ids"])
        kept.append(sample)
    assert kept[0] == kept[1]
    assert 10 <= len(kept[0]["job_ids"]) <= 50


@pytest.mark.parametrize("name", ["pips", "strands", "letterboxed", "tiles"])
def test_features_of_no_board_are_a_table_without_rows(name):
    room = game(name)
    names, features = room.features(room.to_arrays([]))
    assert features.shape == (0, len(names))
