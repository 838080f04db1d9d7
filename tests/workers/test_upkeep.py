"""Upkeep: answers are merged, runs that ended long ago are deleted, and no answer is lost by it."""

from __future__ import annotations

import datetime as dt
import itertools

import pytest
import toy_game as toy
from obstore.store import MemoryStore

from benchmarks.chaos.lakes.stepping import KilledError
from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import read_results
from nightgrid.archive.results.solution_files import files_folder
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.runs.manifest import has_run, read_done
from nightgrid.workers.runs.status import cancel_run, read_run_status
from nightgrid.workers.upkeep import old_runs, prune_runs, tidy
from tests.workers.conftest import plan, quick_settings

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

LATER = dt.datetime.now(dt.UTC) + dt.timedelta(days=31)


@pytest.fixture(params=["folder", "object store"])
def lake(request, tmp_path, monkeypatch):
    if request.param == "folder":
        return Lake.open(str(tmp_path / "lake"))
    store = MemoryStore()
    monkeypatch.setattr("nightgrid.archive.lake.objects.store.connect", lambda _url, **_: store)
    return Lake.open("s3://bucket")


def boards(first, count):
    numbers = range(first, first + count)
    return puzzles_table(toy.TOY, [toy.ToyPuzzle(number=n, behaviour=toy.PLAIN) for n in numbers])


def work(lake, settings, first=0):
    run_id = plan(lake, boards(first, 2))
    drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    return run_id


def pruned(lake, now=None):
    """Delete runs that are older than 30 days; return how many."""
    old = old_runs(lake, (now or dt.datetime.now(dt.UTC)) - dt.timedelta(days=30))
    prune_runs(lake, old)
    return len(old)


def test_a_run_that_ended_long_ago_is_deleted_and_its_answers_stay(lake, tmp_path):
    settings = quick_settings(tmp_path)
    old = work(lake, settings)
    assert pruned(lake) == 0
    assert pruned(lake, LATER - dt.timedelta(days=2)) == 0
    begun = plan(lake, boards(10, 2))
    before = read_results(lake)
    assert pruned(lake, LATER) == 1
    assert not [path for path in lake.list("runs") if old in path]
    assert lake.folders("runs") == [f"runs/run={begun}"]
    assert read_results(lake).equals(before)
    assert not read_run_status(lake, begun).finished
    # What is answered stays answered.
    assert read_run_status(lake, plan(lake, boards(0, 2))).jobs == 0


def killed_at_each_file(tmp_path, monkeypatch, make):
    """Kill pruning before each file that it deletes; yield lake, what was made, killed."""
    for step in itertools.count(1):
        lake = Lake.open(str(tmp_path / f"lake{step}"))
        made = make(lake)
        killed = False
        with monkeypatch.context() as patch:
            patch.setattr("pathlib.Path.unlink", killing(step, "unlink"))
            try:
                pruned(lake, LATER)
            except KilledError:
                killed = True
        yield lake, made, killed
        if not killed:
            return


def test_deleting_runs_may_be_killed_before_any_file(tmp_path, monkeypatch, kept_files):
    settings = quick_settings(tmp_path)

    def make(lake):
        return work(lake, settings), read_results(lake)

    kills = 0
    for lake, (run_id, before), killed in killed_at_each_file(tmp_path, monkeypatch, make):
        if not killed:
            break
        kills += 1
        assert read_done(lake, run_id) is not None
        assert pruned(lake, LATER) == 1
        assert not has_run(lake, run_id)
        assert lake.folders("runs") == []
        assert read_results(lake).equals(before)
    assert kills >= 4


def give_up(lake):
    """Leave a run in its middle, with a file of solutions, as one over its job's total is left."""
    run_id = plan(lake, boards(30, 2))
    lake.write_bytes(f"{files_folder(run_id)}/left", b"solutions")
    cancel_run(lake, run_id, drop_states=True)
    return run_id


def test_a_run_that_was_given_up_long_ago_is_deleted_with_its_listings(lake, tmp_path):
    settings = quick_settings(tmp_path)
    work(lake, settings)
    stopped = plan(lake, boards(20, 2))
    cancel_run(lake, stopped)
    before = read_results(lake)
    run_id = give_up(lake)
    pruned(lake)
    assert has_run(lake, run_id)
    assert pruned(lake, LATER) == 2
    assert lake.folders("runs") == [f"runs/run={stopped}"], "--resume takes it up"
    assert lake.list(files_folder(run_id)) == []
    assert read_results(lake).equals(before)
    # It can be asked again.
    assert plan(lake, boards(30, 2)) == run_id


def killing(step, name):
    from pathlib import Path

    call, counter = getattr(Path, name), itertools.count(1)

    def killed(self, *given, **named):
        if "runs" in self.parts and next(counter) == step:
            raise KilledError(str(self))
        return call(self, *given, **named)

    return killed


def test_upkeep_merges_and_leaves_failures_to_the_next_call(lake, tmp_path, monkeypatch):
    settings = quick_settings(tmp_path)
    for first in (0, 2, 4):
        work(lake, settings, first)
    before = read_results(lake)
    with monkeypatch.context() as patch:
        patch.setattr(Lake, "delete", _fails)
        tidy(lake, 30.0)
    assert read_results(lake).equals(before)
    tidy(lake, 30.0)
    assert len(lake.list("results")) == 1
    assert read_results(lake).equals(before)


def _fails(*_, **__):
    from nightgrid.solvers.errors import TransientError

    raise TransientError("results: the lake failed: Connection reset")
