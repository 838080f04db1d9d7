"""Start the embedded server and the workers, restart what exits, stop everything together.

As a program, `python -m nightgrid.workers.cluster.supervisor` does this for the settings in its
environment until SIGTERM or SIGINT. With --stop-at-eof it also ends when its standard input closes,
so that no process is left behind when its parent is killed.

Several supervisors may share a folder, each with its own workers. One of them runs the server, and
one the keeper; another takes over when it exits.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import redis

from nightgrid.solvers.errors import NightgridError, TransientError
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.redis_keys import BATCH, INTERACTIVE, make_lake_id
from nightgrid.workers.broker.worker_keys import DEAD, LEFT, living_workers, record_exit, refusals
from nightgrid.workers.cluster import server
from nightgrid.workers.cluster.probe import beat_path, notify, write_beat
from nightgrid.workers.exporter import exporting, metrics_environment
from nightgrid.workers.logs import chosen_format, get_logger
from nightgrid.workers.processes import end_group, kill_group, locked, spawn, wait
from nightgrid.workers.settings import Settings, program_settings

log = get_logger("nightgrid.supervisor")

SERVER, KEEPER = "server", "keeper"
WORKERS = (BATCH, INTERACTIVE)
ROLES = (SERVER, *WORKERS, KEEPER)
LOCK = "supervisor"
"""Lock of the supervisor whose state and heartbeats are in the side folder."""
BATCH_NICE = 5
"""Next to processes of normal priority that compete for the core, batches get a quarter of it."""
POLL_SECONDS = 0.1
BEAT_SECONDS = 1.0
YOUNG_SECONDS = 10.0
RESTART_MAX_SECONDS = 10.0
"""Limit of the restart delay, which grows by one second with each early death in a row."""
HAND_BACK_SECONDS = 3.0
"""How long a stopping worker may take to put its unfinished work back into the queue."""


@dataclass(slots=True, kw_only=True)
class Child:
    """One supervised process."""

    role: str
    process: subprocess.Popen[bytes] | None = None
    worker: str = ""
    started_at: float = 0.0
    young_deaths: int = 0
    restart_at: float = 0.0


class Supervisor:
    """Keeps one process running for each role, until a signal or the end of its parent stops it.

    On `standby` it does nothing while another supervisor is active in the folder.
    """

    def __init__(
        self, settings: Settings, roles: Sequence[str] = ROLES, *, standby: bool = False
    ) -> None:
        self._settings = settings
        self._client = connect(settings)
        self._children = [
            Child(role=role)
            for role in ROLES
            if role in roles and (role != SERVER or server.is_embedded(settings))
        ]
        self._standby = standby
        self._locks: set[str] = set()
        self._held = ExitStack()
        self._beat_at = 0.0
        self._was_ready = False
        self._stopping = self._abandoned = False
        self._stopped_by: int | None = None
        self._start_byte = False

    def run(
        self, parent_pipe: int | None = None, may_work: Callable[[], bool] = lambda: True
    ) -> int | None:
        """Run the processes until a signal arrives or the parent's pipe closes; return the signal.

        `parent_pipe` is the file descriptor of a pipe that closes when the parent ends. Workers
        start once `may_work` is true; server and keeper before that. Raises PermanentError for a
        lake without an id that cannot be written and for a folder that cannot be written.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        self._name_lake()
        with self._held, exporting(self._settings):
            try:
                while not self._stopping:
                    # Takes the place of a supervisor that has exited.
                    if self._holds(LOCK) or not self._standby:
                        for child in self._children:
                            self._keep_running(child, may_work)
                        self._beat()
                    self._pause(parent_pipe)
            finally:
                self._stop()
        return self._stopped_by

    def has_start_byte(self) -> bool:
        """Return whether the parent has sent the byte that starts workers."""
        return self._start_byte

    def _name_lake(self) -> None:
        """Write the id of the lake before starting processes whose keys begin with it."""
        if all(child.role == SERVER for child in self._children):
            return
        try:
            make_lake_id(self._settings)
        except TransientError as error:
            # Workers retry, and are restarted until they succeed.
            _say(f"the lake does not answer: {error}")

    def _holds(self, name: str) -> bool:
        """Try to take a lock of the folder; return whether we hold it."""
        if name not in self._locks:
            try:
                self._held.enter_context(locked(self._settings.side_dir, name, ""))
            except TransientError:
                return False
            self._locks.add(name)
            if name == LOCK:
                beat_path(self._settings.side_dir).unlink(missing_ok=True)
                self._write_state()
        return True

    def _may_start(self, child: Child, may_work: Callable[[], bool]) -> bool:
        if time.monotonic() < child.restart_at:
            return False
        if child.role in (SERVER, KEEPER) and not self._holds(child.role):
            return False
        # The server of a killed supervisor may still answer for a moment.
        if server.is_embedded(self._settings) and (
            server.is_up(self._settings) == (child.role == SERVER)
        ):
            return False
        return child.role not in WORKERS or may_work()

    def _keep_running(self, child: Child, may_work: Callable[[], bool]) -> None:
        if child.process is not None:
            if child.process.poll() is None:
                return
            self._reap(child, child.process)
        if not self._may_start(child, may_work):
            return
        child.worker = f"{child.role}-{uuid.uuid4().hex[:12]}"
        logs = self._settings.side_dir / "logs" / f"{child.role}.log"
        try:
            child.process = spawn(
                command_of(child.role, self._settings),
                log_path=None if self._settings.worker_logs == "stdout" else logs,
                env=child_environment(self._settings, child.worker),
                nice=BATCH_NICE if child.role == BATCH else 0,
            )
        except OSError as error:
            # A full disk, or no memory to fork: retried for as long as it takes.
            _say(f"{child.role} could not be started: {error}")
            child.restart_at = time.monotonic() + RESTART_MAX_SECONDS
            return
        child.started_at = time.monotonic()
        self._write_state()

    def _reap(self, child: Child, process: subprocess.Popen[bytes]) -> None:
        """Clean up after a dead process, and schedule its restart."""
        kill_group(process)
        _say(f"{child.role} {process.pid} {_how_it_ended(process.returncode)}; it is restarted")
        # A worker that exits by itself has handed its work back.
        self._record_exit(child, LEFT if process.returncode in (os.EX_OK, os.EX_TEMPFAIL) else DEAD)
        now = time.monotonic()
        child.young_deaths = child.young_deaths + 1 if now - child.started_at < YOUNG_SECONDS else 0
        child.restart_at = now + min(child.young_deaths, RESTART_MAX_SECONDS)
        child.process = None

    def _record_exit(self, child: Child, how: str) -> None:
        if child.role in WORKERS:
            # Otherwise its key expires.
            with contextlib.suppress(redis.RedisError):
                record_exit(self._client, self._settings, child.worker, how)

    def _beat(self) -> None:
        """Report the state of the processes to systemd and probes about once a second."""
        if time.monotonic() < self._beat_at:
            return
        self._beat_at = time.monotonic() + BEAT_SECONDS
        missing = self._missing()
        # The others are often consequences of the first.
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        if self._holds(LOCK):
            write_beat(self._settings.side_dir, f"{missing[0]}{more}" if missing else "")
        notify("WATCHDOG=1")
        if not missing and not self._was_ready:
            self._was_ready = True
            notify("READY=1")

    def _missing(self) -> list[str]:
        """List each process that does not run, and each worker that takes no work."""
        try:
            refusing = refusals(self._client, self._settings)
            working = living_workers(self._client, self._settings).keys() - refusing.keys()
        except redis.RedisError:
            working = set()
        return [
            f"{child.role} does not run"
            if child.process is None
            else f"{child.worker} sends no heartbeat to the server, or refuses work"
            for child in self._children
            # Another supervisor in this folder may run the server and the keeper.
            if (child.process is None and child.role in (*WORKERS, *self._locks))
            or (child.role in WORKERS and child.worker not in working)
        ]

    def _pause(self, parent_pipe: int | None) -> None:
        """Wait POLL_SECONDS, or until the parent writes a byte or closes its pipe."""
        if parent_pipe is None:
            time.sleep(POLL_SECONDS)
        elif select.select([parent_pipe], [], [], POLL_SECONDS)[0]:
            self._start_byte = bool(os.read(parent_pipe, 1))
            self._stopping = self._abandoned = not self._start_byte

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self._stopping, self._stopped_by = True, number

    def _write_state(self) -> None:
        """Write the state file that `supervisor_state` reads."""
        if not self._holds(LOCK):
            return
        processes = {
            child.role: {"pid": child.process.pid, "worker": child.worker}
            for child in self._children
            if child.process is not None
        }
        path = state_path(self._settings)
        staged = path.with_suffix(".tmp")
        with contextlib.suppress(OSError):
            text = json.dumps({"supervisor_pid": os.getpid(), "processes": processes}, indent=2)
            staged.write_text(f"{text}\n")
            staged.replace(path)

    def _stop(self) -> None:
        """Stop the workers together, then their server."""
        notify("STOPPING=1")
        if LOCK in self._locks:
            write_beat(self._settings.side_dir, "it stops")
        soft_s = self._settings.soft_shutdown_seconds
        workers = [(c, c.process) for c in self._children if c.role != SERVER and c.process]
        if workers and self._stopped_by == signal.SIGINT:
            _say(f"stopping: running tasks have {soft_s:g} s to end, else they are handed back")
        if not self._abandoned:
            # SIGQUIT: hand back unfinished tasks at once.
            for number, pause_s in ((signal.SIGTERM, soft_s), (signal.SIGQUIT, HAND_BACK_SECONDS)):
                deadline = time.monotonic() + pause_s
                for _, process in workers:
                    if process.poll() is None:
                        process.send_signal(number)
                for _, process in workers:
                    wait(process, max(0.0, deadline - time.monotonic()))
        for child, process in workers:
            end_group(process)
            self._record_exit(child, LEFT)
        for child in self._children:
            if child.role == SERVER and child.process is not None:
                end_group(child.process, (signal.SIGTERM, self._settings.stop_seconds))
        if LOCK in self._locks:
            state_path(self._settings).unlink(missing_ok=True)


