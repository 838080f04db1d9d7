"""A redirect leads to the source's own host, or to one that is named."""

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
from nightgrid.archive.sources.redirects import (
    RedirectError,
    check_redirect,
    named_host,
    place_of,
)
from nightgrid.archive.sources.web import HttpSource, Politeness
from nightgrid.solvers.errors import PermanentError
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
    return place_of(httpx.URL(server.url))


def _source(server: Server, *hosts: str) -> HttpSource:
    polite = Politeness(interval_s=0.0, attempts=2)
    return HttpSource(server.url, polite, redirect_hosts=hosts, sleep=lambda _: None)


def _moved(to: str) -> Reply:
    return Reply(status=302, headers={"Location": to})


def test_what_another_host_has_is_not_stored(server: Server, other: Server, lake: Lake) -> None:
    server.replies = [_moved(f"{other.url}/x.json")]
    report = fetch(lake, _source(server), first=DATE, last=DATE)
    assert other.requests == []
    says = f"a redirect leads to {_place(other)!r}; expected {_place(server)}, or a host that "
    (failure,) = report.failed
    assert (failure.rule, failure.message) == ("redirects", says + "--redirect-host names")
    assert RawArchive(lake, "pips").dates() == []


def test_a_host_that_is_named_is_followed_and_the_final_url_kept(
    server: Server, other: Server, lake: Lake
) -> None:
    server.replies = [_moved(f"{other.url}/x.json"), Reply(body=BODY)]
    source = _source(server, _place(other))
    fetch(lake, source, first=DATE, last=DATE + dt.timedelta(days=1))
    first, second = (RawArchive(lake, "pips").of(DATE + dt.timedelta(days=i))[0] for i in (0, 1))
    assert (first.url, first.final_url) == (source.url(DATE), f"{other.url}/x.json")
    assert (second.url, second.final_url) == (source.url(DATE + dt.timedelta(days=1)), None)
    assert other.requests[0][1]["Host"] == _place(other)
    normalise(lake)
    rows = lake.read_table("raw/pips.parquet", RAW).to_pylist()
    assert [row["final_url"] for row in rows] == [f"{other.url}/x.json", None]


def test_a_named_host_may_redirect_back_and_not_further(server: Server, other: Server) -> None:
    server.replies = [_moved(f"{other.url}/x.json"), Reply(body=BODY)]
    other.replies = [_moved(f"{server.url}/back.json")]
    assert _source(server, _place(other)).fetch(DATE, None).body == BODY
    assert server.requests[1][0].endswith("/back.json")
    server.replies = [_moved(f"{other.url}/x.json")]
    other.replies = [_moved("http://third.example/x")]
    answer = _source(server, _place(other)).fetch(DATE, None)
    assert (answer.kind, answer.rule) == (AnswerKind.FAILED, "redirects")
    assert answer.message.startswith("a redirect leads to 'third.example'; expected 127.0.0.1:")


@pytest.mark.parametrize("text", ["", "a.org/x", "me@a.org", "a b.org", "a!.org", "[::1", "a:x"])
def test_a_text_that_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(PermanentError, match="is no host; expected HOST or HOST:PORT"):
        named_host(text)


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
    ("source", "target", "named", "says"),
    [
        ("http://a.org/x", "http://a.org/y", (), ""),
        ("http://a.org/x", "http://A.org:80/y", (), ""),
        ("http://a.org/x", "https://a.org/y", (), ""),
        ("http://a.org:81/x", "https://a.org/y", (), "leads to 'a.org'; expected a.org:81, or"),
        ("http://a.org/x", "http://a.org:6379/y", (), "leads to 'a.org:6379'; expected a.org, or"),
        ("http://a.org/x", "http://a.org:6379/y", ("a.org:6379",), ""),
        ("http://a.org/x", "https://a.org:80/y", (), "leads to 'a.org:80'; expected a.org"),
        ("https://a.org/x", "https://b.org/y", (), "leads to 'b.org'; expected a.org, or a host"),
        ("https://a.org/x", "https://b.org/y", ("b.org",), ""),
        ("https://a.org/x", "https://b.org:8443/y", ("b.org",), "leads to 'b.org:8443'"),
        ("https://a.org/x", "https://c.b.org/y", ("b.org",), "leads to 'c.b.org'"),
        ("https://a.org/x", "http://b.org/y", ("b.org",), "leaves https"),
        ("https://a.org/x", "http://a.org/y", (), "leaves https"),
        ("http://a.org/x", "http://[::1]/y", ("[::1]",), ""),
        ("http://a.org/x", "http://me:pass@a.org/y", (), "carries credentials"),
        ("http://a.org/x", "ftp://a.org/y", (), "leads to ftp:; expected http or https"),
        ("http://a.org/x", "file:///etc/passwd", (), "leads to file:; expected http or https"),
    ],
)
def test_names_say_where_a_redirect_may_lead(
    source: str, target: str, named: tuple[str, ...], says: str
) -> None:
    if not says:
        check_redirect(httpx.URL(source), httpx.URL(target), named)
        return
    with pytest.raises(RedirectError) as refusal:
        check_redirect(httpx.URL(source), httpx.URL(target), named)
    assert says in str(refusal.value)
