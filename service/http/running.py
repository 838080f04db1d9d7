"""Run the app with uvicorn until a signal, ending waiting and streaming requests first."""

from __future__ import annotations

import atexit
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
"""Time for open requests to end when the service stops."""
BACKLOG = 1024
OWN_FILES = 256
"""Open files besides connections: of the lake, of Redis, of workers."""
HEAD_BYTES = 32 * 1024
"""Largest head of a request in pieces, and of the data after a body."""
SWITCH_S = 0.001
"""Switch interval: how long one thread keeps the GIL while another one wants it."""


class Connection(HttpToolsProtocol):
    """uvicorn's connection with bounded heads: httptools accepts heads of any size."""

    _unread = 0
    """Bytes received since the last ones that were part of a body or ended a head."""

    def data_received(self, data: bytes) -> None:
        """Receive data, unless too much of it is useless."""
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
    """uvicorn's server with a callback when it has started."""

    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started

    def end(self) -> None:
        """Stop soon; any thread may call this."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call the callback."""
        await super().startup(sockets)
        if self.started:
            # Make threads that access the lake yield to the event loop soon.
            sys.setswitchinterval(SWITCH_S)
            # Exempt everything loaded so far from garbage collection.
            gc.collect()
            gc.freeze()
            # Libraries report what is not freed in the end.
            atexit.register(gc.unfreeze)
            self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop gracefully on every signal: a second Ctrl-C must not break open requests."""
        super().handle_exit(sig, frame)
        self.force_exit = False


def listen(settings: ServiceSettings) -> socket.socket:
    """Bind the address of the settings.

    Raises PermanentError for an address that this machine does not have, RefusalError for a port in
    use or not permitted.
    """
    family, address = settings.address
    try:
        return socket.create_server(address, family=family, backlog=BACKLOG)
    except OSError as error:
        why = os.strerror(error.errno).lower() if error.errno else str(error)
        if error.errno == errno.EADDRINUSE:
            why += "; choose another --port, or 0 for any free one"
        raise RefusalError(f"cannot listen on {settings.host}:{settings.port}: {why}") from error


def url_of(bound: socket.socket) -> str:
    """Return the URL of a bound socket."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def make_server(app: FastAPI, on_started: Callable[[], None]) -> Server:
    """Create the server of an app: it serves until SIGINT or SIGTERM, which it raises again."""
    service: Service = app.state.service
    _allow_files(service.settings.workers.http_connections + OWN_FILES)
    config = uvicorn.Config(
        app,
        http=Connection,
        limit_concurrency=service.settings.workers.http_connections,
        # There is nothing to upgrade to.
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
    """Raise the limit of open files, if it is lower and may be: each connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY not in (soft, hard) and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
