"""What other programs write into Redis is dropped and counted, and ends no worker and no driver."""

from __future__ import annotations

import base64
import json
import time
from contextlib import closing
from typing import Any

import pytest
import toy_game as toy

from nightgrid.solvers.errors import TransientError
from nightgrid.workers.app import client_app
from nightgrid.workers.broker import malformed
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.malformed import count_malformed, malformed_counts, read_object
from nightgrid.workers.broker.notices.announcements import next_announcements
from nightgrid.workers.broker.queues import (
    BATCH,
    INTERACTIVE,
    URGENT,
    demand,
    overview,
    send,
    traffic,
)
from nightgrid.workers.broker.worker_keys import living_workers
from nightgrid.workers.cluster.supervisor_state import supervisor_state
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.executors import CeleryExecutor
from tests.workers.conftest import plan, result_rows, undisturbed_rows

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("toy_in_place_of_pips")]


def _message(body: object = None, **changes: Any) -> dict[str, Any]:
    sound = [[{"run_id": "r", "segment": 0, "chunk": 0, "attempt": 1}], {}, {}]
    text = json.dumps(sound if body is None else body)
    value = {
        "body": base64.b64encode(text.encode()).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {"task": "nightgrid.solve_chunk", "id": "x", "about": "r/0/1"},
        "properties": {
            "delivery_tag": str(time.monotonic_ns()),
            "delivery_info": {"exchange": "batch", "routing_key": "batch"},
            "body_encoding": "base64",
        },
    }
    return {**value, **changes}


DEEP = "[" * 100_000
HEADERS: dict[str, Any] = _message()["headers"]
CONTENTS: dict[str, str] = {
    "no JSON": "hello",
    "nothing": "",
    "deep": DEEP,
    "a number": "7",
    "a list": "[]",
    "an empty object": "{}",
    "a type of kombu": '{"__type__": "decimal", "__value__": "x"}',
    "no headers": json.dumps(_message(headers=None)),
    "headers of another type": json.dumps(_message(headers=[1])),
    "no task": json.dumps(_message(headers={})),
    "a task that is a list": json.dumps(_message(headers={**HEADERS, "task": []})),
    "an unknown task": json.dumps(_message(headers={**HEADERS, "task": "rm"})),
    "no properties": json.dumps(_message(properties=None)),
    "no tag": json.dumps(_message(properties={"delivery_info": {}})),
    "a tag that is a list": json.dumps(_message(properties={"delivery_tag": []})),
    "a body that is a number": json.dumps(_message() | {"body": 7}),
    "a body that is no base64": json.dumps(_message() | {"body": "!"}),
    "a body of another shape": json.dumps(_message(body={"a": 1})),
    "arguments of another type": json.dumps(_message(body=[[7], {}, {}])),
    "no arguments": json.dumps(_message(body=[[], {}, {}])),
    "a limit that is no pair": json.dumps(_message(headers={**HEADERS, "timelimit": 5})),
    "a time that is none": json.dumps(_message(headers={**HEADERS, "eta": "soon"})),
    "an unknown encoding": json.dumps(_message() | {"content-encoding": "x"}),
    "pickle": json.dumps(_message() | {"content-type": "application/x-python-serialize"}),
    "a large text": "x" * 5_000_000,
}


def _worker(settings):
    about = supervisor_state(settings)["processes"]["batch"]
    return about["pid"], about["restarts"]


def test_a_run_goes_on_between_whatever_another_program_writes(cluster, cluster_lake, tmp_path):
    boards = toy.boards(60, {}, start=21_000)
    run_id = plan(cluster_lake, boards)
    before = _worker(cluster)
    prefix = key_prefix(cluster)
    with closing(connect(cluster)) as client:
        client.rpush(f"{prefix}{BATCH}", *CONTENTS.values())
        client.rpush(f"{prefix}announced:{run_id}", *CONTENTS.values(), b"\xff\xfe")
        client.hset(f"{prefix}unacked", mapping={"junk": "[", "odd": "[1]", "bad": "[7, 8, 9]"})
        client.zadd(f"{prefix}unacked_index", {"junk": 1, "odd": 2, "bad": 3})
        client.set(f"{prefix}worker:junk", "[]")
        client.set(f"{prefix}worker:odd", '{"queues": 7, "processes": "x"}')
        client.set(f"{prefix}demand:junk", "many")
        executor = CeleryExecutor(cluster)
        with closing(executor):
            summary = drive(cluster_lake, run_id, executor, settings=cluster)
        assert summary.finished
        assert summary.failures == 0
        assert result_rows(cluster_lake, run_id) == undisturbed_rows(tmp_path, boards)
        assert _worker(cluster) == before
        assert client.llen(f"{prefix}{BATCH}") == 0
        assert not {"junk", "odd"} & living_workers(client, cluster).keys()
        counts = malformed_counts(client, cluster)
        assert counts["announced"] == len(CONTENTS) + 1
        # Text that is no JSON; and JSON that is no message, by its queue.
        assert counts["queues"] >= 4
        assert counts[BATCH] >= 5
        deadline = time.monotonic() + 20
        while client.hlen(f"{prefix}unacked") and time.monotonic() < deadline:
            time.sleep(0.1)
        assert client.hkeys(f"{prefix}unacked") == []
        client.delete(f"{prefix}worker:junk", f"{prefix}worker:odd", f"{prefix}demand:junk")


