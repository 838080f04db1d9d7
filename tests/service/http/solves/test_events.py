"""Events of a job: in order, ended by its end, and taken up where a client left."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from starlette.testclient import TestClient

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.guard import access
from nightgrid.service.http.guard.keys import add_key, revoke_key
from nightgrid.service.http.solves import found
from nightgrid.service.http.solves.following import Hub
from nightgrid.workers.settings import Settings

Work = Callable[[], int]


def events_of(text: str) -> list[dict[str, str]]:
    seen = []
    for block in text.replace("\r", "").strip().split("\n\n"):
        lines = [line.split(": ", 1) for line in block.splitlines() if ": " in line]
        seen.append({name: value for name, value in lines if name})
    return [event for event in seen if "event" in event]


def followed(
    client: TestClient, url: str, then: Callable[[], object], **given: Any
) -> tuple[Any, list[dict[str, str]]]:
    """Follow the events of a job, and do something as soon as the first is there."""
    lines: list[str] = []
    todo = [then]
    with client.stream("GET", url, **given) as found:
        for line in found.iter_lines():
            lines.append(line)
            if line.startswith("data: ") and todo:
                todo.pop()()
    return found, events_of("\n".join(lines))


def test_events_end_with_the_answer(client: TestClient, work: Work, board: dict[str, Any]) -> None:
    at = client.post("/v1/solves", json=board).json()["links"]["self"]
    answer, seen = followed(client, f"{at}/events", work)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert [event["event"] for event in seen][-1] == "end"
    assert json.loads(seen[-1]["data"])["answer"]["count"] == "2"
    for unknown in (seen[0]["id"], "x", "9" * 40):
        now = events_of(client.get(f"{at}/events", headers={"Last-Event-ID": unknown}).text)
        assert [event["event"] for event in now] == ["end"], "where it is now"


def test_a_client_that_has_had_the_end_is_not_kept_waiting(
    client: TestClient, work: Work, board: dict[str, Any]
) -> None:
    at = client.post("/v1/solves", json=board).json()["links"]["self"]
    work()
    last = events_of(client.get(f"{at}/events").text)[-1]["id"]
    assert client.get(f"{at}/events", headers={"Last-Event-ID": last}).status_code == 204


def test_a_key_that_is_revoked_ends_its_streams(
    client: TestClient, lake: Lake, board: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a job that does not end, When its key is replaced, Then the stream ends."""
    monkeypatch.setattr(access, "REFRESH_S", 0.0)
    monkeypatch.setattr(found, "KEY_LOOK_S", 0.05)
    headers = {"Authorization": f"Bearer {add_key(lake, 'alice')}"}
    at = client.post("/v1/solves", json=board, headers=headers).json()["links"]["self"]

    def rotate() -> None:
        revoke_key(lake, "alice")
        add_key(lake, "alice")

    _, told = followed(client, f"{at}/events", rotate, headers=headers)
    assert [event["event"] for event in told] == ["state"]
    assert client.get(f"{at}/events", headers=headers).status_code == 401


def test_clients_that_wait_leave_connections_to_others(
    client: TestClient, board: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    at = client.post("/v1/solves", json=board).json()["links"]["self"]
    monkeypatch.setattr(Hub, "is_full", True)
    told = client.get(f"{at}/events")
    assert (told.status_code, told.json()["type"]) == (503, "/problems/too-many-connections")
    begun = time.monotonic()
    waited = client.post("/v1/solves", json=board, headers={"Prefer": "wait=60"})
    assert (waited.status_code, time.monotonic() - begun < 10) == (202, True)


def test_half_of_the_connections_may_wait(settings: Settings) -> None:
    def look(_: str) -> None:
        return None

    async def fill() -> list[bool]:
        hub = Hub(settings.model_copy(update={"http_connections": 4}), look)
        seen = [hub.is_full]
        async with hub.follow("0" * 32), hub.follow("1" * 32):
            seen.append(hub.is_full)
        seen.append(hub.is_full)
        await hub.end()
        return seen

    assert asyncio.run(fill()) == [False, True, False]


def solve(state: str, place: int | None = None) -> dict[str, Any]:
    return {"state": state, "place": place, "progress": None}


def test_what_does_not_change_makes_no_event() -> None:
    seen = [{}, *(solve("queued", place) for place in (1, 1, 0)), solve("running"), solve("done")]
    told = [[name for name, _ in found.news(before, now)] for before, now in pairwise(seen)]
    assert told == [["state"], [], ["state"], ["state"], ["end"]]
