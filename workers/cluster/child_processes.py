"""The processes that a supervisor keeps: their roles, command lines, environment and ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nightgrid.workers.broker.queues import BATCH, INTERACTIVE, OF_BATCH_WORKERS
from nightgrid.workers.cluster import server
from nightgrid.workers.exporter import metrics_environment
from nightgrid.workers.settings import Settings

SERVER = "server"
KEEPER = "keeper"
ROLES: tuple[str, ...] = (SERVER, BATCH, INTERACTIVE, KEEPER)
WORKERS = frozenset({BATCH, INTERACTIVE})


@dataclass(slots=True, kw_only=True)
class Child:
    """One supervised process."""

    role: str
    process: subprocess.Popen[bytes] | None = None
    worker: str = ""
    started_at: float = 0.0
    young_deaths: int = 0
    restart_at: float = 0.0
    restarts: int = 0


def command_of(role: str, settings: Settings) -> list[str]:
    """Write the command line of the process for a role."""
    if role == SERVER:
        return server.server_command(settings)
    if role == KEEPER:
        return [sys.executable, "-m", "nightgrid.workers.ondemand.keeper"]
    if role == INTERACTIVE:
        return worker_command(settings, role, [INTERACTIVE], settings.interactive_processes)
    return worker_command(settings, role, OF_BATCH_WORKERS, settings.batch_processes)


def worker_command(
    settings: Settings, role: str, queues: Sequence[str], processes: int
) -> list[str]:
    """Write the command line of a Celery worker for these queues."""
    return [
        *(sys.executable, "-m", "celery", "--app", settings.celery_app, "worker"),
        *("--hostname", f"{role}-{uuid.uuid4().hex[:8]}@%h", "--queues", ",".join(queues)),
        *("--concurrency", str(processes), "--pool", "prefork", "--loglevel", "INFO"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]


def child_environment(settings: Settings, worker: str = "") -> dict[str, str]:
    """Write the environment in which our packages are found and the settings are these."""
    paths = [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        **settings.environment(),
        **metrics_environment(settings),
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "NIGHTGRID_WORKER_ID": worker,
    }


def how_it_ended(code: int) -> str:
    """Say how a process ended."""
    if code >= 0:
        return f"exited with {code}"
    with contextlib.suppress(ValueError):
        return f"was killed by {signal.Signals(-code).name}"
    return f"was killed by signal {-code}"