def test_looks_pass_over_what_is_no_message(cluster):
    prefix = key_prefix(cluster)
    sound = _message(headers={**HEADERS, "about": "r/1/1", "submitted_at": time.time() - 5})
    with closing(connect(cluster)) as client:
        # Nothing serves this queue here, and so nothing takes it away.
        key = f"{prefix}{URGENT}-looked"
        client.rpush(key, *CONTENTS.values(), json.dumps(sound))
        assert "r/1/1" in traffic(client, cluster, f"{URGENT}-looked").waiting
        client.delete(key)
    assert set(overview(cluster)) == {INTERACTIVE, URGENT, BATCH}
    assert demand(cluster).processes > 0


def test_a_key_of_another_type_is_replaced(cluster):
    key = f"{key_prefix(cluster)}announced:typed"
    with closing(connect(cluster)) as client:
        before = malformed_counts(client, cluster).get("announced", 0)
        client.set(key, "text")
        assert next_announcements(client, cluster, "typed", 0.1) == []
        assert not client.exists(key)
        assert malformed_counts(client, cluster)["announced"] == before + 1
        client.set(f"{key_prefix(cluster)}other", "text")


def test_a_queue_of_another_type_is_replaced_and_ends_no_worker(cluster, cluster_lake, tmp_path):
    """Given a text in the place of a queue, Then a worker deletes it, and the run goes on."""
    boards = toy.boards(30, {}, start=23_000)
    run_id = plan(cluster_lake, boards)
    before = _worker(cluster)
    with closing(connect(cluster)) as client:
        for name in (BATCH, URGENT):
            client.set(f"{key_prefix(cluster)}{name}", "text")
        executor = CeleryExecutor(cluster)
        with closing(executor):
            assert drive(cluster_lake, run_id, executor, settings=cluster).finished
        assert malformed_counts(client, cluster)[URGENT] >= 1
    assert result_rows(cluster_lake, run_id) == undisturbed_rows(tmp_path, boards)
    assert _worker(cluster) == before


def test_a_sender_hears_of_a_queue_of_another_type_and_of_nothing_else(cluster):
    """Given a text that comes and goes in the place of a queue, Then sending works or is transient.

    A connection that fails while a queue is declared leaves kombu with a closed channel.
    """
    app, sent, refused = client_app(cluster), 0, 0
    with closing(connect(cluster)) as client:
        key = f"{key_prefix(cluster)}{INTERACTIVE}"
        for turn in range(200):
            # Workers delete it, too, but on a loaded machine not in time.
            if turn % 5 == 0:
                client.set(key, "text")
            elif turn % 5 == 3:
                client.delete(key)
            try:
                send(app, "nightgrid.none", INTERACTIVE, "about", {})
                sent += 1
            except TransientError:
                refused += 1
    app.close()
    assert sent
    assert sent + refused == 200


def test_a_flood_is_logged_once_and_counted_each_time(cluster, monkeypatch):
    said = []
    monkeypatch.setattr(malformed.log, "warning", lambda text, **about: said.append((text, about)))
    monkeypatch.setattr(malformed, "_logged_at", {})
    with closing(connect(cluster)) as client:
        for _ in range(3):
            count_malformed("flood", ValueError("x"), cluster)
        count_malformed("other", "y" * 500, cluster, 7)
        counts = malformed_counts(client, cluster)
        assert (counts["flood"], counts["other"]) == (3, 7)
        assert [about["place"] for _, about in said] == ["flood", "other"]
        assert len(said[1][1]["error"]) == 200
        assert client.ttl(f"{key_prefix(cluster)}malformed") > 3600


@pytest.mark.parametrize("text", ["", "[]", "7", "null", DEEP, None])
def test_what_is_no_object_is_none(text):
    assert read_object(text) is None


def test_an_object_is_read():
    assert read_object('{"a": 1}') == {"a": 1}
