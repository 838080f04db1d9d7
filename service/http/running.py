"""Run the app with uvicorn until a signal: what waits and streams is ended first."""

from __future__ import annotations

import errno
import gc
import os
import resource
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import uvicorn
from fastapi import FastAPI

from nightgrid.service.http.guard.connections import connections
from nightgrid.service.http.monitoring.metrics import CLIENTS_DROPPED
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.state import Service
from nightgrid.solvers.errors import RefusalError

GRACE_S = 5
"""How long open requests may take to end when the service is told to."""
BACKLOG = 1024
OWN_FILES = 256
"""Files that may be open beside connections: of the lake, of Redis, of workers."""
LEAST_CONNECTIONS = 16
GARBAGE = (2_000, 10, 10)
"""When garbage is looked for: after so many new containers, each tenth time among older ones too.
What is kept of an answer is let go without that: with Python's own numbers the same ones were
looked at again and again, a tenth of the CPU of a new board while the service read boards itself.
"""
SWITCH_S = 0.001
"""How long one thread keeps the interpreter while another one wants it."""


class Server(uvicorn.Server):
    """uvicorn's server, which tells the service first that it ends."""

    def __init__(
        self, config: uvicorn.Config, service: Service, on_started: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._service = service
        self._on_started = on_started

    def end(self) -> None:
        """Let it end soon; any thread may call this."""
        self.should_exit = True

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve. Threads that read and write the lake leave the event loop its turn soon."""
        sys.setswitchinterval(SWITCH_S)
        super().run(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        if self.started:
            # What is loaded by now stays: no collection of garbage looks at it again.
            gc.collect()
            gc.freeze()
            gc.set_threshold(*GARBAGE)
            self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End, on every signal alike: a second Ctrl-C must not turn open requests into errors."""
        super().handle_exit(sig, frame)
        self.force_exit = False

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End what waits, then the connections."""
        self._service.stop()
        await super().shutdown(sockets)


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
    most = _affordable(service.settings.workers.http_connections)
    config = uvicorn.Config(
        app,
        http=connections(most, lambda why: CLIENTS_DROPPED.labels(why).inc()),
        # There is nothing here to upgrade to.
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
        lifespan="on",
    )
    return Server(config, service, on_started)


def _affordable(wanted: int) -> int:
    """Tell how many of the wanted connections this process can hold; each is an open file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = wanted + OWN_FILES
    if soft == resource.RLIM_INFINITY or soft >= files:
        return wanted
    with suppress(OSError, ValueError):
        more = files if hard == resource.RLIM_INFINITY else min(files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
        soft = more
    return max(LEAST_CONNECTIONS, min(wanted, soft - OWN_FILES))
