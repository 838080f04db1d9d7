"""Who works a night: workers that are there, or workers of its own."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack

import pytest

from nightgrid.flows import cluster
from nightgrid.workers.broker.queues import BATCH
from nightgrid.workers.cluster.child_processes import SERVER
from nightgrid.workers.cluster.local import local_cluster
from nightgrid.workers.cluster.supervisor_state import supervisor_state
from nightgrid.workers.driver import driver
from tests.flows.nights import results, run_one

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
    assert not cluster.batch_is_served(settings.workers)


@pytest.mark.long(
    short="tests/flows/test_cluster.py::test_a_night_starts_workers_of_its_own_and_stops_them"
)
def test_a_night_leaves_its_work_to_workers_that_are_there(on_celery):
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
def test_work_goes_on_when_the_workers_that_were_there_end(on_celery, monkeypatch):
    settings, inline = on_celery
    first = ExitStack()

    def drive_on(*given, **named):
        assert cluster.batch_is_served(settings.workers)
        first.close()
        return driver.drive(*given, **named)

    monkeypatch.setattr(cluster, "drive", drive_on)
    with first:
        first.enter_context(local_cluster(settings.workers, roles=(SERVER, BATCH)))
        report = run_one(settings)

    assert report.solved == 6
    assert results(settings).equals(results(inline))
    assert supervisor_state(settings.workers) is None


@pytest.mark.long(
    short="tests/flows/test_cluster.py::test_a_night_starts_workers_of_its_own_and_stops_them"
)
def test_workers_start_while_something_else_is_done_and_end_with_the_block(on_celery):
    settings, _ = on_celery
    workers = settings.workers

    with cluster.OwnWorkers(settings, ["pips"]) as ours:
        ours.begin()
        assert not cluster.batch_is_served(workers)
        ours.ready()
        assert cluster.batch_is_served(workers)

    assert not cluster.batch_is_served(workers)


def test_workers_that_are_not_needed_after_all_are_not_waited_for(on_celery):
    settings, _ = on_celery

    with cluster.OwnWorkers(settings, ["pips"]) as ours:
        ours.begin()

    assert not cluster.batch_is_served(settings.workers)
    assert supervisor_state(settings.workers) is None
