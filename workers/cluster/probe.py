"""Check that the workers of this host make progress: `python -m nightgrid.workers.cluster.probe`.

`... probe live` fails if a restart would help: the supervisor's loop is stuck. `... probe ready`
fails while a process is missing, or a worker sends no heartbeat or refuses work. The supervisor
rewrites a file about once a second, with the reason why it is not ready. A probe connects to
neither lake nor server, and imports nothing slow: it may run every few seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import time
from pathlib import Path

FRESH_S = 30.0
"""Maximum age of the file."""


def beat_path(folder: Path) -> Path:
    """Return the heartbeat file of the supervisor of a side folder."""
    return folder / "beats" / "supervisor"


def write_beat(folder: Path, not_ready: str = "") -> None:
    """Record that the supervisor's loop runs, and why it is not ready; ignore a full disk."""
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
    """Notify systemd if it started this process and asked for it (sd_notify)."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.connect(address.replace("@", "\0", 1) if address[0] == "@" else address)
        told.sendall(state.encode())


def main() -> None:
    """Run the probe as a program: exit code 0, or 1 with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m nightgrid.workers.cluster.probe")
    parser.add_argument("name", choices=("live", "ready"))
    folder = os.environ.get("NIGHTGRID_VAR_DIR")
    if folder is None:
        # Loading the settings takes ten times as long, so do it only for the default folder.
        from nightgrid.workers.settings import program_settings

        folder = str(program_settings().side_dir)
    if why := probe(Path(folder).expanduser(), parser.parse_args().name):
        parser.exit(1, f"{why}\n")


if __name__ == "__main__":
    main()
