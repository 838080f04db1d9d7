"""A driver retries a failing broker or lake: at its start, in between and at its end."""

import threading

import pytest
import redis
import toy_game as toy

from nightgrid.archive import outages
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import RefusalError, TransientError
from nightgrid.workers.driver import drive as driving
from nightgrid.workers.driver import outbox as sending
from nightgrid.workers.driver.drive import Patience, drive
from nightgrid.workers.driver.outbox import CeleryOutbox, InlineOutbox
from tests.workers.conftest import plan, quick_settings, result_rows, undisturbed_rows
from tests.workers.driver.test_driver import DyingOutbox, Killed

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

AWAY = "Reduce your request rate (SlowDown, HTTP 503)"


class Failing:
    """A step that fails some times, then returns its number of tries."""

    def __init__(self, times, error=TransientError):
        self.times, self.error, self.tries = times, error, 0

    def __call__(self):
        self.tries += 1
        if self.tries <= self.times:
            raise self.error(AWAY)
        return self.tries


class Told:
    """Records the reported outages."""

    def __init__(self):
        self.events = []

    def begin(self, outage):
        self.events.append(outage.why)

    def end(self, what, *, answers):
        self.events.append((what, answers))


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(driving, "PAUSE_SECONDS", 0.0)


def test_a_step_that_must_succeed_is_tried_until_it_does_and_the_outage_is_reported():
    told = Told()
    with outages.notifying(told):
        assert Patience("what run r1 needs", 60, threading.Event()).insist(Failing(3)) == 4
    assert told.events == [AWAY] * 3 + [("what run r1 needs", True)]


def test_a_worker_that_refuses_is_not_an_outage():
    step = Failing(1, RefusalError)
    with pytest.raises(RefusalError):
        Patience("what run r1 needs", 60, threading.Event()).insist(step)
    assert step.tries == 1


def test_a_server_that_hangs_is_asked_once_for_all_drivers_of_a_process(tmp_path, monkeypatch):
    asked = []

    def hang(*_):
        asked.append(1)
        raise redis.TimeoutError("timed out")

    monkeypatch.setattr(sending, "living_workers", hang)
    outbox = CeleryOutbox(quick_settings(tmp_path, reconcile_seconds=60.0))
    for _ in range(3):
        with pytest.raises(TransientError, match="timed out"):
            outbox.look()
    assert len(asked) == 1


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_patience_ends_with_the_reason(seconds):
    step = Failing(10**9)
    with pytest.raises(TransientError, match="SlowDown"):
        Patience("what run r1 needs", seconds, threading.Event()).insist(step)
    assert step.tries >= 2


def test_a_driver_that_is_asked_to_stop_waits_no_more():
    stop, step = threading.Event(), Failing(10**9)
    stop.set()
    with pytest.raises(TransientError, match="SlowDown"):
        Patience("what run r1 needs", 60, stop).insist(step)
    assert step.tries == 1


@pytest.mark.parametrize("call", ["list", "read_bytes", "exists", "read_table", "sweep_staging"])
def test_a_failing_lake_delays_the_start_of_a_driver(tmp_path, monkeypatch, call):
    """Given a started run, When the driver's first reads fail, Then it still ends."""
    settings = quick_settings(tmp_path, poll_seconds=0.01)
    boards = toy.boards(8, {3: toy.RAISE})
    lake = Lake.open(settings.lake)
    run_id = plan(lake, boards)
    with pytest.raises(Killed):
        drive(lake, run_id, DyingOutbox(lake, settings, 2), settings=settings)
    do, asked = getattr(Lake, call), []

    def fail(*args, **kwargs):
        asked.append(args)
        if len(asked) <= 3:
            raise TransientError(f"the lake failed: {AWAY}")
        return do(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(Lake, call, fail)
        outbox = InlineOutbox(Lake.open(settings.lake), settings)
        summary = drive(lake, run_id, outbox, settings=settings)
    assert len(asked) > 3
    assert summary.finished
    assert result_rows(lake, run_id) == undisturbed_rows(tmp_path, boards)
