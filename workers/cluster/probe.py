"""Check that the workers of this host make progress: `python -m nightgrid.workers.cluster.probe`.

`... probe live` fails where a restart would help: the supervisor does not go round. `... probe
ready` fails while a process is missing, or a worker is not heard by the server or refuses work. The
supervisor writes a file over and over again, with the reason why it is not ready. A probe asks
neither lake nor server, and imports nothing that takes time: it may run every few seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import time
from pathlib import Path

FRESH_S = 30.0
"""How old the file may be."""


def beat_path(folder: Path) -> Path:
    """Name the heartbeat of the supervisor of a side folder."""
    return folder / "beats" / "supervisor"


def write_beat(folder: Path, not_ready: str = "") -> None:
    """Note that the supervisor goes round, and why it is not ready; nothing on a full disk."""
    path = beat_path(folder)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(not_ready)
        os.utime(path)


def probe(folder: Path, name: str) -> str:
    """Return why the workers of a side folder are not `live` or `ready`; "" if they are."""
    why, path = f"the supervisor has not gone round for {FRESH_S:g} s", beat_path(folder)
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime <= FRESH_S:
            why = path.read_text() if name == "ready" else ""
    return why and f"not {name} in {folder}: {why}"


def notify(state: str) -> None:
    """Notify systemd if it started this process and wants to know (sd_notify)."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.connect(address.replace("@", "\0", 1) if address[0] == "@" else address)
        told.sendall(state.encode())


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
