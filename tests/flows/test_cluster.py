"""A night is solved by running workers, or by its own."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack

import pytest

from nightgrid.flows import cluster
from nightgrid.workers.broker.redis_keys import BATCH
from nightgrid.workers.broker.worker_keys import served_queues
from nightgrid.workers.cluster.supervisor import SERVER, supervisor_state
from nightgrid.workers.driver import drive as driving
from tests.flows.nights import results, run_one
from tests.local_cluster import local_cluster

pytestmark = pytest.mark.cluster


@pytest.fixture
def on_celery(night, source):
    """A night of two days over Celery, and the same night inline, which it must equal."""
    inline = night(source(2), "inline")
    run_one(inline)
    settings = dataclasses.replace(
        inline,
        executor="celery",
        workers=inline.workers.model_copy(
            update={"lake": inline.workers.lake.replace("inline", "celery"), "batch_processes": 1}
        ),
    )
    return settings, inline


def test_a_night_starts_workers_of_its_own_and_stops_them(on_celery):
    settings, inline = on_celery

    report = run_one(settings)

    assert report.solved == 6
    assert results(settings).equals(results(inline))
    assert not served_queues(settings.workers)


@pytest.mark.long(
    short="tests/flows/test_cluster.py::test_a_night_starts_workers_of_its_own_and_stops_them"
)
def test_a_night_leaves_its_work_to_running_workers(on_celery):
    settings, inline = on_celery

    with local_cluster(settings.workers, roles=(SERVER, BATCH)):
        before = supervisor_state(settings.workers)
        report = run_one(settings)
        assert supervisor_state(settings.workers) == before

    assert report.solved == 6
    assert results(settings).equals(results(inline))


@pytest.mark.long(
    short="tests/flows/test_cluster.py::test_a_night_starts_workers_of_its_own_and_stops_them"
)
def test_work_continues_when_the_running_workers_end(on_celery, monkeypatch):
    settings, inline = on_celery
    first = ExitStack()
    drive = driving.drive

    def drive_on(*given, **named):
        assert BATCH in served_queues(settings.workers)
        first.close()
        return drive(*given, **named)

    monkeypatch.setattr(driving, "drive", drive_on)
    with first:
        first.enter_context(local_cluster(settings.workers, roles=(SERVER, BATCH)))
        report = run_one(settings)

    assert report.solved == 6
    assert results(settings).equals(results(inline))
    assert supervisor_state(settings.workers) is None


def test_unneeded_workers_are_not_waited_for(on_celery):
    settings, _ = on_celery

    with cluster.OwnWorkers(settings, ["pips"]) as ours:
        ours.begin()

    assert not served_queues(settings.workers)
    assert supervisor_state(settings.workers) is None
