"""Events of a job: in order, up to its end, and resumed where a client left."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from starlette.testclient import TestClient

from nightgrid.service.http.solves import found

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
    """Follow the events of a job, and do something after the first."""
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


def test_a_client_that_has_seen_the_end_does_not_wait(
    client: TestClient, work: Work, board: dict[str, Any]
) -> None:
    at = client.post("/v1/solves", json=board).json()["links"]["self"]
    work()
    last = events_of(client.get(f"{at}/events").text)[-1]["id"]
    assert client.get(f"{at}/events", headers={"Last-Event-ID": last}).status_code == 204


def solve(state: str, place: int | None = None) -> dict[str, Any]:
    return {"state": state, "place": place, "progress": None}


def test_an_unchanged_job_sends_no_event() -> None:
    seen = [{}, *(solve("queued", place) for place in (1, 1, 0)), solve("running"), solve("done")]
    told = [[name for name, _ in found.news(before, now)] for before, now in pairwise(seen)]
    assert told == [["state"], [], ["state"], ["state"], ["end"]]
