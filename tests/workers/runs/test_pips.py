"""Runs of real Pips boards, divided and merged, have the results of whole solves."""

from dataclasses import replace
from functools import partial

import pytest

import nightgrid.solvers.registry
from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.schemas import PARTS, RESULTS, SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.pips.game import PipsGame
from nightgrid.solvers.pips.generate.generator import generate, generate_many
from nightgrid.solvers.pips.generate.mix import LOOSE, PRESETS
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.runs.staged import first_stage
from tests.workers.conftest import divide_all, quick_settings
from tests.workers.planning import plan_run

PIPS = PipsGame()

BOARDS = 8


@pytest.fixture(autouse=True)
def real_game(toy_in_place_of_pips, monkeypatch):
    monkeypatch.setattr(
        "nightgrid.archive.words.binding.game_named", nightgrid.solvers.registry.game
    )
    monkeypatch.setattr("nightgrid.archive.words.binding._open", {})


@pytest.mark.parametrize(
    ("ask", "nodes"),
    [("count", 10**12), ("count", 400), ("all(5)", 150), ("first", 12)],
)
def test_a_run_equals_the_game_divided_or_not(tmp_path, ask, nodes, kept_files):
    settings = quick_settings(tmp_path, split_into=8, split_depth_max=3, batch_row_nodes=nodes)
    lake = Lake.open(settings.lake)
    puzzles = [puzzle for puzzle, _ in generate_many(3, BOARDS, [PRESETS["hard"]])]
    wanted = Ask.parse(ask)
    run_id = plan_run(lake, PIPS, puzzles_table(PIPS, puzzles), wanted, Budget(nodes=nodes))
    drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    rows = lake.read_table(f"results/{run_id}.parquet", RESULTS).to_pylist()
    by_puzzle = {row["puzzle_id"]: row for row in rows}
    assert len(by_puzzle) == BOARDS
    assert any(row["parts"] > 1 for row in rows) == (nodes < 10**12)
    solved = [p for p in puzzles if by_puzzle[p.puzzle_id]["status"] == "solved"]
    assert len(solved) >= BOARDS // 2
    for puzzle in solved:
        row = by_puzzle[puzzle.puzzle_id]
        whole = PIPS.solve(puzzle, wanted)
        assert int(row["count"]) == whole.count
        if ask != "count":
            table = lake.read_table(f"solutions/{run_id}.parquet", SOLUTIONS).sort_by("rank")
            found = [s["solution"] for s in table.to_pylist() if s["puzzle_id"] == puzzle.puzzle_id]
            assert found == [canonical_json(PIPS.solution_to_json(s)) for s in whole.solutions]
    parts = lake.read_table(f"runs/run={run_id}/parts", PARTS).to_pylist()
    for row in rows:
        mine = [p for p in parts if p["job_id"] == row["job_id"] and p["status"] != "split"]
        assert row["parts"] == len(mine)
        for cost in ("kernel_ns", "states", "nodes"):
            assert row[cost] == sum(part[cost] for part in mine)


@pytest.mark.parametrize(
    ("carry_rows", "stage_rows", "table_bytes"),
    [(200, 2000, 2**31), (2000, 500, 2**31), (5000, 5000, 2**18)],
)
def test_a_count_by_stages_is_the_count(tmp_path, monkeypatch, carry_rows, stage_rows, table_bytes):
    monkeypatch.setattr(
        "nightgrid.workers.runs.plan.plan_pass.first_stage",
        partial(first_stage, carry_rows=carry_rows),
    )
    settings = quick_settings(tmp_path, stage_carry_rows=carry_rows, stage_rows=stage_rows)
    lake = Lake.open(settings.lake)
    mix = replace(LOOSE, dominoes=((10, 1.0),))
    puzzles = [generate(mix, 2)[0], generate(mix, 3)[0]]
    budget = Budget(table_bytes=table_bytes)
    count = Ask(kind="count")
    divide_all(monkeypatch, 2)
    run_id = plan_run(lake, PIPS, puzzles_table(PIPS, puzzles), count, budget)
    drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    rows = lake.read_table(f"results/{run_id}.parquet", RESULTS).to_pylist()
    by_puzzle = {row["puzzle_id"]: row for row in rows}
    for puzzle in puzzles:
        row, whole = by_puzzle[puzzle.puzzle_id], PIPS.solve(puzzle, count)
        assert (row["status"], row["count"]) == (str(whole.status), whole.count)
        assert row["states"] >= whole.statistics.states
        # Several parts may reach the full board.
        assert row["states"] < whole.statistics.states + row["parts"]
    assert any(row["parts"] > 6 for row in rows)
