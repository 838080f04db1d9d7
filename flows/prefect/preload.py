"""Load Prefect and start its temporary server beside other work, and only once there is some."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

log = logging.getLogger("nightgrid.prefect")


class Preload:
    """Loads Prefect in a thread: begun when there is work, waited for before a flow run begins.

    Loading takes about 2 s, a temporary server 5 s or more. With PREFECT_API_URL, or a profile that
    names a server, Prefect is loaded and no server is started.
    """

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._server: Any = None
        self._unwanted = False
        # An interrupted `join` takes a thread for ended that is not (Python before 3.13).
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End a server that no flow run has used; one that served ends with the process."""
        self._unwanted = True
        thread, server = self._thread, self._server
        if thread is None or self._ended.is_set():
            return
        if server is not None:
            server.stop()
        self._ended.wait()
        thread.join()

    def begin(self) -> None:
        """Begin, unless it is begun."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="prefect", daemon=True)
            self._thread.start()

    def ready(self) -> None:
        """Wait until a flow run can begin."""
        self.begin()
        self._ended.wait()

    def _run(self) -> None:
        try:
            self._start()
        except Exception as error:  # noqa: BLE001 - the flow run meets the same, and says it
            log.debug("Prefect did not come up: %s", error)
        finally:
            self._ended.set()

    def _start(self) -> None:
        from prefect.settings import get_current_settings

        import nightgrid.flows.prefect.tasks  # noqa: F401

        settings = get_current_settings()
        if settings.api.url or not settings.server.ephemeral.enabled or self._unwanted:
            return
        # The server's modules take as long to load as all others: only where it is started here.
        from prefect.server.api.server import SubprocessASGIServer

        self._server = SubprocessASGIServer()
        with _sigint_blocked():
            self._server.start()


@contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Keep Ctrl-C of a terminal from processes that this thread starts.

    A terminal sends it to all processes of a command. A server that ended by it could not be told
    how the flow run ended, and says "Aborted!" while it comes up; it is ended with the flow run.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
