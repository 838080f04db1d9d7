"""Clients that send slowly, nothing, or without end, over real sockets: others are answered."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from nightgrid.service.http.guard import connections as module
from nightgrid.service.http.guard.connections import Connection, connections

MOST = 8
QUICK_S = 1.0
PATIENCE_S = 10.0
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


@dataclass
class Served:
    """A server of an application that echoes, hangs and sends a lot."""

    port: int
    notes: list[str] = field(default_factory=list)
    alive: set[Connection] = field(default_factory=set)
    """Its connections, as the server has them."""
    sent: list[str] = field(default_factory=list)
    """What became of answers that are never taken."""

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)

    def ask(self, request: bytes) -> tuple[int, bytes]:
        """Send a request on a connection of its own; return status and body of the answer."""
        with self.connect() as client:
            client.sendall(request)
            return answer_of(client)


def answer_of(client: socket.socket) -> tuple[int, bytes]:
    """Read the first answer that comes, or (0, b"") from a connection that is closed without."""
    data = b""
    with suppress(ConnectionError):
        while b"\r\n\r\n" not in data:
            piece = client.recv(65536)
            if not piece:
                return 0, b""
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode().lower().splitlines()
        (size,) = (int(line.split(": ")[1]) for line in lines if line.startswith("content-length"))
        while len(body) < size:
            body += client.recv(65536)
        return int(lines[0].split()[1]), body
    return 0, b""


def told(answer: tuple[int, bytes]) -> tuple[int, str]:
    """Read a problem: its status and its kind."""
    return answer[0], json.loads(answer[1])["type"].rpartition("/")[2]


def until(holds: Callable[[], Any]) -> None:
    ends_at = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < ends_at
        time.sleep(0.01)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A server of at most `MOST` connections, whose clients have time on any machine."""
    for name in ("HEAD_SECONDS", "REST_SECONDS", "WRITE_SECONDS", "LINGER_SECONDS"):
        monkeypatch.setattr(module, name, PATIENCE_S)
    here = Served(port=0)

    async def echo(request: Request) -> Response:
        try:
            return PlainTextResponse(await request.body() or b"hello")
        except ClientDisconnect:
            return Response(status_code=400)

    async def refuse(_: Request) -> Response:
        return PlainTextResponse("no", 401)

    async def hang(_: Request) -> Response:
        async def pieces() -> Any:
            while True:
                yield b"."
                await asyncio.sleep(0.05)

        return StreamingResponse(pieces(), headers={"Content-Length": str(2**40)})

    async def pour(_: Request) -> Response:
        async def pieces() -> Any:
            try:
                while True:
                    yield b"." * 65536
                    await asyncio.sleep(0)
            finally:
                here.sent.append("ended")

        return StreamingResponse(pieces(), headers={"Content-Length": str(2**40)})

    routes = [
        Route("/", echo, methods=["GET", "POST"]),
        Route("/refuse", refuse, methods=["POST"]),
        Route("/hang", hang),
        Route("/pour", pour),
    ]
    config = uvicorn.Config(
        Starlette(routes=routes),
        http=connections(MOST, here.notes.append),
        ws="none",
        log_config=None,
        timeout_graceful_shutdown=1,
        timeout_keep_alive=int(PATIENCE_S),
    )
    server = uvicorn.Server(config)
    here.alive = server.server_state.connections  # type: ignore[assignment]
    bound = socket.create_server(("127.0.0.1", 0), backlog=128)
    here.port = bound.getsockname()[1]
    thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
    thread.start()
    until(lambda: server.started)
    yield here
    server.should_exit = True
    thread.join(PATIENCE_S)


@pytest.fixture
def hurried(served: Served, monkeypatch: pytest.MonkeyPatch) -> Served:
    """The server, whose clients have little time for what they send and take."""
    for name in ("HEAD_SECONDS", "REST_SECONDS", "WRITE_SECONDS"):
        monkeypatch.setattr(module, name, QUICK_S)
    return served


def test_requests_are_answered_as_before(served: Served) -> None:
    with served.connect() as client:
        for _ in range(3):
            client.sendall(GET)
            assert answer_of(client) == (200, b"hello")
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nab")
        time.sleep(0.15)
        client.sendall(b"cdef")
        assert answer_of(client) == (200, b"abcdef")
        assert served.notes == []


def test_a_client_that_sends_nothing_is_not_waited_for(hurried: Served) -> None:
    with hurried.connect() as silent:
        assert silent.recv(1) == b""
    assert hurried.notes == []


def test_a_head_that_comes_byte_by_byte_is_refused(hurried: Served) -> None:
    with hurried.connect() as slow:
        with suppress(ConnectionError):
            for byte in GET:
                slow.send(bytes([byte]))
                time.sleep(QUICK_S / 4)
                if hurried.notes:
                    break
        assert told(answer_of(slow)) == (408, "head-too-slow")
    assert hurried.notes == ["head-too-slow"]


