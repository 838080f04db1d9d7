"""Run the app with uvicorn until a signal: what waits and streams is ended first."""

from __future__ import annotations

import errno
import gc
import os
import resource
import socket
import sys
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.state import Service
from nightgrid.solvers.errors import RefusalError

GRACE_S = 5
"""How long open requests may take to end when the service is told to."""
BACKLOG = 1024
OWN_FILES = 256
"""Files that may be open beside connections: of the lake, of Redis, of workers."""
HEAD_BYTES = 32 * 1024
"""Largest head of a request that comes in pieces, and what may follow a body."""
SWITCH_S = 0.001
"""How long one thread keeps the interpreter while another one wants it."""


class Connection(HttpToolsProtocol):
    """uvicorn's connection with bounded heads: httptools keeps heads of any size."""

    _unread = 0
    """Bytes that have come since the last that were part of a body or ended a head."""

    def data_received(self, data: bytes) -> None:
        """Take what has come, unless too much of it is of no use."""
        self._unread += len(data)
        super().data_received(data)
        if self._unread > HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response(f"The head of a request is larger than {HEAD_BYTES:,} bytes.")

    def on_headers_complete(self) -> None:
        """End a head."""
        self._unread = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._unread = 0
        super().on_body(body)


class Server(uvicorn.Server):
    """uvicorn's server, which says when it has started."""

    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started

    def end(self) -> None:
        """Let it end soon; any thread may call this."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        if self.started:
            # Threads that read and write the lake leave the event loop its turn soon.
            sys.setswitchinterval(SWITCH_S)
            # What is loaded by now stays: no collection of garbage looks at it again.
            gc.collect()
            gc.freeze()
            self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End, on every signal alike: a second Ctrl-C must not turn open requests into errors."""
        super().handle_exit(sig, frame)
        self.force_exit = False


def listen(settings: ServiceSettings) -> socket.socket:
    """Bind the address of the settings.

    Raises PermanentError for an address that is none of this machine, RefusalError for a port that
    another process has or that this one may not have.
    """
    family, address = settings.address
    try:
        return socket.create_server(address, family=family, backlog=BACKLOG)
    except OSError as error:
        why = os.strerror(error.errno).lower() if error.errno else str(error)
        if error.errno == errno.EADDRINUSE:
            why += "; choose another --port, or 0 for any that is free"
        raise RefusalError(f"cannot listen on {settings.host}:{settings.port}: {why}") from error


def url_of(bound: socket.socket) -> str:
    """Write where a bound socket is reached."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def make_server(app: FastAPI, on_started: Callable[[], None]) -> Server:
    """Make the server of an app: it serves until SIGINT or SIGTERM, which it raises again."""
    service: Service = app.state.service
    _allow_files(service.settings.workers.http_connections + OWN_FILES)
    config = uvicorn.Config(
        app,
        http=Connection,
        limit_concurrency=service.settings.workers.http_connections,
        # There is nothing here to upgrade to.
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
        lifespan="on",
    )
    server = Server(config, on_started)
    service.is_stopping = lambda: server.should_exit
    return server


def _allow_files(wanted: int) -> None:
    """Raise the limit of open files, where it is lower and may be: each connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY not in (soft, hard) and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
