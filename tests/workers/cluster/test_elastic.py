"""Workers join and leave while a run goes on."""

import json
import time
import uuid
from contextlib import closing
from dataclasses import asdict, replace

import pytest
import toy_game as toy

from nightgrid.archive.lake.json_files import write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.workers.app import SOLVE_ONDEMAND, client_app
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.notices.announcements import Announcement, announce
from nightgrid.workers.broker.queues import (
    BATCH,
    INTERACTIVE,
    demand,
    overview,
    publish_demand,
    send,
)
from nightgrid.workers.broker.worker_keys import (
    DEAD,
    LEFT,
    exited_workers,
    living_workers,
    record_exit,
    record_refusal,
    refusals,
    write_heartbeat,
)
from nightgrid.workers.cluster.local import local_cluster
from nightgrid.workers.driver.chunk_records import Flight
from nightgrid.workers.driver.executors import CHUNKS_PER_PROCESS, CeleryExecutor, MessageStatus
from nightgrid.workers.runs.attempts import Start
from nightgrid.workers.runs.run_files import ChunkRef, folder
from tests.workers.cluster.test_survival import drive_celery
from tests.workers.conftest import plan, quick_settings

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("toy_in_place_of_pips")]

RUN = "0" * 32


def flight(chunk, worker):
    ref = ChunkRef(run_id=RUN, segment=0, chunk=chunk)
    start = Start(attempt=1, worker=worker, started_at=0.0)
    return Flight(ref=ref, submitted_at=time.monotonic(), start=start)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    settings = quick_settings(
        tmp_path_factory.mktemp("elastic"), window_chunks=None, liveness_ttl_seconds=60.0
    )
    with local_cluster(settings, roles=("server",)), closing(connect(settings)) as client:
        yield settings, client


@pytest.fixture
def executor(server):
    settings, _ = server
    executor = CeleryExecutor(settings)
    yield executor
    executor.close()


def test_a_worker_that_died_is_told_from_one_that_left(server, executor):
    settings, client = server
    record_exit(client, settings, "died", DEAD)
    record_exit(client, settings, "left", LEFT)
    flights = [flight(0, "died"), flight(1, "left")]
    assert executor.status(flights) == {flights[0].ref: MessageStatus.DEAD_WORKER}
    # Its message is nowhere: sent again, as if nobody had begun.
    assert executor.status(flights[1:]) == {flights[1].ref: MessageStatus.LOST_MESSAGE}


def test_a_message_that_waits_in_the_queue_is_known_to(server, executor):
    settings, client = server
    waits, lost = flight(2, "w"), flight(3, "w")
    unbegun = [replace(one, start=None) for one in (waits, lost)]
    executor.status(unbegun)
    executor.submit(waits.ref)
    assert executor.status(unbegun) == {
        waits.ref: MessageStatus.WAITING,
        lost.ref: MessageStatus.LOST_MESSAGE,
    }
    assert demand(settings).queued == 1
    client.delete(f"{key_prefix(settings)}{BATCH}")


def test_the_window_grows_with_the_workers_that_join_and_shrinks_when_they_leave(server, executor):
    settings, client = server
    for number in range(5):
        about = {"queues": ["batch"], "processes": 8}
        write_heartbeat(client, settings, f"worker-{number}", about)
    write_heartbeat(client, settings, "interactive", {"queues": ["interactive"], "processes": 1})
    assert executor.window == settings.window
    executor.status([])
    assert executor.window == 5 * 8 * CHUNKS_PER_PROCESS
    assert demand(settings).processes == 5 * 8
    for number in range(5):
        record_exit(client, settings, f"worker-{number}", LEFT)
    executor.status([])
    assert executor.window == settings.window


def test_demand_is_what_drivers_still_want_done(server, executor):
    settings, client = server
    assert demand(settings).processes_wanted == 0
    executor.submit(ChunkRef(run_id=RUN, segment=0, chunk=0))
    publish_demand(client, settings, RUN, 7)
    publish_demand(client, settings, "1" * 32, 5)
    found = demand(settings)
    assert (found.chunks_waiting, found.queued, found.processes_wanted) == (12, 1, 12)
    assert found.oldest_s > 0.0
    client.flushall()


