"""Responses of the server over real sockets to requests that reach no route."""

from __future__ import annotations

import socket
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from tests.service.remote.conftest import Served, sample_lake, serve, served

__all__ = ["sample_lake", "serve", "served"]
HEAD = b"POST /v1/solves HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def answer_of(service: Served, request: bytes) -> bytes:
    """Send a request and read the response until the server closes the connection."""
    address = urlsplit(service.url)
    data = b""
    with (
        socket.create_connection((address.hostname, address.port), timeout=30) as client,
        suppress(ConnectionError),
    ):
        client.sendall(request)
        while piece := client.recv(65536):
            data += piece
    return data


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (b"PUT /v1/solves HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", b"405 "),
        (CHUNKED + b"2\r\n{}\r\nno-size\r\n", b"400 "),
        (CHUNKED + b"0\r\n" + b"More: " + b"x" * 1_000_000, b"400 "),
        (HEAD + b"More: " + b"x" * 1_000_000, b"400 "),
        (b"no HTTP\r\n\r\n", b"400 "),
    ],
    ids=["put", "chunk size", "trailers", "head", "no HTTP"],
)
def test_a_request_that_no_route_sees_is_answered(
    served: Served, request_: bytes, answer: bytes
) -> None:
    assert answer_of(served, request_).startswith(b"HTTP/1.1 " + answer)


def test_a_body_that_is_too_large_is_answered_and_not_kept(served: Served) -> None:
    """Given a client that keeps sending, When its body is refused, Then it can read why."""
    large = HEAD + b"Content-Length: 50000000\r\nConnection: close\r\n\r\n"
    assert b"/problems/too-large" in answer_of(served, large)


def test_head_has_the_headers_of_get_and_no_body(served: Served) -> None:
    asked = b" /v1/games HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    got, head = (answer_of(served, method + asked) for method in (b"GET", b"HEAD"))
    names = {line.split(b":")[0] for line in got.partition(b"\r\n\r\n")[0].split(b"\r\n")}
    assert {line.split(b":")[0] for line in head.strip().split(b"\r\n")} == names
    assert head.endswith(b"\r\n\r\n")
