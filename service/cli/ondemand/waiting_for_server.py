"""Wait for the server of a lake: `nightgrid worker &` in the line before has it up in a moment."""

from __future__ import annotations

import time

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.terminal.console import note
from nightgrid.solvers.errors import PermanentError, RefusalError
from nightgrid.workers.broker.lake_keys import current_id
from nightgrid.workers.cluster import server
from nightgrid.workers.settings import Settings

POLL_S = 0.5
SERVER_PATIENCE_S = 20.0
"""A server that is being started is waited for this long."""
NOTED_AFTER_S = 2.0
"""A longer wait is reported."""


def wait_for_server(lake: Lake, settings: Settings, most_s: float | None = None) -> None:
    """Wait until the server answers, and say where a new lake begins.

    Raises RefusalError after SERVER_PATIENCE_S, or after `most_s` where that is less,
    PermanentError for one that refuses us.
    """
    patience_s = SERVER_PATIENCE_S if most_s is None else min(most_s, SERVER_PATIENCE_S)
    began, is_said = time.monotonic(), False
    while not server.is_up(settings):
        refused = server.refusal(settings)
        if refused is not None:
            raise PermanentError(refused)
        waited = time.monotonic() - began
        if waited >= patience_s:
            raise RefusalError(
                f"no server answers at {server.address(settings)}: start `nightgrid worker` on "
                "this lake, or set NIGHTGRID_REDIS_URL"
            )
        if waited > NOTED_AFTER_S and not is_said:
            is_said = True
            note(f"waiting for a server at {server.address(settings)} to start")
        time.sleep(POLL_S)
    if current_id(settings) is None:
        note(
            f"there was no lake at {lake.url}, and a new one begins; if another is expected, "
            "it was deleted or is not mounted here"
        )
