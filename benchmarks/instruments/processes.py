"""Wait for processes, and list their children."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WAIT_S = 300.0
"""Long enough for processes that start beside much other work."""


def wait_for(look: Callable[[], Any], what: str, seconds: float = WAIT_S) -> Any:
    """Wait until a look finds something, and return it."""
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds:g} s for {what} in vain")
        time.sleep(0.02)


def children_of(pid: int) -> list[int]:
    """List the children of a process that are no zombies (Linux)."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:2]
                if int(parent) == pid and state != "Z":
                    found.append(int(entry.name))
    return sorted(found)
