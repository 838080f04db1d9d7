"""A run with an unreadable file that describes it is set aside, reported and planned again."""

from __future__ import annotations

import pytest
import toy_game as toy

from nightgrid.archive.results.results import find_results
from nightgrid.archive.skipped_files import skipped_files
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.runs.finishing.ended import ensure_plan
from nightgrid.workers.runs.manifest import has_run, open_run
from nightgrid.workers.runs.run_files import asked_path, plan_path, segment_path
from tests.workers.conftest import BUDGET, COUNT, KilledError, result_rows
from tests.workers.planning import plan_run

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

BOARDS = toy.boards(8)
DAMAGE = {"empty": b"", "cut": b'{"run_id":"4', "noise": bytes(range(100, 200))}


class Dying(InlineOutbox):
    """An outbox whose process dies after its first chunks."""

    def wait(self, *arguments):
        super().wait(*arguments)
        raise KilledError


@pytest.fixture
def begun(lake, settings):
    """The id of a run that was killed after some of its chunks."""
    run_id = plan_run(lake, toy.TOY, BOARDS, COUNT, BUDGET)
    with pytest.raises(KilledError):
        drive(lake, run_id, Dying(lake, settings), settings=settings)
    return run_id


def work(lake, settings):
    """Plan and solve the same boards; return the statuses of all rows."""
    run_id = plan_run(lake, toy.TOY, BOARDS, COUNT, BUDGET)
    if open_run(lake, run_id).job_count:
        drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    ids = [row["job_id"] for row in result_rows(lake, run_id)]
    return find_results(lake, ids).column("status").to_pylist()


@pytest.mark.parametrize("data", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("path_of", [plan_path, lambda run_id: segment_path(run_id, 0)])
def test_a_run_with_a_damaged_file_is_set_aside_and_planned_again(
    lake, settings, begun, path_of, data
):
    lake.write_bytes(path_of(begun), data)
    assert work(lake, settings) == ["solved"] * 8
    assert lake.read_bytes(f"damaged/{path_of(begun)}") == data
    assert list(skipped_files()) == [f"runs/run={begun}"]


def test_a_run_without_its_question_is_set_aside(lake, begun):
    for path in (plan_path(begun), asked_path(begun)):
        lake.write_bytes(path, b"")
    ensure_plan(lake, begun)
    assert not has_run(lake, begun)
    assert lake.list(f"runs/run={begun}") == []
    assert lake.read_bytes(f"damaged/{plan_path(begun)}") == b""


def test_sound_and_missing_runs_are_left_unchanged(lake, begun):
    before = lake.stamps("", deep=True)
    ensure_plan(lake, begun)
    ensure_plan(lake, "0" * 32)
    assert lake.stamps("", deep=True) == before
    assert skipped_files() == {}
