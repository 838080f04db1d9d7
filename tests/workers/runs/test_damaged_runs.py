"""A run of which a file cannot be read that says what it is: set aside, named and planned anew."""

from __future__ import annotations

import pytest
import toy_game as toy

from nightgrid.archive.results.results import find_results
from nightgrid.archive.skipped_files import skipped_files
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.runs.damaged_runs import ensure_plan
from nightgrid.workers.runs.manifest import has_plan, has_run, open_run
from nightgrid.workers.runs.plan.planner import plan_run
from nightgrid.workers.runs.run_files import asked_path, plan_path, segment_path
from tests.workers.conftest import BUDGET, COUNT, KilledError, result_rows

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

BOARDS = toy.boards(8)
DAMAGE = {"empty": b"", "cut": b'{"run_id":"4', "other": b"{}\n", "noise": bytes(range(100, 200))}


class Dying(InlineOutbox):
    """An executor whose process dies after its first chunks."""

    def poll(self, *arguments):
        super().poll(*arguments)
        raise KilledError


@pytest.fixture
def begun(lake, settings):
    """The id of a run that was killed when some of its chunks were worked."""
    run_id = plan_run(lake, toy.TOY, BOARDS, COUNT, BUDGET)
    with pytest.raises(KilledError):
        drive(lake, run_id, Dying(lake, settings), settings=settings)
    return run_id


def work(lake, settings):
    """Plan and work the same boards; return the statuses of all that have a row."""
    run_id = plan_run(lake, toy.TOY, BOARDS, COUNT, BUDGET)
    if open_run(lake, run_id).job_count:
        drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    ids = [row["job_id"] for row in result_rows(lake, run_id)]
    return find_results(lake, ids).column("status").to_pylist()


@pytest.mark.parametrize("data", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("path_of", [plan_path, asked_path])
def test_a_begun_run_goes_on_without_one_of_its_two_papers(lake, settings, begun, path_of, data):
    """Given a damaged plan, When the same is planned, Then it goes on with what was worked."""
    path = path_of(begun)
    parts = lake.list(f"runs/run={begun}/parts")
    lake.write_bytes(path, data)
    assert work(lake, settings) == ["solved"] * 8
    assert set(parts) <= set(lake.list(f"runs/run={begun}/parts"))
    if path_of is plan_path:
        assert lake.read_bytes(f"damaged/{path}") == data
        assert list(skipped_files()) == [path]
        assert has_plan(lake, begun)


@pytest.mark.parametrize("data", DAMAGE.values(), ids=DAMAGE)
def test_a_run_with_a_damaged_segment_is_set_aside_and_planned_anew(lake, settings, begun, data):
    lake.write_bytes(segment_path(begun, 0), data)
    lake.write_bytes("runs/nightly/pips-count.json", f'{{"run_id":"{begun}"}}'.encode())
    assert work(lake, settings) == ["solved"] * 8
    assert lake.read_bytes(f"damaged/{segment_path(begun, 0)}") == data
    assert lake.list("runs/nightly") == []
    assert any(path.startswith(f"runs/run={begun}") for path in skipped_files())


def test_a_run_of_which_nothing_says_what_it_asks_is_set_aside(lake, begun):
    for path in (plan_path(begun), asked_path(begun)):
        lake.write_bytes(path, b"")
    ensure_plan(lake, begun)
    assert not has_run(lake, begun)
    assert lake.list(f"runs/run={begun}") == []
    assert lake.read_bytes(f"damaged/{plan_path(begun)}") == b""


def test_nothing_is_done_to_a_sound_run_and_to_none(lake, begun):
    before = lake.stamps("", deep=True)
    ensure_plan(lake, begun)
    ensure_plan(lake, "0" * 32)
    assert lake.stamps("", deep=True) == before
    assert skipped_files() == {}
