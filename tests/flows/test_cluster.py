"""Who works a night: workers that are there, or workers of its own."""

from __future__ import annotations

import dataclasses

import pytest

from flows import cluster
from flows.nightly import run_nightly
from tests.flows.nights import results
from workers.supervisor import BATCH, SERVER, local_cluster

pytestmark = pytest.mark.cluster


@pytest.fixture
def on_celery(night, source):
    """A night of two days over Celery, and the same night inline, which it must equal."""
    inline = night(source(2), "inline")
    run_nightly(inline, prefect=False)
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

    report = run_nightly(settings, prefect=False)

    assert report.solved == 6
    assert results(settings).equals(results(inline))
    assert not cluster.batch_is_served(settings.workers)


def test_a_night_leaves_its_work_to_workers_that_are_there(on_celery, monkeypatch):
    settings, inline = on_celery

    with local_cluster(settings.workers, roles=(SERVER, BATCH)):
        assert cluster.batch_is_served(settings.workers)
        monkeypatch.delattr(cluster, "local_cluster")
        report = run_nightly(settings, prefect=False)
        assert cluster.batch_is_served(settings.workers)

    assert report.solved == 6
    assert results(settings).equals(results(inline))
