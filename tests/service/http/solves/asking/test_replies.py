"""Replies that are final are sent again as they were, within bounded memory."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import Response
from starlette.testclient import TestClient

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.solves import routes
from nightgrid.service.http.solves.asking.replies import EACH_BYTES, Replies, digest_of
from nightgrid.workers.ondemand.record_files import open_records
from nightgrid.workers.ondemand.task.solving import solve_message
from nightgrid.workers.settings import Settings


def test_those_used_longest_ago_go_first() -> None:
    replies = Replies(most_bytes=3 * (EACH_BYTES + 10))
    for name in "abc":
        replies.put(name, Response(b"x" * 10))
    assert replies.get("a") is not None
    replies.put("d", Response(b"x" * 10))
    assert [name for name in "abcd" if replies.get(name)] == ["a", "c", "d"]
    replies.put("d", Response(b"y" * 10))
    assert len(replies) == 3, "a reply that is put again takes no room of others"
    replies.put("large", Response(b"x" * 20_000))
    assert replies.get("large") is None, "one that is larger than all room is not kept"
    assert [name for name in "acd" if replies.get(name)] == ["a", "c", "d"]
    replies.put("a", Response(b"x" * 20_000))
    assert replies.get("a") is None, "nor is the one before it"


def test_a_body_that_was_answered_reaches_no_route(
    client: TestClient,
    lake: Lake,
    settings: Settings,
    board: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert client.post("/v1/solves", json=board).status_code == 202
    (record,) = open_records(lake)
    solve_message(lake, record.message, settings, "worker")
    first = client.post("/v1/solves", json=board)
    assert first.status_code == 200

    def never(*_: Any) -> None:
        raise AssertionError("it was read again")

    monkeypatch.setattr(routes, "read_request", never)
    capsys.readouterr()
    again = client.post("/v1/solves", json=board)
    assert '"request"' not in capsys.readouterr().err
    assert again.content == first.content
    told = [
        {name: value for name, value in answer.headers.items() if name != "x-request-id"}
        for answer in (first, again)
    ]
    assert told[0] == told[1]
    figures = client.get("/metrics").text
    line = 'nightgrid_http_requests_total{method="POST",route="/v1/solves",status="200"} '
    assert f"{line}2.0" in figures
    keyed = client.post("/v1/solves", json=board, headers={"Idempotency-Key": "k"})
    assert keyed.content == first.content, "a key is looked at by the route"
    other = client.post(
        "/v1/solves",
        json={**board, "ask": "first"},
        headers={"Idempotency-Key": "k"},
    )
    assert other.status_code == 422
    text = client.post("/v1/solves", content=first.request.content)
    assert text.status_code == 415, "what else is asked of a request is asked of this one as well"


def test_bodies_are_told_apart_by_every_byte() -> None:
    assert digest_of(b'{"id": 1}') != digest_of(b'{"id":1}')