def test_blank_lines_before_a_request_are_no_request(hurried: Served) -> None:
    with hurried.connect() as client:
        client.sendall(GET)
        answer_of(client)
        begun = time.monotonic()
        with suppress(ConnectionError):
            while time.monotonic() - begun < PATIENCE_S:
                client.sendall(b"\r\n")
                time.sleep(QUICK_S / 4)
        assert time.monotonic() - begun < 5


def test_many_silent_clients_keep_no_other_one_out(served: Served) -> None:
    with ExitStack() as held:
        silent = [held.enter_context(served.connect()) for _ in range(5 * MOST)]
        assert [served.ask(GET)[0] for _ in range(5)] == [200] * 5
        assert len(served.alive) <= MOST
        silent[-1].sendall(GET)
        assert answer_of(silent[-1])[0] == 200, "the oldest are ended, not the newest"
        assert set(served.notes) == {"too-many-connections"}


def test_where_all_are_answered_a_new_client_is_refused(served: Served) -> None:
    with ExitStack() as held:
        streams = [held.enter_context(served.connect()) for _ in range(MOST)]
        for each in streams:
            each.sendall(GET.replace(b"/ ", b"/hang ", 1))
            assert each.recv(1)
        assert told(served.ask(GET)) == (503, "too-many-connections")
        streams.pop().close()
        until(lambda: served.ask(GET)[0] == 200)


@pytest.mark.parametrize(
    "endless",
    [b"GET /?", b"GET / HTTP/1.1\r\nX: ", b"GET / HTTP/1.1\r\nX", b"GET / HTTP/1.1\r\n"],
    ids=["address", "value", "name", "many"],
)
def test_an_endless_head_is_refused(served: Served, endless: bytes) -> None:
    more = b"A: b\r\n" * 1000 if endless.endswith(b"\n") else b"a" * 6000
    with served.connect() as client:
        client.sendall(endless)
        with suppress(ConnectionError):
            for _ in range(10):
                client.sendall(more)
                time.sleep(0.01)
        assert told(answer_of(client)) == (431, "head-too-large")


def test_a_large_head_that_comes_at_once_is_refused(served: Served) -> None:
    answer = served.ask(b"GET /?" + b"a" * (module.HEAD_BYTES + 1) + b" HTTP/1.1\r\n\r\n")
    assert told(answer) == (431, "head-too-large")
    assert served.ask(b"GET /?" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")[0] == 200


@pytest.mark.parametrize(
    "endless", [b"0\r\nX: ", b"1;", b"0\r\n"], ids=["trailer", "chunk", "many"]
)
def test_what_follows_a_body_without_end_is_not_kept(served: Served, endless: bytes) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    more = b"A: b\r\n" * 1000 if endless == b"0\r\n" else b"a" * 6000
    with served.connect() as client:
        client.sendall(head + endless)
        with suppress(ConnectionError):
            for _ in range(10):
                client.sendall(more)
                time.sleep(0.01)
        until(lambda: served.notes == ["head-too-large"])
        (connection,) = served.alive or [None]
        assert connection is None or len(connection.headers) < 100 * 1000


def test_a_body_that_no_route_reads_is_not_waited_for(hurried: Served) -> None:
    with hurried.connect() as client:
        client.sendall(b"POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\na")
        assert answer_of(client)[0] == 401
        with suppress(ConnectionError):
            for _ in range(100):
                client.sendall(b"a")
                time.sleep(QUICK_S / 4)
        assert hurried.notes == ["body-too-slow"]


def test_requests_that_are_sent_ahead_are_few(served: Served) -> None:
    with served.connect() as client:
        client.sendall(GET.replace(b"/ ", b"/hang ", 1))
        assert client.recv(1)
        (connection,) = served.alive
        client.sendall(GET * (3 * module.PIPELINED))
        until(lambda: served.notes == ["too-many-connections"])
        assert len(connection.pipeline) == module.PIPELINED
    with served.connect() as client:
        client.sendall(GET * module.PIPELINED)
        data = b""
        while data.count(b"hello") < module.PIPELINED:
            data += client.recv(65536)


def test_an_answer_that_is_not_taken_is_given_up(hurried: Served) -> None:
    with hurried.connect() as client:
        client.sendall(GET.replace(b"/ ", b"/pour ", 1))
        until(lambda: hurried.sent == ["ended"])
        assert hurried.notes == ["answer-not-taken"]


def test_what_is_no_http_is_refused(served: Served) -> None:
    assert told(served.ask(b"\x16\x03\x01\x02\x00\x01\r\n\r\n")) == (400, "bad-request")
    with served.connect() as client:
        client.sendall(GET + b"\x00\x01nonsense\r\n\r\n")
        assert answer_of(client)[0] == 200, "what came before it is answered"