def command_of(role: str, settings: Settings) -> list[str]:
    """Return the command line of the process for a role."""
    if role == SERVER:
        return server.server_command(settings)
    if role == KEEPER:
        return [sys.executable, "-m", "nightgrid.workers.ondemand.keeper"]
    processes = settings.batch_processes if role == BATCH else settings.interactive_processes
    return [
        *(sys.executable, "-m", "celery", "--app", settings.tuning.celery_app, "worker"),
        *("--hostname", f"{role}-{uuid.uuid4().hex[:8]}@%h", "--queues", role),
        *("--concurrency", str(processes), "--pool", "prefork", "--loglevel", "INFO"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]


def child_environment(settings: Settings, worker: str = "") -> dict[str, str]:
    """Return an environment that finds our packages and carries these settings."""
    paths = [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        **settings.environment(),
        **metrics_environment(settings),
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "NIGHTGRID_WORKER_ID": worker,
    }


def supervisor_state(settings: Settings) -> Mapping[str, Any] | None:
    """Read which processes the supervisor of a side folder runs; None if none is active."""
    try:
        state: dict[str, Any] = json.loads(state_path(settings).read_text())
        os.kill(int(state["supervisor_pid"]), 0)
    except (FileNotFoundError, ProcessLookupError, ValueError, KeyError):
        return None
    except PermissionError:
        # It is alive and belongs to another user.
        pass
    return state


def has_begun_workers(settings: Settings) -> bool:
    """Return whether a living supervisor has started workers, ready or not."""
    state = supervisor_state(settings) or {"processes": {}}
    return any(role in state["processes"] for role in WORKERS)


def state_path(settings: Settings) -> Path:
    """Return the file that `supervisor_state` reads."""
    return settings.side_dir / "supervisor.json"


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"exited with {code}"
    with contextlib.suppress(ValueError):
        return f"was killed by {signal.Signals(-code).name}"
    return f"was killed by signal {-code}"


def _say(text: str) -> None:
    if chosen_format() == "json":
        log.info("supervised", told=text)
        return
    # The log may be on a full disk; supervision continues.
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def main() -> None:
    """Run a supervisor as a program."""
    parser = argparse.ArgumentParser(prog="python -m nightgrid.workers.cluster.supervisor")
    for option, text in {
        "--stop-at-eof": "stop when standard input closes",
        "--standby": "wait until no other supervisor works in the folder",
        "--start-workers-on-byte": "start workers when a byte arrives on standard input",
    }.items():
        parser.add_argument(option, action="store_true", help=text)
    parser.add_argument("--roles", default=",".join(ROLES))
    options = parser.parse_args()
    try:
        supervisor = Supervisor(
            program_settings(), options.roles.split(","), standby=options.standby
        )
        supervisor.run(
            sys.stdin.fileno() if options.stop_at_eof else None,
            supervisor.has_start_byte if options.start_workers_on_byte else lambda: True,
        )
    except NightgridError as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main()
