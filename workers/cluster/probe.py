"""Check that the workers of this host make progress: `python -m nightgrid.workers.cluster.probe`.

`... probe live` fails where a restart would help: the supervisor or its keeper does not go round.
`... probe ready` fails while a process is missing, a worker is not heard by the server or refuses
work, or the lake does not answer the keeper. Supervisor and keeper each write a file over and over
again, with the reason why they are not ready. A probe asks neither lake nor server, and imports
nothing that takes time: it may run every few seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import time
from pathlib import Path

SUPERVISOR, KEEPER = "supervisor", "keeper"
FRESH_S = {SUPERVISOR: 30.0, KEEPER: 300.0}
"""How old each may be. One round of a keeper takes as long as the lake takes to list its jobs."""


def write_heartbeat(folder: Path, name: str, not_ready: str = "") -> None:
    """Note that a process goes round, and why it is not ready; on a full disk nothing is noted."""
    path = _path(folder, name)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(not_ready)
        os.utime(path)


def delete_heartbeats(folder: Path) -> None:
    """Delete the heartbeats of an earlier supervisor and its keeper."""
    for name in FRESH_S:
        _path(folder, name).unlink(missing_ok=True)


def read_heartbeat(folder: Path, name: str) -> str | None:
    """Read why a process is not ready; "" if it is, None if it does not go round."""
    path = _path(folder, name)
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime <= FRESH_S[name]:
            return path.read_text()
    return None


def probe(folder: Path, name: str) -> str:
    """Return why the workers of a side folder are not `live` or `ready`; "" if they are."""
    why = read_heartbeat(folder, SUPERVISOR)
    if why is None:
        why = f"the supervisor or its keeper has not gone round for {FRESH_S[SUPERVISOR]:g} s"
    elif name == "live":
        return ""
    return why and f"not {name} in {folder}: {why}"


def notify(state: str) -> None:
    """Tell systemd, if it started this process and wants to know (sd_notify)."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.connect(address.replace("@", "\0", 1) if address[0] == "@" else address)
        told.sendall(state.encode())


def _path(folder: Path, name: str) -> Path:
    return folder / "beats" / name


def main() -> None:
    """Probe, as a program: exit code 0, or 1 with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m nightgrid.workers.cluster.probe")
    parser.add_argument("name", choices=("live", "ready"))
    folder = os.environ.get("NIGHTGRID_VAR_DIR")
    if folder is None:
        # Settings say where it is by default, and take ten times as long to load.
        from nightgrid.workers.settings import program_settings

        folder = str(program_settings().side_dir)
    if why := probe(Path(folder).expanduser(), parser.parse_args().name):
        parser.exit(1, f"{why}\n")


if __name__ == "__main__":
    main()
