"""What goes on besides the batch of a soak: solves on demand, nights, and a Prefect server."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from benchmarks.instruments.processes import wait_for
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import ONDEMAND_PREFIX
from nightgrid.service.terminal.console import Exit
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import TransientError
from nightgrid.solvers.pips.generate.generator import generate, to_payload
from nightgrid.solvers.pips.generate.mix import LEVELS, PRESETS
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.jobs.submitting import submit
from nightgrid.workers.processes import end_group, spawn
from nightgrid.workers.settings import Settings

SUBMIT_S = 1.0
NIGHT_S = 60.0
ANSWER_S = 60.0
LOOSE_EVERY = 30
"""One in so many submitted boards is loose: its task gives up on it, and it becomes a run."""
TASK_S = 0.1
KEPT_S = 60.0
"""What Prefect keeps of ended flow runs and of events. It is days elsewhere, and then its database
grows for so many days before it stays as it is."""
SWEEP_S = 15.0
"""How often Prefect's server deletes events that are older."""


@dataclass(slots=True, kw_only=True)
class Load:
    """What went on besides the batch."""

    latencies_s: list[float] = field(default_factory=list)
    loose_latencies_s: list[float] = field(default_factory=list)
    runs: int = 0
    """Loose boards that became runs."""
    late: int = 0
    """Submitted boards without an answer within ANSWER_S."""
    loose_late: int = 0
    nights: int = 0
    nights_failed: int = 0


def interact(lake: Lake, settings: Settings, load: Load, stop: threading.Event) -> None:
    """Submit a new board every second, and wait for its answer."""
    loose = replace(PRESETS["loose"], dominoes=((12, 1.0),))
    for number in count():
        due = time.monotonic() + SUBMIT_S
        level = LEVELS[number % len(LEVELS)]
        is_loose = number % LOOSE_EVERY == 0
        puzzle, _ = generate(loose if is_loose else PRESETS[level], 1_000_000 + number)
        begun = time.monotonic()
        try:
            job = submit(lake, puzzle, Ask(kind="count"), settings=settings)
            row = result(lake, job, timeout_s=ANSWER_S)
        except TransientError:
            row = None
        load.runs += row is not None and not row["run_id"].startswith(ONDEMAND_PREFIX)
        if row is None:
            load.late += not is_loose
            load.loose_late += is_loose
        else:
            took = load.loose_latencies_s if is_loose else load.latencies_s
            took.append(time.monotonic() - begun)
        if stop.wait(max(0.0, due - time.monotonic())):
            return


def nights(
    folder: Path, settings: Settings, env: dict[str, str], load: Load, stop: threading.Event
) -> None:
    """Run a night every minute, each with one new day."""
    payloads = folder / "payloads"
    payloads.mkdir()
    for number in count():
        due = time.monotonic() + NIGHT_S
        date = dt.date(2026, 1, 1) + dt.timedelta(days=number)
        boards = {level: generate(PRESETS[level], 7 * number + 1) for level in LEVELS}
        (payloads / f"{date}.json").write_text(json.dumps(to_payload(date, boards)))
        command = ["nightly", "--source", str(payloads), "--lake", settings.lake, "--json"]
        with program(folder, "night", command, env) as night:
            while night.poll() is None and not stop.wait(0.2):
                pass
            if night.poll() is not None:
                load.nights += 1
                load.nights_failed += night.returncode not in (Exit.OK, Exit.LOOK)
        if stop.wait(max(0.0, due - time.monotonic())):
            return


@contextmanager
def program(
    folder: Path, name: str, words: list[str], env: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the command line as a process, ended with the block."""
    command = [sys.executable, "-m", "nightgrid.service.cli.app", *words]
    process = spawn(command, log_path=folder / f"{name}.log", env=env)
    try:
        yield process
    finally:
        end_group(process, (signal.SIGINT, 30.0))


@contextmanager
def prefect(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Run a Prefect server of its own, as one that stays: it keeps events, for a while."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    env = {
        **os.environ,
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_SERVER_API_PORT": port,
        "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "true",
        "PREFECT_SERVER_EVENTS_RETENTION_PERIOD": f"PT{KEPT_S:.0f}S",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_LOOP_SECONDS": f"{SWEEP_S:.0f}",
    }
    command = [sys.executable, "-m", "prefect", "server", "start"]
    address = ["--host", "127.0.0.1", "--port", port]
    server = spawn([*command, *address], log_path=folder / "prefect.log", env=env)
    api = f"http://127.0.0.1:{port}/api"

    def answers() -> bool:
        with contextlib.suppress(urllib.error.URLError, OSError):
            return bool(urllib.request.urlopen(f"{api}/health", timeout=5).status == 200)
        return False

    try:
        wait_for(answers, "the Prefect server", 120.0)
        yield server, api
    finally:
        end_group(server, (signal.SIGINT, 20.0))
