"""Heartbeats of a supervisor and its keeper: files for probes, and systemd.

`live`: the supervisor goes round, and so does its keeper. `ready`: in addition each of its
processes runs, each worker was heard by the server a moment ago and refuses nothing, and the keeper
has looked at the lake. A file is touched while that is so.
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
NOT_READY = "not-ready"
"""The file that says why a supervisor is not ready."""
FOLDER = "beats"
"""Where heartbeats are in the side folder."""
EVERY_S = 1.0
FRESH_S = {
    LIVE: 30.0,
    READY: 30.0,
    NOT_READY: 30.0,
    KEEPER_LIVE: 300.0,
    KEEPER_READY: 60.0,
}
"""How old each may be. One round of a keeper takes as long as the lake takes to list its jobs."""


def write_heartbeat(folder: Path, name: str, text: str = "") -> None:
    """Note that something is so now; on a full disk nothing is noted, and the work goes on."""
    path = folder / FOLDER / name
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path)


def delete_heartbeats(folder: Path, *names: str) -> None:
    """Delete heartbeats: what they say is not so now."""
    for name in names:
        with contextlib.suppress(OSError):
            (folder / FOLDER / name).unlink()


def age_s(folder: Path, name: str) -> float | None:
    """Return how long ago something was so last; None if it never was."""
    try:
        return time.time() - (folder / FOLDER / name).stat().st_mtime
    except OSError:
        return None


def is_fresh(folder: Path, name: str) -> bool:
    """Return whether something was so a moment ago."""
    age = age_s(folder, name)
    return age is not None and age <= FRESH_S[name]


def read_cause(folder: Path) -> str:
    """Read why the supervisor is not ready; "" if it is, or is not there to say so."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return (folder / FOLDER / NOT_READY).read_text() if is_fresh(folder, NOT_READY) else ""
    return ""


class Heartbeats:
    """Writes about once a second how the processes of one supervisor are."""

    def __init__(self, folder: Path, *, keeper: bool) -> None:
        delete_heartbeats(folder, LIVE, READY, NOT_READY, KEEPER_LIVE, KEEPER_READY)
        self._folder = folder
        self._keeper = keeper
        self._begun_at = time.monotonic()
        self._was_ready = False

    def update(self, missing: Sequence[str]) -> None:
        """Write how it is; `missing` has a clause for each process that does not do its work."""
        # A keeper may need as long for its first round as for any other.
        starting = time.monotonic() - self._begun_at < FRESH_S[KEEPER_LIVE]
        if not self._keeper or starting or is_fresh(self._folder, KEEPER_LIVE):
            write_heartbeat(self._folder, LIVE)
            notify("WATCHDOG=1")
        if self._keeper and not is_fresh(self._folder, KEEPER_READY):
            missing = [*missing, "the lake does not answer the keeper"]
        if missing:
            # The others often follow from the first.
            more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
            write_heartbeat(self._folder, NOT_READY, f"{missing[0]}{more}")
            return
        delete_heartbeats(self._folder, NOT_READY)
        write_heartbeat(self._folder, READY)
        if not self._was_ready:
            self._was_ready = True
            notify("READY=1")

    def end(self) -> None:
        """Report that the processes are stopping: they take no more work."""
        notify("STOPPING=1")
        delete_heartbeats(self._folder, READY, NOT_READY)


def notify(state: str) -> None:
    """Tell systemd, if it started this process and wants to know (sd_notify)."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.connect(address.replace("@", "\0", 1) if address[0] == "@" else address)
        told.sendall(state.encode())
