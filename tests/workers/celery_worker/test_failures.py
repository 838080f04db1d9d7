"""A worker reports a failed task, and pauses if it cannot work."""

import time
from types import SimpleNamespace

import pytest

from nightgrid.archive.lake.faults import NoRoomError
from nightgrid.solvers.errors import RefusalError, TransientError
from nightgrid.workers.app import WORK_CHUNK
from nightgrid.workers.celery_worker import tasks
from nightgrid.workers.runs.run_files import ChunkRef

REF = ChunkRef(run_id="0" * 32, segment=0, chunk=0)
FULL = NoRoomError("results cannot be written: the disk of lake is full")


@pytest.fixture
def told(monkeypatch):
    """Announcements to drivers, records of this worker, and its pauses."""
    found = SimpleNamespace(events=[], refusals=[], pauses=[])
    monkeypatch.setattr(tasks, "connections", lambda: (None, None, None))
    monkeypatch.setattr(tasks, "notify_driver", lambda _, told: found.events.append(told.event))
    monkeypatch.setattr(tasks, "record_refusal", lambda *given: found.refusals.append(given[-1]))
    monkeypatch.setattr(time, "sleep", found.pauses.append)
    return found


@pytest.mark.parametrize(
    "fault", [RefusalError("another version"), FULL, TransientError("the lake fails")]
)
def test_a_worker_that_cannot_work_hands_back_and_is_named_and_pauses(told, fault):
    sender = SimpleNamespace(name=WORK_CHUNK)
    tasks._report_failure(sender, fault, [vars_of(REF), "driver"])
    assert told.events == ["returned"]
    assert told.refusals == [str(fault)]
    assert told.pauses == [tasks.SETTINGS.tuning.refusal_pause_seconds]


def test_work_that_raises_fails(told):
    sender = SimpleNamespace(name=WORK_CHUNK)
    tasks._report_failure(sender, ValueError("no"), [vars_of(REF), "driver"])
    assert (told.events, told.refusals, told.pauses) == (["failed"], [], [])


def vars_of(ref):
    return {"run_id": ref.run_id, "segment": ref.segment, "chunk": ref.chunk}


def test_tasks_do_not_retry_what_their_worker_refuses():
    """Given a fault of the worker, Then Celery does not retry: another worker may take it."""
    assert set(tasks.NightgridTask.dont_autoretry_for) == {RefusalError, NoRoomError}
