"""From a real HTTP endpoint on loopback to editions, night after night."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.schemas import EDITIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.sources.web import HttpSource, Politeness
from nightgrid.archive.state import state_path
from tests.loopback import LoopbackServer

NIGHT = dt.datetime(2026, 1, 8, 4, tzinfo=dt.UTC)


class Endpoint(LoopbackServer):
    """Serves payloads with ETags, answers 304 and 404, and fails once on request."""

    path = "/pips"

    def __init__(self) -> None:
        self.bodies: dict[str, bytes] = {}
        self.fails_once: set[str] = set()
        self.statuses: list[int] = []
        super().__init__()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        body = self.bodies.get(request.path)
        etag = f'"{hashlib.sha256(body or b"").hexdigest()[:8]}"'
        if request.path in self.fails_once:
            self.fails_once.remove(request.path)
            status, body = 503, b"busy"
        elif body is None:
            status, body = 404, b"<Error/>"
        elif request.headers["If-None-Match"] == etag:
            status, body = 304, b""
        else:
            status = 200
        self.statuses.append(status)
        request.send_response(status)
        if status == 200:
            request.send_header("ETag", etag)
        if status != 304:
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as endpoint:
        yield endpoint


def test_three_nights_of_a_mutable_endpoint(
    endpoint: Endpoint,
    lake: Lake,
    make_payload: Callable[..., dict[str, Any]],
    snapshot: Callable[[Path], dict[str, str]],
) -> None:
    source = HttpSource(endpoint.url, Politeness(interval_s=0.0), sleep=lambda _: None)

    def publish(day: int, seed: int) -> None:
        body = json.dumps(make_payload(dt.date(2026, 1, day), seed)).encode("utf-8")
        endpoint.bodies[f"/pips/2026-01-0{day}.json"] = body

    def night(number: int) -> tuple[list[int], list[int]]:
        endpoint.statuses.clear()
        report = fetch(
            lake,
            source,
            first=dt.date(2026, 1, 3),
            refresh_days=4,
            now=lambda: NIGHT + dt.timedelta(days=number),
        )
        assert report.failed == []
        return [date.day for date in report.new], sorted(endpoint.statuses)

    # Six days, one of them without a puzzle, one after an answer that the server is busy.
    for day in (3, 4, 6, 7, 8):
        publish(day, day)
    endpoint.fails_once.add("/pips/2026-01-06.json")
    assert night(0) == ([3, 4, 6, 7, 8], [200] * 5 + [404, 503])
    assert normalise(lake).editions_added == 15

    # The same again: the last four days are asked for, conditionally, and no byte changes.
    before = snapshot(Path(lake.url))
    assert night(0) == ([], [304, 304, 304, 404])
    assert normalise(lake).payloads == 0
    after = snapshot(Path(lake.url))
    # It recorded that nothing was left to do.
    assert after.pop(state_path("pips")) != before.pop(state_path("pips"))
    assert after == before

    # A night later one board was replaced within the four days, one beyond, and one is new.
    for day, seed in ((4, 14), (7, 17), (9, 9)):
        publish(day, seed)
    assert night(1) == ([7, 9], [200, 200, 304, 304])
    report = normalise(lake)
    assert (report.editions_added, report.revisions_added) == (3, 3)
    revisions = {
        (row["date"].day, row["revision"])
        for row in lake.read_table("editions", EDITIONS).to_pylist()
    }
    assert revisions == {(3, 1), (4, 1), (6, 1), (7, 1), (7, 2), (8, 1), (9, 1)}
    source.close()
