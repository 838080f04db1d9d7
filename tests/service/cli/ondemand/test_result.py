"""`nightgrid result` of jobs with many solutions: summarised, drawn and streamed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from benchmarks.tuned import tuned_settings
from nightgrid.archive.ingest.puzzles import add_puzzles, puzzles_folder, puzzles_table
from nightgrid.archive.lake.schemas import RESULTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.pips.generate.generator import generate_many
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.registry import game
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from tests.workers.planning import plan_run

Invoke = Callable[..., tuple[int, str, str]]
PIPS = game("pips")
ALL = Ask(kind="all")


@pytest.fixture(scope="module")
def board() -> Any:
    """Find a board with some hundred solutions."""
    boards = (puzzle for puzzle, _ in generate_many(3, 40, [PRESETS["hard"]]))
    return next(p for p in boards if 150 < (PIPS.solve(p, Ask(kind="count")).count or 0) < 3000)


def listed(folder: Path, board: Any, **changes: Any) -> str:
    """List a board's solutions in the lake `lake`; return the job's id."""
    settings = tuned_settings(lake=str(folder / "lake"), **changes)
    lake = Lake.open(settings.lake)
    run_id = plan_run(lake, PIPS, puzzles_table(PIPS, [board]), ALL, Budget())
    drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    (row,) = lake.read_table(f"results/{run_id}.parquet", RESULTS).to_pylist()
    return str(row["job_id"])


@pytest.mark.parametrize("in_files", [True, False])
def test_solutions_are_streamed_wherever_they_lie(
    tmp_path: Path, invoke: Invoke, board: Any, in_files: bool
) -> None:
    rows = {"listing_rows": 50, "listing_row_bytes": 100} if in_files else {}
    job = listed(tmp_path, board, **rows)
    expected = [PIPS.solution_to_json(solution) for solution in PIPS.stream(board, ALL)]
    code, out, _ = invoke("result", job, "--lake", "lake", "--json")
    answer = json.loads(out)
    assert (code, answer["count"], answer["solutions"]) == (0, len(expected), expected)
    code, out, _ = invoke("result", job, "--lake", "lake", "--solutions")
    told = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [row["rank"] for row in told] == list(range(len(expected)))
    assert [json.loads(row["solution"]) for row in told] == expected
    path = tmp_path / "all.parquet"
    assert invoke("result", job, "--lake", "lake", "--solutions", "--output", str(path))[0] == 0
    texts = pq.read_table(path).column("solution").to_pylist()
    assert [json.loads(text) for text in texts] == expected


def test_a_damaged_table_of_puzzles_is_named_instead_of_the_board(
    tmp_path: Path, invoke: Invoke, board: Any
) -> None:
    job = listed(tmp_path, board)
    lake = Lake.open(str(tmp_path / "lake"))
    add_puzzles(lake, "pips", puzzles_table(PIPS, [board]))
    (path,) = lake.list(puzzles_folder("pips"))
    code, sound, err = invoke("result", job, "--lake", "lake")
    assert code == 0
    assert "not drawn" not in err
    lake.write_bytes(path, b"")
    code, out, err = invoke("result", job, "--lake", "lake")
    assert code == 0
    assert out.splitlines()[0] == sound.splitlines()[0]
    assert out != sound
    told = " ".join(err.split())
    assert f"the board of {board.puzzle_id} is not drawn: " in told
    assert path in told


def test_no_more_than_a_hundred_solutions_are_drawn(
    tmp_path: Path, invoke: Invoke, board: Any
) -> None:
    job = listed(tmp_path, board)
    count = PIPS.solve(board, Ask(kind="count")).count or 0
    code, out, _ = invoke("result", job, "--lake", "lake")
    assert code == 0
    assert out.splitlines()[-1] == f"and {count - 100:,} more: --solutions writes all of them"
