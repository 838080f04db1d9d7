"""A client that sends too much reads why, over real sockets: no reset comes before the answer."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.guard import bodies
from nightgrid.service.http.guard.access import Access
from nightgrid.service.http.guard.connections import connections
from nightgrid.service.http.guard.layer import Guard
from nightgrid.service.http.guard.limits import Limits

PATIENCE_S = 20.0
PIECE = b" " * 65536


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """A guarded application behind uvicorn, on a port."""
    lake = Lake.open(str(tmp_path))
    guard = Guard(
        Starlette(),
        access=Access(lambda: lake, required=False),
        hosts=None,
        limits=Limits(body_bytes=100_000),
    )
    config = uvicorn.Config(
        guard,
        http=connections(8, lambda _: None),
        ws="none",
        log_config=None,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    bound = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield bound.getsockname()[1]
    server.should_exit = True
    thread.join(PATIENCE_S)


def head(length: str) -> bytes:
    return (
        "POST /v1/solves HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"{length}\r\n\r\n"
    ).encode()


def endlessly(client: socket.socket) -> None:
    while True:
        client.sendall(PIECE)


def read_all(client: socket.socket) -> bytes:
    """Read until the server closes. Raises ConnectionResetError where it resets."""
    data = b""
    while piece := client.recv(65536):
        data += piece
    return data


def told(data: bytes) -> tuple[int, str]:
    first, _, body = data.partition(b"\r\n\r\n")
    return int(first.split()[1]), json.loads(body)["type"]


@pytest.mark.parametrize("announced", [True, False], ids=["of a length", "in chunks"])
def test_a_body_that_is_too_large_is_answered_and_drained(port: int, announced: bool) -> None:
    """Given a client that sends 6 MiB before it reads, Then it reads 413, and then the end."""
    many = 96
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as client:
        length = f"Content-Length: {many * len(PIECE)}"
        client.sendall(head(length if announced else "Transfer-Encoding: chunked"))
        for _ in range(many):
            client.sendall(PIECE if announced else b"10000\r\n" + PIECE + b"\r\n")
        client.sendall(b"" if announced else b"0\r\n\r\n")
        data = read_all(client)
    assert told(data) == (413, "/problems/too-large")


def test_the_answer_does_not_wait_for_the_rest(port: int) -> None:
    """Given a client that sends half of a body and reads, Then the answer is there."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as client:
        client.sendall(head("Content-Length: 1000000") + PIECE)
        first = client.recv(65536)
    assert first.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in first.lower()


def test_what_is_drained_has_bounds(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a client that never stops to send, Then the connection ends."""
    monkeypatch.setattr(bodies, "DRAINED_BYTES", 10 * len(PIECE))
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as client:
        client.sendall(head("Content-Length: 1000000000000"))
        with pytest.raises(ConnectionError):
            endlessly(client)


def test_a_client_that_sends_nothing_more_is_not_waited_for(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a client that announces a body and sends none, Then the connection ends."""
    monkeypatch.setattr(bodies, "DRAIN_SECONDS", 0.05)
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as client:
        client.sendall(head("Content-Length: 1000000"))
        assert told(read_all(client))[1] == "/problems/too-large"


def test_a_body_that_comes_too_slowly_is_told_so(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a client that sends a byte now and then, Then it reads 408, and no reset."""
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.2)
    monkeypatch.setattr(bodies, "DRAIN_SECONDS", PATIENCE_S)
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as client:
        client.sendall(head("Content-Length: 1000"))
        for _ in range(12):
            client.sendall(b" ")
            time.sleep(0.04)
        data = client.recv(65536)
        # What is drained ends with the client, not with a time that may pass while it sends.
        client.shutdown(socket.SHUT_WR)
        data += read_all(client)
    assert told(data) == (408, "/problems/body-too-slow")
