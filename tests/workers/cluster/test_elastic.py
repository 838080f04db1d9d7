"""Workers join and leave while a run goes on."""

import json
import math
import time
from contextlib import closing
from dataclasses import asdict, replace

import pytest
import toy_game as toy

from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.notices import Announcement, announce
from nightgrid.workers.broker.queues import demand, overview, publish_demand
from nightgrid.workers.broker.redis_keys import BATCH, INTERACTIVE, key_prefix
from nightgrid.workers.broker.worker_keys import (
    DEAD,
    LEFT,
    exit_of,
    living_workers,
    record_exit,
    record_refusal,
    refusals,
    write_heartbeat,
)
from nightgrid.workers.driver.outbox import (
    CHUNKS_PER_PROCESS,
    GONE_INTERVALS,
    CeleryOutbox,
    Place,
    Worker,
)
from nightgrid.workers.runs.run_files import ChunkRef
from tests.local_cluster import local_cluster
from tests.workers.cluster.test_survival import drive_celery
from tests.workers.conftest import plan, quick_settings

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("toy_in_place_of_pips")]

RUN = "0" * 32


def chunk(number):
    return ChunkRef(run_id=RUN, segment=0, chunk=number)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    settings = quick_settings(
        tmp_path_factory.mktemp("elastic"), window_chunks=None, liveness_ttl_seconds=60.0
    )
    with local_cluster(settings, roles=("server",)), closing(connect(settings)) as client:
        yield settings, client


@pytest.fixture
def outbox(server):
    settings, _ = server
    with closing(CeleryOutbox(settings)) as made:
        yield made


def look(outbox):
    """Check at once, whenever it last checked."""
    outbox._looked_at = -math.inf
    outbox.look()


def test_a_worker_that_died_differs_from_one_that_left(server, outbox):
    settings, client = server
    record_exit(client, settings, "died", DEAD)
    record_exit(client, settings, "left", LEFT)
    write_heartbeat(client, settings, "lives", {"queues": ["batch"], "processes": 1})
    look(outbox)
    found = {name: outbox.worker(name) for name in ("died", "left", "lives")}
    assert found == {"died": Worker.GONE, "left": Worker.LEFT, "lives": Worker.LIVES}
    client.flushall()


def test_a_worker_that_is_silent_is_gone_after_some_intervals(server, outbox):
    settings, _ = server
    look(outbox)
    assert outbox.worker("silent") is Worker.LIVES, "it may be one whose server was wiped"
    time.sleep((GONE_INTERVALS + 1) * settings.tuning.liveness_interval_seconds)
    assert outbox.worker("silent") is Worker.GONE


@pytest.mark.parametrize("queue", [BATCH, INTERACTIVE])
def test_messages_are_located(server, outbox, queue):
    settings, client = server
    waits, lost, taken = (chunk(number) for number in (2, 3, 4))
    look(outbox)
    begun = time.monotonic()
    assert outbox.place(waits, begun) is Place.UNKNOWN, "it was sent after the look"
    outbox.send(waits, queue)
    key = f"{key_prefix(settings)}unacked"
    client.hset(key, "1", message(RUN, "00004", queue))
    look(outbox)
    found = [outbox.place(ref, begun) for ref in (waits, lost, taken)]
    assert found == [Place.QUEUED, Place.NOWHERE, Place.TAKEN]
    client.flushall()


def test_a_queue_is_refused_when_all_of_its_workers_say_so(server, outbox):
    settings, client = server
    for name in ("a", "b"):
        write_heartbeat(client, settings, name, {"queues": ["batch"], "processes": 1})
    record_refusal(client, settings, "a", "no words")
    look(outbox)
    assert outbox.refusal("batch") == ""
    record_refusal(client, settings, "b", "no room")
    look(outbox)
    assert (outbox.refusal("batch"), outbox.refusal("interactive")) == ("no room; no words", "")
    client.flushall()


def test_the_window_grows_with_the_workers_that_join_and_shrinks_when_they_leave(server, outbox):
    settings, client = server
    for number in range(5):
        about = {"queues": ["batch"], "processes": 8}
        write_heartbeat(client, settings, f"worker-{number}", about)
    write_heartbeat(client, settings, "interactive", {"queues": ["interactive"], "processes": 1})
    assert outbox.window("batch") == settings.window
    look(outbox)
    assert outbox.window("batch") == 5 * 8 * CHUNKS_PER_PROCESS
    assert demand(client, settings).processes == 5 * 8
    for number in range(5):
        record_exit(client, settings, f"worker-{number}", LEFT)
    look(outbox)
    assert outbox.window("batch") == settings.window


def test_demand_is_the_work_left_to_drivers(server, outbox):
    settings, client = server
    assert demand(client, settings).chunks_waiting == 0
    outbox.send(chunk(0), BATCH)
    publish_demand(client, settings, RUN, 7)
    publish_demand(client, settings, "1" * 32, 5)
    found = demand(client, settings)
    assert (found.chunks_waiting, found.queued) == (12, 1)
    assert found.oldest_s > 0.0
    client.flushall()


def message(run_id, chunk, queue):
    about = f"{run_id}/seg-00000-chunk-{chunk}/1"
    return json.dumps([{"headers": {"about": about}}, queue, queue])


def test_a_run_publishes_its_demand_while_it_is_driven(cluster, cluster_lake, monkeypatch):
    # Independent of the costs recorded by other tests.
    monkeypatch.setattr("nightgrid.workers.runs.plan.plan_pass.CHUNK_MAX_ROWS", 20)
    slow = dict.fromkeys(range(70_000, 70_300, 20), toy.SLOW)
    run_id = plan(cluster_lake, toy.boards(300, slow, start=70_000))
    seen = []
    with closing(connect(cluster)) as client:
        drive_celery(cluster, cluster_lake, run_id, lambda _: seen.append(demand(client, cluster)))
    assert max(found.chunks_waiting for found in seen) > 1
    assert seen[0].processes == 2


def test_two_lakes_on_one_server_see_nothing_of_one_another(server, tmp_path):
    """Given one server and default settings, Then every key exists twice, once for each lake."""
    one, client = server
    other = quick_settings(tmp_path, redis_url=one.server_url)
    ref = ChunkRef(run_id=RUN, segment=0, chunk=0)
    with closing(CeleryOutbox(one)) as ours, closing(CeleryOutbox(other)) as theirs:
        ours.send(ref, BATCH)
        ours.send(ref, INTERACTIVE)
        publish_demand(client, one, RUN, 7)
        write_heartbeat(client, one, "w", {"queues": [BATCH], "processes": 1})
        record_exit(client, one, "dead", DEAD)
        record_refusal(client, one, "w", "another version")
        announce(client, one, ours._driver, Announcement(event="done", ref=ref))
        assert (demand(client, one).queued, demand(client, one).chunks_waiting) == (1, 7)
        assert overview(client, one)[INTERACTIVE].queued == 1
        unseen = replace(demand(client, other), oldest_s=0.0)
        assert set(asdict(unseen).values()) == {0}
        assert [queue.queued for queue in overview(client, other).values()] == [0, 0]
        assert (living_workers(client, other), refusals(client, other)) == ({}, {})
        assert exit_of(client, other, "dead") is None
        assert theirs.wait(0.1) == []
        assert ours.wait(1.0) == [Announcement(event="done", ref=ref)]
    client.flushall()
