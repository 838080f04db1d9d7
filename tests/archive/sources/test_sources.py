from __future__ import annotations

import datetime as dt
import email.utils
import gzip
import itertools
import random
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from nightgrid.archive import outages
from nightgrid.archive.sources import AnswerKind, Validators, open_source
from nightgrid.archive.sources.proxies import proxy_of
from nightgrid.archive.sources.web import HttpSource, Politeness
from nightgrid.solvers.errors import PermanentError
from tests.loopback import LoopbackServer

ROOT = Path(__file__).resolve().parents[3]
DATE = dt.date(2026, 1, 2)
BODY = b'{"printDate": "2026-01-02"}'


@dataclass
class Reply:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    act: Callable[[BaseHTTPRequestHandler], None] | None = None


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Some tests are about clients that hang up."""


class Server(LoopbackServer):
    """Replies with its answers one after the other."""

    path = "/svc/pips/v1"
    server_class = Quiet

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.requests: list[tuple[str, dict[str, str]]] = []
        super().__init__()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.requests.append((request.path, dict(request.headers)))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if reply.act:
            reply.act(request)
            return
        request.send_response(reply.status)
        for name, value in reply.headers.items():
            request.send_header(name, value)
        if "Content-Length" not in reply.headers:
            request.send_header("Content-Length", str(len(reply.body)))
        request.end_headers()
        request.wfile.write(reply.body)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def source(server: Server, slept: list[float]) -> Iterator[HttpSource]:
    polite = Politeness(interval_s=0.0, timeout_s=30.0, deadline_s=60.0, max_body_bytes=1000)
    source = HttpSource(server.url, polite, sleep=slept.append)
    yield source
    source.close()


def test_a_payload_comes_with_its_validators(server: Server, source: HttpSource) -> None:
    server.replies = [Reply(body=BODY, headers={"ETag": '"1"', "Last-Modified": "yesterday"})]
    answer = source.fetch(DATE, None)
    assert (answer.kind, answer.body, answer.http_status) == (AnswerKind.BODY, BODY, 200)
    assert (answer.etag, answer.last_modified) == ('"1"', "yesterday")
    path, headers = server.requests[0]
    assert path == "/svc/pips/v1/2026-01-02.json"
    assert headers["User-Agent"].startswith("nightgrid/")
    assert "If-None-Match" not in headers
    for chars, kept in ((512, True), (513, False)):
        server.replies = [Reply(body=BODY, headers={"ETag": "x" * chars})]
        assert (source.fetch(DATE, None).etag is not None) is kept


def test_validators_make_the_request_conditional(server: Server, source: HttpSource) -> None:
    server.replies = [Reply(status=304)]
    answer = source.fetch(DATE, Validators(etag='"1"', last_modified="yesterday"))
    assert (answer.kind, answer.body) == (AnswerKind.UNCHANGED, None)
    headers = server.requests[0][1]
    assert (headers["If-None-Match"], headers["If-Modified-Since"]) == ('"1"', "yesterday")


@pytest.mark.parametrize("status", [404, 410])
def test_a_missing_puzzle_is_not_a_failure(server: Server, source: HttpSource, status: int) -> None:
    server.replies = [Reply(status=status, body=b"<xml/>")]
    assert source.fetch(DATE, None).kind is AnswerKind.ABSENT
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524])
def test_an_overloaded_server_is_asked_again(
    server: Server, source: HttpSource, slept: list[float], status: int
) -> None:
    server.replies = [Reply(status=status), Reply(status=status), Reply(body=BODY)]
    assert source.fetch(DATE, None).body == BODY
    assert len(server.requests) == 3
    assert len(slept) == 2
    assert all(0 <= pause <= 4 for pause in slept)


def test_retries_end_and_the_last_body_is_reported(server: Server, source: HttpSource) -> None:
    server.replies = [Reply(status=500, body=b"oops")]
    answer = source.fetch(DATE, None)
    assert len(server.requests) == 4
    assert (answer.kind, answer.transient, answer.body) == (AnswerKind.FAILED, True, b"oops")
    assert (answer.rule, answer.message) == (
        "http-status",
        "the server answered 500, after 4 attempts",
    )


@pytest.mark.parametrize(
    "status",
    [204, 206, 400, 401, 403, 407, 409, 424, 426, 428, 430, 451, 499, 501, 505, 519, 525],
)
def test_a_refusal_is_final(server: Server, source: HttpSource, status: int) -> None:
    server.replies = [Reply(status=status)]
    answer = source.fetch(DATE, None)
    assert (answer.kind, answer.transient) == (AnswerKind.FAILED, False)
    assert len(server.requests) == 1


XML = b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>%b</Code><Message>x</Message></Error>'


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (403, b"AccessDenied", AnswerKind.ABSENT),
        (403, b"NoSuchKey", AnswerKind.ABSENT),
        (404, b"NoSuchKey", AnswerKind.ABSENT),
        (403, b"RequestTimeTooSkewed", AnswerKind.FAILED),
        (401, b"AccessDenied", AnswerKind.FAILED),
        (200, b"NoSuchKey", AnswerKind.BODY),
    ],
)
def test_an_object_store_that_has_no_such_file_says_that_there_is_no_puzzle(
    server: Server, source: HttpSource, status: int, code: bytes, kind: AnswerKind
) -> None:
    server.replies = [Reply(status=status, body=XML % code)]
    assert source.fetch(DATE, None).kind is kind


@pytest.mark.parametrize(
    ("address", "game", "url"),
    [
        ("https://example.org", "pips", "https://example.org/svc/pips/v1/2025-09-15.json"),
        ("https://x.org", "letterboxed", "https://x.org/svc/letter-boxed/v1/2025-09-15.json"),
        ("https://example.org/", "strands", "https://example.org/svc/strands/v2/2025-09-15.json"),
        ("https://example.org/old", "strands", "https://example.org/old/2025-09-15.json"),
    ],
)
def test_a_bare_host_gets_the_path_of_the_game(address: str, game: str, url: str) -> None:
    opened = open_source(address, game=game)
    assert opened.url(dt.date(2025, 9, 15)) == url
    opened.close()


def test_retry_after_is_obeyed_in_seconds_and_as_a_date(
    server: Server, source: HttpSource, slept: list[float]
) -> None:
    now = dt.datetime.now(dt.UTC)
    soon, past = (email.utils.format_datetime(now + dt.timedelta(seconds=s)) for s in (60, -60))
    server.replies = [
        Reply(status=429, headers={"Retry-After": "7"}),
        Reply(status=503, headers={"Retry-After": soon}),
        Reply(status=503, headers={"Retry-After": past}),
        Reply(body=BODY),
    ]
    assert source.fetch(DATE, None).kind is AnswerKind.BODY
    assert slept[0] == 7
    assert 30 < slept[1] <= 60
    assert slept[2] == 0


def test_a_server_that_asks_for_a_long_pause_is_not_asked_again(
    server: Server, source: HttpSource, slept: list[float]
) -> None:
    server.replies = [Reply(status=429, headers={"Retry-After": "86400"})]
    answer = source.fetch(DATE, None)
    assert (answer.kind, answer.transient, answer.source_down) == (AnswerKind.FAILED, True, True)
    assert (len(server.requests), slept) == (1, [])
    server.replies = [Reply(status=429, headers={"Retry-After": "9" * 400})]
    assert source.fetch(DATE, None).message == (
        "the server answered 429 and asks to be left alone for 999999999 s"
    )


def hang(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(0.5)


def cut(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "500")
    handler.end_headers()
    handler.wfile.write(b'{"printDate": ')
    handler.close_connection = True


def drip(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(40):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def garble(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"this is no HTTP\r\n\r\n")
    handler.close_connection = True


@pytest.mark.parametrize(("act", "limit_s"), [(hang, 0.5), (cut, 30), (drip, 30), (garble, 30)])
def test_network_errors_are_retried_and_then_reported(
    server: Server, act: Callable[[BaseHTTPRequestHandler], None], limit_s: float
) -> None:
    polite = Politeness(interval_s=0.0, timeout_s=limit_s, deadline_s=1.0, attempts=2)
    ticks = itertools.count()

    def be_patient(_: float) -> None:
        # The valid reply has time even on a stalled machine.
        source._client.timeout = httpx.Timeout(30.0)

    # The deadline of a body counts its pieces, not the machine's time.
    source = HttpSource(server.url, polite, sleep=be_patient, clock=lambda: next(ticks) / 10)
    server.replies = [Reply(act=act), Reply(body=BODY)]
    assert source.fetch(DATE, None).body == BODY
    source._client.timeout = httpx.Timeout(limit_s)
    server.replies = [Reply(act=act)]
    answer = source.fetch(DATE, None)
    assert (answer.kind, answer.transient, answer.rule) == (AnswerKind.FAILED, True, "network")
    assert len(server.requests) == 4
    source.close()


def test_a_dead_server_is_a_transient_failure(slept: list[float]) -> None:
    source = HttpSource("http://127.0.0.1:9", Politeness(interval_s=0.0), sleep=slept.append)
    answer = source.fetch(DATE, None)
    assert (answer.kind, answer.transient, answer.body) == (AnswerKind.FAILED, True, None)
    assert answer.message == "the request failed: connection refused, after 4 attempts"
    source.close()


def test_a_proxy_that_refuses_is_named(
    server: Server, slept: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    polite = Politeness(interval_s=0.0, attempts=1)
    place = server.url.removeprefix("http://").partition("/")[0]
    for proxy, why in (("127.0.0.1:9", "connection refused"), (place, "the server answered 407")):
        server.replies = [Reply(status=407)]
        monkeypatch.setenv("http_proxy", f"http://user:secret@{proxy}")
        source = HttpSource("http://archive.example", polite, sleep=slept.append)
        message = source.fetch(DATE, None).message
        assert f"{why} (by the proxy {proxy}; NO_PROXY names hosts" in message
        source.close()
    monkeypatch.setenv("no_proxy", "archive.example")
    assert proxy_of("http://archive.example/x") == ""
    assert proxy_of("http://other.example/x") == proxy


@pytest.mark.parametrize("announced", [True, False])
def test_reading_stops_at_the_bound(server: Server, source: HttpSource, announced: bool) -> None:
    sent = []

    def flood(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        if announced:
            handler.send_header("Content-Length", str(10**9))
        handler.end_headers()
        while len(sent) < 100_000:
            handler.wfile.write(b"[" * 1000)
            sent.append(1000)

    server.replies = [Reply(act=flood)]
    answer = source.fetch(DATE, None)
    assert (answer.kind, answer.rule, answer.transient) == (
        AnswerKind.FAILED,
        "body-too-large",
        False,
    )
    assert answer.body == b"[" * 1000
    assert len(sent) < 100_000


def test_a_compressed_body_is_declined_and_refused(server: Server, source: HttpSource) -> None:
    """The body would expand a thousandfold; the quarantine keeps it as received."""
    bomb = gzip.compress(b" " * 800_000, 9)
    server.replies = [Reply(body=bomb, headers={"Content-Encoding": "gzip"})]
    tracemalloc.start()
    answer = source.fetch(DATE, None)
    (_, peak), _ = tracemalloc.get_traced_memory(), tracemalloc.stop()
    assert peak < 700_000
    assert server.requests[0][1]["Accept-Encoding"] == "identity"
    assert (answer.kind, answer.rule, answer.body) == (
        AnswerKind.FAILED,
        "content-encoding",
        bomb,
    )


def test_redirects_are_followed_and_bounded(server: Server, source: HttpSource) -> None:
    moved = Reply(status=302, headers={"Location": "/elsewhere"})
    server.replies = [moved, moved, Reply(body=BODY)]
    assert source.fetch(DATE, None).body == BODY
    server.replies = [moved]
    answer = source.fetch(DATE, None)
    assert (answer.kind, answer.rule, answer.transient) == (AnswerKind.FAILED, "redirects", False)
    assert len(server.requests) == 3 + 4


def test_requests_are_spaced_out(server: Server) -> None:
    now = [100.0]
    slept: list[float] = []

    def sleep(pause_s: float) -> None:
        slept.append(pause_s)
        now[0] += pause_s

    source = HttpSource(server.url, Politeness(interval_s=2.0), sleep=sleep, clock=lambda: now[0])
    server.replies = [Reply(body=BODY)]
    for worked_s in (0.5, 0.5, 1.75, 0.0):
        source.fetch(DATE, None)
        now[0] += worked_s
    assert slept == [1.5, 1.5, 0.25]
    source.close()


def test_an_endpoint_has_every_day_of_a_range_and_needs_both_ends(source: HttpSource) -> None:
    assert source.dates(DATE, DATE + dt.timedelta(days=2)) == [
        dt.date(2026, 1, 2),
        dt.date(2026, 1, 3),
        dt.date(2026, 1, 4),
    ]
    assert source.dates(DATE, DATE - dt.timedelta(days=1)) == []
    with pytest.raises(PermanentError, match="first and a last date"):
        source.dates(None, DATE)


@pytest.mark.parametrize(
    "address",
    [
        "ftp://host/x",
        "http://",
        "http://host/x?token=1",
        "http://host/#x",
        "http://user:secret@host/",
        "http://[::bad",
    ],
)
def test_an_address_that_is_not_a_base_url_is_refused(address: str) -> None:
    with pytest.raises(PermanentError) as refusal:
        open_source(address)
    assert "secret" not in str(refusal.value)


def test_an_unpublished_game_is_not_requested() -> None:
    with pytest.raises(PermanentError, match="tiles is not published") as refusal:
        open_source("https://user:secret@example.org", game="tiles")
    assert "secret" not in str(refusal.value)


@pytest.mark.slow
def test_a_folder_needs_no_http_library():
    program = (
        "import sys; from nightgrid.archive.sources import open_source; open_source('.');"
        "import nightgrid.flows.night.settings; assert 'httpx' not in sys.modules;"
        "from nightgrid.archive.sources.web import HttpSource; assert 'httpx' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


def test_a_dead_source_is_reported_while_it_is_tried_again(
    slept: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "uniform", lambda _, most: most)
    told: list[Any] = []

    class Listener:
        def begin(self, outage: outages.Outage) -> None:
            told.append(outage)

        def end(self, what: str, *, answers: bool) -> None:
            told.append((what, answers))

    source = HttpSource("http://127.0.0.1:9", Politeness(), sleep=slept.append)
    with outages.notifying(Listener()):
        assert source.fetch(DATE, None).kind == AnswerKind.FAILED
        source.close()
    *tries, end = told
    assert end == ("http://127.0.0.1:9", False)
    assert len(tries) == Politeness().attempts - 1
    assert {outage.what for outage in tries} == {"http://127.0.0.1:9"}
    assert "connection refused" in tries[0].why
