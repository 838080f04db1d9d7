"""Heartbeats of a supervisor, its keeper and a schedule: in files for probes, and to systemd.

`live`: the supervisor goes round, and so does its keeper. `ready`: besides, each of its processes
runs, each worker was heard by the server a moment ago and refuses nothing, and the keeper has
looked at the lake. `nights-live` and `nights-ready` are those of the process that keeps the
schedule of nights (nightgrid.flows.prefect.deploy). A file holds when that was last so, in seconds
of the system's monotonic clock, which all processes and containers of a host share and cannot set.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Sequence
from pathlib import Path

LIVE, READY = "live", "ready"
KEEPER_LIVE, KEEPER_READY = "keeper-live", "keeper-ready"
NIGHTS_LIVE, NIGHTS_READY = "nights-live", "nights-ready"
NOT_READY = "not-ready"
"""The file that says why a supervisor is not ready, while it goes round and is not."""
OF_SUPERVISOR = (LIVE, READY, KEEPER_LIVE, KEEPER_READY, NOT_READY)
FOLDER = "beats"
"""Where heartbeats lie in the side folder."""
EVERY_S = 1.0
FRESH_S = {
    LIVE: 30.0,
    READY: 30.0,
    KEEPER_LIVE: 300.0,
    KEEPER_READY: 60.0,
    NIGHTS_LIVE: 30.0,
    NIGHTS_READY: 60.0,
}
"""How old each may be. One round of a keeper takes as long as the lake takes to list its jobs."""
SOCKET = "NOTIFY_SOCKET"


def write_heartbeat(folder: Path, name: str) -> None:
    """Note that something is so now; on a full disk nothing is noted, and the work goes on."""
    # All digits: one that is rounded up lies in the future, which a look takes for a restart.
    _write(folder, name, repr(time.monotonic()))


def _write(folder: Path, name: str, line: str) -> None:
    path = folder / FOLDER / name
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        staged = path.with_suffix(".tmp")
        staged.write_text(f"{line}\n")
        staged.replace(path)


def read_cause(folder: Path) -> str:
    """Read why the supervisor is not ready; "" where it is, or does not go round to say so."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return (folder / FOLDER / NOT_READY).read_text().strip() if is_fresh(folder, LIVE) else ""
    return ""


def delete_heartbeats(folder: Path, *names: str) -> None:
    """Delete heartbeats: what they say is not so now."""
    for name in names:
        with contextlib.suppress(OSError):
            (folder / FOLDER / name).unlink()


def age_s(folder: Path, name: str) -> float | None:
    """Tell how long ago something was so last; None where it never was, or before a restart."""
    try:
        then = float((folder / FOLDER / name).read_text())
    except (OSError, ValueError):
        return None
    age = time.monotonic() - then
    return age if age >= 0 else None


def is_fresh(folder: Path, name: str) -> bool:
    """Tell whether something was so a moment ago."""
    age = age_s(folder, name)
    return age is not None and age <= FRESH_S[name]


class Heartbeats:
    """Says about once a second how the processes of one supervisor are."""

    def __init__(self, folder: Path, *, keeper: bool) -> None:
        self._folder = folder
        self._keeper = keeper
        self._next_at = 0.0
        self._begun_at = time.monotonic()
        self._was_ready = False

    def begin(self) -> None:
        """Delete the heartbeats of an earlier supervisor."""
        delete_heartbeats(self._folder, *OF_SUPERVISOR)
        self._begun_at = time.monotonic()

    def update(self, missing: Sequence[str]) -> None:
        """Say how it is; `missing` has a clause for each process that does not do its work."""
        now = time.monotonic()
        if now < self._next_at:
            return
        self._next_at = now + EVERY_S
        if self._keeper_is(KEEPER_LIVE):
            write_heartbeat(self._folder, LIVE)
            notify("WATCHDOG=1")
        if self._keeper and not is_fresh(self._folder, KEEPER_READY):
            missing = [*missing, "the lake does not answer the keeper"]
        if missing:
            self._write_cause(*missing)
        else:
            delete_heartbeats(self._folder, NOT_READY)
            write_heartbeat(self._folder, READY)
            if not self._was_ready:
                self._was_ready = True
                notify("READY=1")

    def end(self) -> None:
        """Report that the processes are stopping: they take no more work."""
        notify("STOPPING=1")
        delete_heartbeats(self._folder, READY, NOT_READY)

    def _write_cause(self, first: str, *others: str) -> None:
        """Say the first thing that is missing, which the others often follow from."""
        more = f", and {len(others)} more" if others else ""
        _write(self._folder, NOT_READY, f"{first}{more}")

    def _keeper_is(self, name: str) -> bool:
        """Look at the keeper, which may need as long for its first round as for any other."""
        starting = time.monotonic() - self._begun_at < FRESH_S[name]
        return not self._keeper or starting or is_fresh(self._folder, name)


def notify(state: str) -> None:
    """Tell systemd, where it started this process and wants to know (sd_notify)."""
    address = os.environ.get(SOCKET, "")
    if not address.startswith(("/", "@")):
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.connect(address.replace("@", "\0", 1) if address[0] == "@" else address)
        told.sendall(state.encode())
