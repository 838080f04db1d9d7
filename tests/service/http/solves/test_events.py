"""Events of a job: in order, ended by its end, and taken up where a client left."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

from starlette.testclient import TestClient

from nightgrid.service.http.solves.following import Followed

Work = Callable[[], int]


def events_of(text: str) -> list[dict[str, str]]:
    found = []
    for block in text.replace("\r", "").strip().split("\n\n"):
        lines = [line.split(": ", 1) for line in block.splitlines() if ": " in line]
        found.append({name: value for name, value in lines if name})
    return [event for event in found if "event" in event]


def test_events_end_with_the_answer(client: TestClient, work: Work, board: dict[str, Any]) -> None:
    at = client.post("/v1/solves", json=board).json()["links"]["self"]
    timer = threading.Timer(0.2, work)
    timer.start()
    found = client.get(f"{at}/events")
    timer.join()
    assert found.headers["content-type"].startswith("text/event-stream")
    events = events_of(found.text)
    assert [event["event"] for event in events][-1] == "end"
    assert json.loads(events[-1]["data"])["answer"]["count"] == "2"
    ids = [int(event["id"]) for event in events]
    assert ids == sorted(set(ids))
    rest = client.get(f"{at}/events", headers={"Last-Event-ID": str(ids[-2])})
    assert [event["id"] for event in events_of(rest.text)] == [str(ids[-1])]
    for unknown in ("1", "x", "9" * 40):
        now = events_of(client.get(f"{at}/events", headers={"Last-Event-ID": unknown}).text)
        assert [event["event"] for event in now] == ["end"], "where it is now"


def solve(state: str, place: int | None = None) -> dict[str, Any]:
    answer = {"parts": []} if state == "done" else None
    return {"state": state, "place": place, "progress": None, "answer": answer}


def test_what_does_not_change_makes_no_event() -> None:
    job = Followed("0" * 32)
    for seen in (solve("queued", 1), solve("queued", 1), solve("queued", 0), solve("running")):
        job.see(seen)
    assert [event.name for event in job.events] == ["state"] * 3
    first = job.events[0].id
    assert len(job.after(first)) == 2
    assert [event.name for event in job.after(None)] == ["state"]
    job.see(solve("done"))
    assert [event.name for event in job.after(first)][-2:] == ["state", "end"]
    assert job.is_over
    assert abs(job.events[-1].id - time.time() * 1000) < 10_000
