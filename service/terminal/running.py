"""The terminal side of a run: traces, the driver's log, and outages on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nightgrid.archive import outages
from nightgrid.archive.outages import Outage
from nightgrid.service.terminal.console import note, sigterm_as_interrupt
from nightgrid.service.terminal.progress import waited
from nightgrid.solvers.errors import PermanentError, RefusalError

if TYPE_CHECKING:
    from nightgrid.flows.runs import RunSettings
    from nightgrid.workers.settings import Settings

POLL_S = 0.2
SERVER_PATIENCE_S = 20.0
"""How long to wait for a server that another process may be starting."""
STOPPED = "stopped; the same command continues"
AGAIN_EVERY_S = 30.0
"""Interval at which a continuing outage is printed again."""


@contextmanager
def run_shown(settings: RunSettings, what: str) -> Iterator[None]:
    """Trace and log a run while the body drives it, and show outages; SIGTERM acts as Ctrl-C."""
    from nightgrid.workers.logs import logged_to
    from nightgrid.workers.tracing import begin_tracing

    begin_tracing(settings.workers.trace_url, what)
    log = settings.workers.driver_log_path
    with sigterm_as_interrupt(), outages.notifying(OutageNotes()), logged_to(log):
        yield


class OutageNotes:
    """A nightgrid.archive.outages.Listener that prints outages."""

    def __init__(self) -> None:
        self._told_at: dict[str, float] = {}

    def begin(self, outage: Outage) -> None:
        """Print an outage, and a continuing one now and then."""
        now_s = time.monotonic()
        if now_s - self._told_at.get(outage.what, float("-inf")) >= AGAIN_EVERY_S:
            self._told_at[outage.what] = now_s
            note(sentence(outage, now_s))

    def end(self, what: str, *, answers: bool) -> None:
        """Forget an outage; print that its source answers again."""
        if self._told_at.pop(what, None) is not None and answers:
            note(f"{what} answers again")


def sentence(outage: Outage, now_s: float) -> str:
    """Describe what does not answer, why, and how long it is retried."""
    tried = "retrying"
    if outage.until_s is not None:
        left_s = max(0.0, outage.until_s - now_s)
        tried = f"retrying for at most another {left_s:.0f} s" if left_s else "retrying once more"
    return f"cannot reach {outage.what}: {outage.why}; {tried}"


def wait_for_server(settings: Settings, most_s: float | None = None) -> None:
    """Wait until the server answers, which another process may be starting.

    Raises RefusalError after SERVER_PATIENCE_S, or after `most_s` if that is less, and
    PermanentError for a server that refuses us.
    """
    from nightgrid.workers.cluster import server

    patience_s = SERVER_PATIENCE_S if most_s is None else min(most_s, SERVER_PATIENCE_S)
    ends_at, where = time.monotonic() + patience_s, server.address(settings)
    with waited(f"waiting for a server at {where} to start"):
        while not server.is_up(settings):
            if (refused := server.refusal(settings)) is not None:
                raise PermanentError(refused)
            if time.monotonic() >= ends_at:
                if not server.is_embedded(settings):
                    raise RefusalError(
                        f"{server.title(settings)} does not answer; NIGHTGRID_REDIS_URL names it"
                    )
                raise RefusalError(
                    f"no server answers at {where}: start `nightgrid worker` on this machine and "
                    "lake, or name one server for all machines with NIGHTGRID_REDIS_URL"
                )
            time.sleep(POLL_S)
