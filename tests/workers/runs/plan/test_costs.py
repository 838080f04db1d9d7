"""What jobs are expected to take: the game's own estimate, times what runs have measured."""

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.instruments.boards import loose_board
from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import PARTS
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.pips.generate.generator import generate_many
from nightgrid.solvers.pips.generate.mix import LEVELS, PRESETS
from nightgrid.solvers.question import question_of
from nightgrid.solvers.registry import game
from nightgrid.workers.runs.finishing.finish import finish_run
from nightgrid.workers.runs.manifest import open_run
from nightgrid.workers.runs.plan.costs import CLOSE_ROWS, cost_path, expected_s, read_factor
from nightgrid.workers.runs.plan.plan_pass import Asking
from nightgrid.workers.runs.plan.planner import estimate_run
from tests.workers.pending import pending_chunks
from tests.workers.planning import plan_run

COUNT = Ask(kind="count")
PIPS = game("pips")
QUESTION = question_of(PIPS, COUNT)


@pytest.fixture(scope="module")
def boards():
    drawn = generate_many(1, 240, [PRESETS[level] for level in LEVELS], 0)
    return puzzles_table(PIPS, [puzzle for puzzle, _ in drawn])


@pytest.fixture
def lake(tmp_path):
    return Lake.open(str(tmp_path / "lake"))


def work(lake, table, slower, budget=None):
    """Answer the jobs of a run as a machine does that takes so many times what is expected."""
    run_id = plan_run(lake, PIPS, table, COUNT, budget or Budget())
    for ref in pending_chunks(lake, open_run(lake, run_id)):
        rows = lake.read_row_group(ref.manifest_path, ref.chunk)
        took_ns = (1e9 * slower * PIPS.cost_s(arrays_of(rows), COUNT)).astype(np.int64)
        names = rows.select(["job_no", "job_id", "part_path"]).to_pylist()
        told = {"status": "solved", "count": 1, "truncated": False, "reason": ""}
        told |= {"states": 1, "nodes": 1, "table_bytes": 1}
        part = [
            {**row, **told, "kernel_ns": int(ns)} for row, ns in zip(names, took_ns, strict=True)
        ]
        lake.write_table(ref.result_path, pa.Table.from_pylist(part, PARTS))
    finish_run(lake, run_id)


@pytest.mark.parametrize("slower", [3.0, 0.2])
def test_the_next_plan_expects_what_jobs_took_on_this_machine(lake, boards, slower):
    before = estimate_run(Asking(lake, PIPS, COUNT, Budget()), boards.slice(120)).cost_s
    work(lake, boards.slice(0, 120), slower)
    assert read_factor(lake, QUESTION) == pytest.approx(slower, rel=0.15)
    after = estimate_run(Asking(lake, PIPS, COUNT, Budget()), boards.slice(120)).cost_s
    assert after == pytest.approx(slower * before, rel=0.15)
    # What was measured stays, measured against what the game says and not what was expected.
    work(lake, boards.slice(120), slower)
    assert read_factor(lake, QUESTION) == pytest.approx(slower, rel=0.15)


def test_few_jobs_teach_nothing_and_a_damaged_file_is_none(lake, boards):
    work(lake, boards.slice(0, 20), 3.0)
    assert not lake.exists(cost_path(QUESTION))
    for text in (b"", b"[]", b'{"factor": "many"}', b'{"factor": NaN}', b'{"factor": -1}'):
        lake.write_bytes(cost_path(QUESTION), text)
        assert read_factor(lake, QUESTION) == 1.0


def test_a_few_boards_are_looked_at_closely():
    loose = loose_board(14, 4)
    arrays = PIPS.to_arrays([loose])
    closely = PIPS.expected(arrays, COUNT).seconds
    assert closely > 100 * PIPS.cost_s(arrays, COUNT)[0]
    assert expected_s(PIPS, COUNT, arrays, 2.0).tolist() == [closely]
    many = PIPS.to_arrays([loose] * (CLOSE_ROWS + 1))
    assert expected_s(PIPS, COUNT, many, 2.0).max() < closely / 10
