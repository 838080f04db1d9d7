"""A worker's task has the ids of the process that sent its message."""

import json
import threading
from contextlib import closing

import pytest
import toy_game as toy
from prometheus_client import REGISTRY
from structlog.contextvars import bound_contextvars

from nightgrid.workers.broker.queues import LOG_HEADER
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import CeleryOutbox
from nightgrid.workers.logs import logged_to
from nightgrid.workers.ondemand.keeper import Keeper
from tests.workers.cluster.test_survival import wait_for
from tests.workers.conftest import plan

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")


def lines(path, event):
    told = (line for line in path.read_text().splitlines() if line.startswith("{"))
    return [line for line in map(json.loads, told) if line["event"] == event]


@pytest.mark.cluster
def test_ids_go_from_the_night_through_the_message_into_the_log_of_a_worker(
    cluster, cluster_lake, tmp_path
):
    with bound_contextvars(night="night-of-this-test"), logged_to(tmp_path / "driver.log"):
        run_id = plan(cluster_lake, toy.boards(23))
        with closing(CeleryOutbox(cluster)) as executor:
            assert drive(cluster_lake, run_id, executor, settings=cluster).finished
    for event in ("run planned", "run driven", "run ended"):
        (line,) = lines(tmp_path / "driver.log", event)
        assert (line["run"], line["night"]) == (run_id, "night-of-this-test")

    def chunks_done():
        worked = lines(cluster.side_dir / "logs" / "batch.log", "task ended")
        return {line["chunk"] for line in worked if line.get("run") == run_id}

    # A task logs after it has announced that its chunk is done.
    wait_for(chunks_done)
    worked = lines(cluster.side_dir / "logs" / "batch.log", "task ended")
    mine = [line for line in worked if line.get("run") == run_id]
    assert mine
    for line in mine:
        assert line["night"] == "night-of-this-test"
        assert line["task"] == "nightgrid.work_chunk"
        assert line["chunk"].startswith("seg-")
        assert {"task_id", "worker", "retries", "game", "seconds"} <= line.keys()


def test_the_keeper_exports_its_last_pass(lake, settings, monkeypatch):
    stop = threading.Event()
    monkeypatch.setattr(Keeper, "turn", lambda *_: stop.set())
    Keeper(lake, settings).run(stop)
    name = "nightgrid_keeper_look_timestamp_seconds"
    assert (REGISTRY.get_sample_value(name) or 0) > 1_700_000_000


def test_a_message_without_ids_has_an_empty_header(monkeypatch, settings):
    from nightgrid.workers.broker import queues

    sent = []

    class App:
        def send_task(self, *_, **options):
            sent.append(options["headers"])

    queues.send(App(), "t", "batch", "about", {})
    with bound_contextvars(request="r1", job="j"):
        queues.send(App(), "t", "batch", "about", {})
    assert [headers[LOG_HEADER] for headers in sent] == [{}, {"request": "r1"}]
