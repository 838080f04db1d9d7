"""Strands through real Celery workers: divided ahead, divided again, merged, and as if whole."""

import json
from itertools import groupby

import pyarrow as pa
import pytest

import nightgrid.solvers.registry
from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import MANIFEST_HEAD, PARTS, RESULTS, SOLUTIONS
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.strands.generate import generate
from nightgrid.workers.cluster.local import local_cluster
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import CeleryOutbox
from nightgrid.workers.runs.finishing.finish import path_key
from nightgrid.workers.runs.manifest import open_run
from tests.workers.conftest import divide_all, quick_settings
from tests.workers.planning import plan_run

# Workers compile or load kernels and open the English words before they begin.
pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(600),
    pytest.mark.long(
        short="tests/workers/runs/test_strands.py::test_a_run_says_what_the_game_says_whether_it_was_divided_ahead_or_not"
    ),
]

BOARD, _ = generate("TRAIN", ["COAT", "LEMON", "STONES"], 3, rows=4, columns=5)
LIGHTER, _ = generate("STAR", ["LEMON", "CAT"], 1, rows=3, columns=4)
OTHER, _ = generate("TRAIN", ["COAT", "LEMON", "STONES"], 4, rows=4, columns=5)


@pytest.fixture(autouse=True, scope="module")
def real_games(toy_in_place_of_pips):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nightgrid.archive.words.binding.game_named", nightgrid.solvers.registry.game)
        patch.setattr("nightgrid.archive.words.binding._open", {})
        yield


@pytest.fixture(scope="module")
def strands(real_games):
    return bind_game("strands")


@pytest.fixture(scope="module")
def strands_cluster(real_games, tmp_path_factory):
    """A lake with an embedded server and two batch processes that play Strands."""
    settings = quick_settings(
        tmp_path_factory.mktemp("strands"),
        celery_app="nightgrid.workers.app",
        games="strands",
        split_depth_max=6,
        liveness_ttl_seconds=10.0,
    )
    with local_cluster(settings, roles=("server", "batch")):
        yield settings


def worked(settings, game, puzzles, ask, budget):
    """Plan a run and work it through Celery; return its lake and its id."""
    lake = Lake.open(settings.lake)
    table = puzzles_table(game, puzzles)
    run_id = plan_run(lake, game, table, Ask.parse(ask), budget)
    executor = CeleryOutbox(settings)
    try:
        summary = drive(lake, run_id, executor, settings=settings)
    finally:
        executor.close()
    assert summary.finished
    assert summary.failures == 0
    return lake, run_id


def parts_of(lake, run_id):
    """Every part that the manifest names, by job, in the order of their paths."""
    table = lake.read_table(f"runs/run={run_id}/manifest", pa.schema(MANIFEST_HEAD))
    rows = sorted(table.to_pylist(), key=lambda r: (r["job_no"], path_key(r["part_path"])))
    return {job: list(group) for job, group in groupby(rows, key=lambda r: r["job_no"])}


def stored(lake, run_id, puzzle):
    table = lake.read_table(f"solutions/{run_id}.parquet", SOLUTIONS).sort_by("rank")
    rows = [row for row in table.to_pylist() if row["puzzle_id"] == puzzle.puzzle_id]
    assert [row["rank"] for row in rows] == list(range(len(rows)))
    return [json.loads(row["solution"]) for row in rows]


def check_as_whole(game, lake, run_id, puzzle, ask, whole):
    """Hold a job's row and its solutions to the outcome of the whole; return the row."""
    rows = lake.read_table(f"results/{run_id}.parquet", RESULTS).to_pylist()
    (row,) = [row for row in rows if row["puzzle_id"] == puzzle.puzzle_id]
    assert (row["status"], int(row["count"])) == (whole.status, whole.count)
    assert (row["rules"], row["lexicon_id"]) == (game.rules, game.lexicon_id)
    if ask != "count":
        assert [canonical_json(found) for found in stored(lake, run_id, puzzle)] == [
            canonical_json(game.solution_to_json(cover)) for cover in whole.solutions
        ]
    return row


@pytest.mark.parametrize("ask", ["count", "best(6)"])
def test_boards_divided_ahead_end_as_if_each_was_solved_whole(
    strands, strands_cluster, ask, monkeypatch
):
    puzzles = [BOARD, LIGHTER]
    divide_all(monkeypatch, 8)
    lake, run_id = worked(strands_cluster, strands, puzzles, ask, Budget())
    for parts in parts_of(lake, run_id).values():
        # Spangrams with their zones, in order and without a gap.
        ranges = [json.loads(part["part"]) for part in parts]
        assert len(ranges) == 8
        assert all(found["under"] == [] for found in ranges)
        assert [found["from"] for found in ranges] == [0, *(found["to"] for found in ranges[:-1])]
    assert len(parts_of(lake, run_id)) == len(puzzles)
    for puzzle in puzzles:
        outcome = strands.solve(puzzle, Ask.parse(ask))
        row = check_as_whole(strands, lake, run_id, puzzle, ask, outcome)
        assert row["parts"] == 8


def test_a_list_is_counted_before_it_is_divided_and_ends_as_the_whole(
    strands, strands_cluster, monkeypatch
):
    puzzles, ask = [BOARD, LIGHTER], "all(40)"
    divide_all(monkeypatch, 8)
    lake, run_id = worked(strands_cluster, strands, puzzles, ask, Budget())
    for puzzle in puzzles:
        outcome = strands.solve(puzzle, Ask.parse(ask))
        row = check_as_whole(strands, lake, run_id, puzzle, ask, outcome)
        assert row["parts"] == 1, "so few solutions are one file's"


@pytest.mark.parametrize("ask", ["count", "best(6)"])
def test_a_part_that_is_too_large_is_divided_again_and_once_more(
    strands, strands_cluster, ask, monkeypatch
):
    outcome = strands.solve(OTHER, Ask.parse(ask))
    # One of two parts needs half of the nodes or more, one of its four an eighth.
    budget = Budget(nodes=outcome.statistics.nodes // 12)
    divide_all(monkeypatch, 2)
    lake, run_id = worked(strands_cluster, strands, [OTHER], ask, budget)
    table = lake.read_table(f"runs/run={run_id}/parts", PARTS)
    divided = [row for row in table.to_pylist() if row["status"] == "split"]
    assert {len(path_key(row["part_path"])) for row in divided} >= {1, 2}
    assert "split" in {segment.kind for segment in open_run(lake, run_id).segments}
    (parts,) = parts_of(lake, run_id).values()
    assert max(len(path_key(part["part_path"])) for part in parts) >= 3
    row = check_as_whole(strands, lake, run_id, OTHER, ask, outcome)
    assert row["parts"] == len(parts) - len(divided)
