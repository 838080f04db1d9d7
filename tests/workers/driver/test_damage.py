"""Damaged and foreign files of a run cost time, but never an answer."""

import pytest
import toy_game as toy

from benchmarks.chaos.harm import HARMS, harm
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.driver import Driver
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.runs.status import read_run_status
from tests.workers.conftest import plan, quick_settings, result_rows, undisturbed_rows
from tests.workers.driver.test_driver import DyingOutbox, Killed

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")


AS_TRUNCATED = pytest.mark.long(
    short="tests/workers/driver/test_damage.py::test_damaged_files_of_an_interrupted_run_change_no_answer"
)


@pytest.fixture(scope="module")
def boards(toy_in_place_of_pips):
    """Boards whose run has several kinds of chunks: whole, poison, divided."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nightgrid.workers.runs.plan.plan_pass.CHUNK_MIN_S", 0.0005)
        yield toy.boards(8, {3: toy.RAISE, 5: toy.LARGE})


@pytest.fixture(scope="module")
def undisturbed(boards, tmp_path_factory):
    return undisturbed_rows(tmp_path_factory.mktemp("undisturbed"), boards)


@pytest.fixture
def settings(tmp_path):
    return quick_settings(tmp_path, reconcile_seconds=0.02, poll_seconds=0.01)


def finish(lake, settings, run_id):
    summary = drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert summary.finished
    return result_rows(lake, run_id)


def interrupted(lake, settings, boards, chunks=7):
    """A run whose driver was killed after some chunks."""
    run_id = plan(lake, boards)
    with pytest.raises(Killed):
        drive(lake, run_id, DyingOutbox(lake, settings, chunks), settings=settings)
    return run_id


@pytest.mark.parametrize(
    "kind",
    [
        "truncate",
        *(pytest.param(kind, marks=AS_TRUNCATED) for kind in HARMS if kind != "truncate"),
    ],
)
@pytest.mark.parametrize("names", [("parts",), ("started",)])
def test_damaged_files_of_an_interrupted_run_change_no_answer(
    lake, settings, boards, undisturbed, kind, names
):
    """Given a run with some chunks done, When its files are damaged, Then it still ends."""
    run_id = interrupted(lake, settings, boards)
    base = f"runs/run={run_id}/"
    harmed = [p for p in lake.list(base[:-1]) if p.removeprefix(base).startswith(names)]
    assert len({path.removeprefix(base).partition("/")[0] for path in harmed}) == len(names)
    for path in harmed:
        harm(lake, path, kind)
    assert not read_run_status(lake, run_id).finished
    assert finish(lake, settings, run_id) == undisturbed
    aside = {path.removeprefix("damaged/") for path in lake.list("damaged")}
    assert aside <= set(harmed)
    if kind != "flip":  # A bit that no reader of rows uses changes none of them.
        assert aside == (set(harmed) if names == ("parts",) and kind != "unlink" else set())


@pytest.mark.parametrize("kind", ["unlink", "truncate", "another chunk"])
def test_damaged_chunk_results_that_were_read_are_noticed_at_the_end(
    lake, settings, boards, undisturbed, kind, monkeypatch
):
    """Given a run with all chunks read, When results are damaged, Then they are recomputed."""
    run_id, harmed = plan(lake, boards), []

    def finish_harmed(driver, finish=Driver.finish):
        if not harmed:
            paths = lake.list(f"runs/run={run_id}/parts")
            harmed.extend(paths[:3])
            for path in harmed:
                if kind == "another chunk":
                    lake.write_bytes(path, lake.read_bytes(paths[-1]))
                else:
                    harm(lake, path, kind)
        return finish(driver)

    monkeypatch.setattr(Driver, "finish", finish_harmed)
    assert finish(lake, settings, run_id) == undisturbed
    assert harmed
