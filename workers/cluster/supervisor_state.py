"""What a supervisor says of itself in its side folder: that it works, and its processes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nightgrid.solvers.errors import TransientError
from nightgrid.workers.cluster.child_processes import Child
from nightgrid.workers.processes import locked
from nightgrid.workers.settings import Settings

LOCK = "supervisor"


def state_path(settings: Settings) -> Path:
    """Name the file that says which processes run."""
    return settings.side_dir / "supervisor.json"


def write_state(settings: Settings, children: Iterable[Child]) -> None:
    """Write which processes run. Raises OSError."""
    state = {
        "supervisor_pid": os.getpid(),
        "processes": {
            child.role: {
                "pid": child.process.pid,
                "worker": child.worker,
                "restarts": child.restarts,
            }
            for child in children
            if child.process is not None
        },
    }
    path = state_path(settings)
    staged = path.with_suffix(".tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    staged.write_text(json.dumps(state, indent=2) + "\n")
    staged.replace(path)


def supervisor_state(settings: Settings) -> Mapping[str, Any] | None:
    """Read which processes a supervisor runs for this lake, or None when none does."""
    path = state_path(settings)
    try:
        state: Mapping[str, Any] = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return None
    return state


def has_begun_workers(settings: Settings) -> bool:
    """Tell whether a supervisor that lives has started workers, ready or not.

    Takes no lock: it may be asked every second.
    """
    state = supervisor_state(settings) or {}
    try:
        os.kill(int(state["supervisor_pid"]), 0)
        return any(child["worker"] for child in state["processes"].values())
    except (KeyError, TypeError, ValueError, AttributeError, ProcessLookupError):
        return False
    except PermissionError:
        # It lives, and is another user's.
        return True


def is_supervised(settings: Settings) -> bool:
    """Tell whether a supervisor works in our side folder."""
    try:
        with locked(settings.side_dir, LOCK, ""):
            return False
    except TransientError:
        return True
