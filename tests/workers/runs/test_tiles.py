"""Runs of Tiles: boards survive columns, and a divided search equals a whole one."""

import json

import pytest

from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.schemas import RESULTS, SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.tiles.puzzle import Puzzle
from nightgrid.solvers.tiles.rules import Rules
from nightgrid.solvers.tiles.solution import walk_from_json
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from tests.oracles.tiles_check import check_walk
from tests.workers.conftest import divide_all, quick_settings
from tests.workers.planning import plan_run

pytestmark = pytest.mark.usefixtures("real_games")

BOARDS = (
    Puzzle(tiles=(("red", "dot"), ("red", "ring"), ("blue", "dot"), ("blue", "ring"))),
    Puzzle(tiles=(("ä",), ("ä", "ß"), ("ß",), ("ö",), ("ö",))),
)
ODD = Puzzle(tiles=(("red",), ("red",), ("red",)))


@pytest.mark.parametrize(("ask", "into"), [("first", 1), ("best(1)", 1), ("best(1)", 3)])
def test_walks_and_fewest_moves_come_out_of_a_run(tmp_path, ask, into, monkeypatch):
    settings = quick_settings(tmp_path)
    lake = Lake.open(settings.lake)
    game = bind_game("tiles")
    table = puzzles_table(game, [*BOARDS, ODD])
    divide_all(monkeypatch, into)
    run_id = plan_run(lake, game, table, Ask.parse(ask), Budget())
    summary = drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert summary.statuses == {"solved": 2, "unsolvable": 1}
    rows = lake.read_table(f"results/{run_id}.parquet", RESULTS).to_pylist()
    walks = lake.read_table(f"solutions/{run_id}.parquet", SOLUTIONS).to_pylist()
    for puzzle in BOARDS:
        (row,) = [r for r in rows if r["puzzle_id"] == puzzle.puzzle_id]
        (text,) = [r["solution"] for r in walks if r["puzzle_id"] == puzzle.puzzle_id]
        walk = walk_from_json(json.loads(text))
        check_walk(puzzle, walk, Rules())
        assert row["value"] == game.solve(puzzle, Ask.parse(ask)).value
        assert row["value"] in (None, walk.moves)
