"""Small files of a lake that say something else than they should cost themselves, and no other."""

import json
import shutil
from contextlib import suppress
from types import SimpleNamespace

import pytest
import toy_game as toy

from nightgrid.archive.lake.json_files import write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import read_results
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.ondemand.cancelling import cancel_job
from nightgrid.workers.ondemand.jobs.status import status
from nightgrid.workers.ondemand.jobs.submitting import submit
from nightgrid.workers.ondemand.record_files import ended_path, open_records, record_path
from nightgrid.workers.ondemand.task.solving import solve_message
from nightgrid.workers.ranking import ondemand as ranking
from nightgrid.workers.ranking.ondemand import ranking_status
from nightgrid.workers.ranking.work import ranking_message, request_path
from nightgrid.workers.runs.run_files import asked_path, done_path, plan_path
from nightgrid.workers.runs.status import cancel_run, cancelled_path, read_run_status
from nightgrid.workers.upkeep import KEPT_PATH, tidy
from tests.workers.conftest import COUNT, plan, quick_settings
from tests.workers.ondemand.conftest import NOWHERE, puzzle
from tests.workers.ranking.test_work import ALONE, BOARDS, IDS
from tests.workers.test_upkeep import boards

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

AT_ONCE, FOR_EVER = 0.0, 10_000.0
OTHERS = ("x", 7, None)
"""What is written in the place of a value, if it is of another kind."""


class Scene:
    """A lake with a run of each end, jobs that are wanted, worked and cancelled, and a ranking."""

    def __init__(self, lake, settings, mailbox):
        self.settings = settings
        self.finished, self.cancelled = plan(lake, boards(1, 2)), plan(lake, boards(10, 2))
        drive(lake, self.finished, InlineOutbox(lake, settings), settings=settings)
        cancel_run(lake, self.cancelled, drop_states=True)
        self.wanted, self.gone = (
            submit(lake, puzzle(number), COUNT, settings=settings) for number in (20, 21)
        )
        cancel_job(lake, self.gone)
        self.large = submit(lake, puzzle(22, toy.LARGE), COUNT, settings=settings)
        self.run = solve_message(lake, mailbox[-1], settings, "w")["run_id"]
        (self.begun,) = (r for r in open_records(lake) if r.job_id == self.wanted)
        value = self.begun.to_json() | {"worker": "w", "started_at": 1.5, "besides": None}
        write_json(lake, record_path(self.wanted), value)
        note = {"sends": 6, "submitted_at": 1.5, "message": ranking_message(ALONE, [BOARDS[0]])}
        write_json(lake, request_path(IDS[0]), note)
        write_json(lake, request_path(IDS[1]), note | {"failed": "no worker", "ended_at": 1.5})
        tidy(lake, FOR_EVER)
        self.files = {
            "an end": done_path(self.finished),
            "what a run asks": asked_path(self.run),
            "a plan": plan_path(self.finished),
            "a cancel": cancelled_path(self.cancelled),
            "the ends": KEPT_PATH,
            "a record": record_path(self.wanted),
            "a record of a run": record_path(self.large),
            "an end of a job": ended_path(self.gone),
            "a ranking": request_path(IDS[0]),
            "a failed ranking": request_path(IDS[1]),
        }

    def look(self, lake, keeper):
        """Do what looks into every file: none of it may raise."""
        keeper.sweep()
        keeper.poll()
        keeper._rankings.poll()
        keeper._rankings.drop_old_ends(AT_ONCE)
        tidy(lake, AT_ONCE)
        for job in (self.wanted, self.gone, self.large):
            status(lake, job)
        for ranked in IDS:
            ranking_status(lake, ranked)
        for run_id in (self.finished, self.cancelled, self.run):
            # A run that is gone, or of which the plan says nothing, is refused.
            with suppress(PermanentError):
                read_run_status(lake, run_id)


def changes(value):
    """Change an object: each key gone, and of another kind than it is."""
    for key, old in value.items():
        yield f"no {key}", {name: one for name, one in value.items() if name != key}
        for new in OTHERS:
            if type(new) is not type(old):
                yield f"{key} {new!r}", {**value, key: new}
        if isinstance(old, dict):
            yield from ((f"{key}: {about}", {**value, key: one}) for about, one in changes(old))


@pytest.fixture
def scene(tmp_path, monkeypatch, mailbox):
    sound = quick_settings(tmp_path / "sound", split_into=3)
    monkeypatch.setattr(ranking, "traffic", lambda *_: NOWHERE)
    monkeypatch.setattr(ranking, "_send", lambda *_: None)
    monkeypatch.setattr(ranking, "notify_of_job", lambda *_: None)
    return Scene(Lake.open(sound.lake), sound, mailbox)


@pytest.mark.parametrize("name", [
    "an end", "what a run asks", "a plan", "a cancel", "the ends", "a record", "a record of a run",
    "an end of a job", "a ranking", "a failed ranking",
])  # fmt: skip
def test_a_file_that_says_something_else_stops_no_keeper(
    scene, lake, settings, keeper, monkeypatch, name
):
    """Given each value of a file gone or of another kind, Then what looks at all files goes on."""
    monkeypatch.setattr(keeper._drivers, "give_turns", lambda _: None)
    lost = SimpleNamespace(gone=lambda wanted, _: set(wanted))
    monkeypatch.setattr(keeper._rankings, "_watch", lost)
    path, tried = scene.files[name], 0
    value = json.loads(Lake.open(scene.settings.lake).read_bytes(path))
    for change, changed in changes(value):
        shutil.rmtree(settings.lake, ignore_errors=True)
        shutil.copytree(scene.settings.lake, settings.lake)
        write_json(lake, path, changed)
        if name == "an end":
            lake.delete(KEPT_PATH)
        keeper._sweep_at = keeper._merge_at = 0.0
        try:
            scene.look(lake, keeper)
        except Exception as error:
            raise AssertionError(f"{path} with {change}: {error!r}") from error
        tried += 1
    assert tried >= len(value)
    assert len(read_results(lake)) == 2, "answers stay"