def message(run_id, chunk, queue):
    about = f"{run_id}/seg-0-chunk-{chunk}/1"
    return json.dumps([{"headers": {"about": about}}, queue, queue])


@pytest.mark.parametrize("name", ["DONE.json", "CANCELLED.json"])
def test_messages_of_runs_that_are_over_want_no_processes(server, name):
    settings, client = server
    lake = Lake.open(settings.lake)
    over, open_ = (uuid.uuid4().hex for _ in range(2))
    at = "2026-11-27T00:00:00+00:00"
    ended = {"finished_at": at, "results": None, "result_count": 0, "statuses": {}}
    write_json(lake, f"{folder(over)}/{name}", ended | {"cancelled_at": at})
    write_heartbeat(client, settings, "w", {"queues": [BATCH], "processes": 4})
    for chunk, run_id in enumerate((over, over, open_)):
        key = f"{key_prefix(settings)}unacked"
        client.hset(key, str(chunk), message(run_id, chunk, BATCH))
        (waits, *_) = json.loads(message(run_id, chunk + 10, BATCH))
        client.lpush(f"{key_prefix(settings)}{BATCH}", json.dumps(waits))
    publish_demand(client, settings, over, 7)
    found = demand(settings)
    assert (found.chunks_waiting, found.queued, found.acquired) == (0, 3, 3)
    assert found.processes_wanted == 2, "one waits, one is worked"
    client.flushall()


def test_messages_that_only_dead_workers_can_hold_want_no_processes(server):
    settings, client = server
    for chunk in range(3):
        client.hset(f"{key_prefix(settings)}unacked", str(chunk), message(RUN, chunk, BATCH))
    client.hset(f"{key_prefix(settings)}unacked", "job", message("a" * 32, 0, "interactive"))
    assert (demand(settings).acquired, demand(settings).processes_wanted) == (3, 0)
    write_heartbeat(client, settings, "w", {"queues": [BATCH], "processes": 2})
    assert demand(settings).processes_wanted == 2, "two processes hold two messages at most"
    client.flushall()


def test_a_run_tells_its_demand_while_it_is_driven(cluster, cluster_lake, monkeypatch):
    # Whatever the lake has learnt from other tests.
    monkeypatch.setattr("nightgrid.workers.runs.plan.plan_pass.CHUNK_MAX_ROWS", 20)
    slow = dict.fromkeys(range(70_000, 70_300, 20), toy.SLOW)
    run_id = plan(cluster_lake, toy.boards(300, slow, start=70_000))
    seen = []
    drive_celery(cluster, cluster_lake, run_id, lambda _: seen.append(demand(cluster)))
    assert max(found.chunks_waiting for found in seen) > 1
    assert seen[0].processes == 2


def test_two_lakes_on_one_server_see_nothing_of_one_another(server, tmp_path):
    """Given one server and default settings, Then all of it is there twice, lake by lake."""
    one, client = server
    other = quick_settings(tmp_path, redis_url=one.server_url)
    ref = ChunkRef(run_id=RUN, segment=0, chunk=0)
    with closing(CeleryExecutor(one)) as ours, closing(CeleryExecutor(other)) as theirs:
        ours.submit(ref)
        send(client_app(one), SOLVE_ONDEMAND, INTERACTIVE, "a" * 32, {})
        publish_demand(client, one, RUN, 7)
        write_heartbeat(client, one, "w", {"queues": [BATCH], "processes": 1})
        record_exit(client, one, "dead", DEAD)
        record_refusal(client, one, "w", "another version")
        announce(client, one, Announcement(event="done", ref=ref))
        assert (demand(one).queued, demand(one).chunks_waiting) == (1, 7)
        assert overview(one)[INTERACTIVE].queued == 1
        unseen = replace(demand(other), oldest_s=0.0)
        assert set(asdict(unseen).values()) == {0}
        assert [queue.queued for queue in overview(other).values()] == [0, 0]
        assert (living_workers(client, other), refusals(client, other)) == ({}, {})
        assert exited_workers(client, other, ["dead"]) == (set(), set())
        assert theirs.poll(RUN, 0.1) == []
        assert ours.poll(RUN, 1.0) == [Announcement(event="done", ref=ref)]
    client.flushall()
