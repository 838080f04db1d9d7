"""A redirect leads to the source's own host."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.ingest.raw import RawArchive
from nightgrid.archive.lake.schemas import RAW
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.sources import AnswerKind
from nightgrid.archive.sources.web import HttpSource, Politeness
from tests.archive.sources.test_sources import BODY, DATE, Reply, Server


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def other() -> Iterator[Server]:
    with Server() as server:
        server.replies = [Reply(body=b'{"secret": 1}')]
        yield server


def _place(server: Server) -> str:
    return httpx.URL(server.url).netloc.decode()


def _source(server: Server) -> HttpSource:
    polite = Politeness(interval_s=0.0, attempts=2)
    return HttpSource(server.url, polite, sleep=lambda _: None)


def _moved(to: str) -> Reply:
    return Reply(status=302, headers={"Location": to})


def test_contents_of_another_host_are_not_stored(server: Server, other: Server, lake: Lake) -> None:
    server.replies = [_moved(f"{other.url}/x.json")]
    report = fetch(lake, _source(server), first=DATE, last=DATE)
    assert other.requests == []
    says = f"a redirect leads to {'http://' + _place(other)!r}; name it if that is the source"
    (failure,) = report.failed
    assert (failure.rule, failure.message) == ("redirects", says)
    assert RawArchive(lake, "pips").dates() == []


def test_the_final_url_is_kept(server: Server, lake: Lake) -> None:
    server.replies = [_moved("/x.json"), Reply(body=BODY)]
    source = _source(server)
    fetch(lake, source, first=DATE, last=DATE + dt.timedelta(days=1))
    first, second = (RawArchive(lake, "pips").of(DATE + dt.timedelta(days=i))[0] for i in (0, 1))
    target = str(httpx.URL(server.url).join("/x.json"))
    assert (first.url, first.final_url) == (source.url(DATE), target)
    assert (second.url, second.final_url) == (source.url(DATE + dt.timedelta(days=1)), None)
    normalise(lake)
    rows = lake.read_table("raw/pips.parquet", RAW).to_pylist()
    assert [row["final_url"] for row in rows] == [target, None]


def test_the_body_of_a_redirect_is_not_read(server: Server) -> None:
    sent: list[int] = []

    def flood(handler: Any) -> None:
        handler.send_response(302)
        handler.send_header("Location", "/elsewhere")
        handler.end_headers()
        while len(sent) < 20_000:
            handler.wfile.write(b"x" * 10_000)
            sent.append(1)

    server.replies = [Reply(act=flood), Reply(body=BODY)]
    assert _source(server).fetch(DATE, None).body == BODY
    assert len(sent) < 20_000


@pytest.mark.parametrize(
    "target",
    [
        "http://me:pass@{place}/y",
        "ftp://{place}/y",
        "file:///etc/passwd",
        "http://{place}9/y",
        "http://other.example/y",
    ],
)
def test_a_redirect_stays_on_its_host(server: Server, target: str) -> None:
    server.replies = [_moved(target.format(place=_place(server)))]
    answer = _source(server).fetch(DATE, None)
    assert (answer.kind, answer.rule, answer.transient) == (AnswerKind.FAILED, "redirects", False)
    assert "pass@" not in answer.message
    assert len(server.requests) == 1
