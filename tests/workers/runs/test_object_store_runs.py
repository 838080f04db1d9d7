"""Runs in an object store, solved while they are planned, by any number of drivers."""

from __future__ import annotations

import threading

import pytest
import toy_game as toy

from nightgrid.archive.lake.storage import Lake
from nightgrid.workers.driver import growth
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.runs.manifest import SegmentTakenError
from nightgrid.workers.runs.plan import plan_pass
from nightgrid.workers.runs.plan import planner as planning
from nightgrid.workers.runs.plan.plan_pass import Asking
from nightgrid.workers.runs.plan.planner import begin_run, extend_run
from tests.workers.conftest import BUDGET, COUNT, quick_settings, result_rows, undisturbed_rows

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

BOARDS = toy.boards(32, {3: toy.LARGE, 30: toy.UNSOLVABLE})
DRIVERS = ("one", "other")


@pytest.fixture(autouse=True)
def _many_segments(monkeypatch):
    monkeypatch.setattr(plan_pass, "BATCH_ROWS", 8)
    monkeypatch.setattr(planning, "FIRST_ROWS", 10)


@pytest.fixture(params=["folder", "S3"])
def url(request, tmp_path):
    if request.param == "folder":
        return str(tmp_path / "lake")
    endpoint = request.getfixturevalue("s3_endpoint")
    return f"s3://bucket/{tmp_path.name}?endpoint_override={endpoint}"


def at_once(patch):
    """Make the two drivers add their first segments at the same time."""
    add_segment, barrier = growth.add_segment, threading.Barrier(2, timeout=20.0)
    added = []

    def add(lake, run_id, number, kind, origins, chunks):
        if threading.current_thread() not in [thread for thread, *_ in added]:
            added.append((threading.current_thread(), "comes"))
            barrier.wait()
        try:
            segment = add_segment(lake, run_id, number, kind, origins, chunks)
        except SegmentTakenError:
            added.append((threading.current_thread(), number, "taken"))
            raise
        added.append((threading.current_thread(), number, "added"))
        return segment

    patch.setattr(growth, "add_segment", add)
    return added


def test_two_drivers_work_a_run_while_it_is_planned(url, tmp_path, monkeypatch):
    expected = undisturbed_rows(tmp_path, BOARDS)
    lake, run_id = Lake.open(url), "c1" * 16
    asking = Asking(lake, toy.TOY, COUNT, BUDGET)
    begin_run(asking, run_id, puzzle_count=len(BOARDS))
    worked, add_plan = threading.Event(), planning.add_plan
    streamed = []

    def stream(*arguments):
        # The last segments come after a driver's first step.
        if len(streamed) == 3:
            assert worked.wait(30.0), "nothing is solved before the run is planned"
        streamed.append(1)
        return add_plan(*arguments)

    monkeypatch.setattr(planning, "add_plan", stream)
    added = at_once(monkeypatch)
    summaries, errors = {}, []

    class Tells(InlineOutbox):
        def wait(self, timeout_s):
            events = super().wait(timeout_s)
            if events:
                worked.set()
            return events

    def work(name):
        try:
            settings = quick_settings(tmp_path / name, lake=url, var_dir=tmp_path / name)
            own = Lake.open(url)
            executor = Tells(own, settings)
            summaries[name] = drive(
                own, run_id, executor, settings=settings, check_planner=lambda: None
            )
        except BaseException as error:
            errors.append(error)
            raise

    threads = [threading.Thread(target=work, args=(name,)) for name in DRIVERS]
    threads.append(threading.Thread(target=extend_run, args=(asking, lambda: [BOARDS], run_id)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90.0)
    assert errors == []
    assert [summaries[name].finished for name in DRIVERS] == [True, True]
    assert lake.list(f"runs/run={run_id}") == [f"runs/run={run_id}/DONE.json"]
    told = [(number, what) for _, number, what in filter(lambda entry: len(entry) == 3, added)]
    assert [entry for entry in told if entry[1] == "taken"], "no two added one segment at once"
    by_driver = [number for number, what in told if what == "added"]
    assert len(by_driver) == len(set(by_driver)), "each segment was added once"
    assert result_rows(lake, run_id) == expected
