"""Start the embedded server and the workers, restart whatever exits, stop all of it together.

As a program, `python -m nightgrid.workers.cluster.supervisor` does this for the settings in its
environment until SIGTERM or SIGINT. With --stop-at-eof it also ends when its standard input closes,
so that no process stays behind when its parent is killed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import FrameType

import redis

from nightgrid.archive.lake.without_pandas import keep_pandas_out
from nightgrid.solvers.errors import NightgridError, RefusalError, TransientError
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.lake_keys import make_lake_id
from nightgrid.workers.broker.queues import BATCH
from nightgrid.workers.broker.worker_keys import DEAD, LEFT, record_exit
from nightgrid.workers.cluster import server
from nightgrid.workers.cluster.child_processes import (
    KEEPER,
    ROLES,
    SERVER,
    WORKERS,
    Child,
    child_environment,
    command_of,
    how_it_ended,
)
from nightgrid.workers.cluster.heartbeats import Heartbeats
from nightgrid.workers.cluster.silent_workers import SilentWorkers
from nightgrid.workers.cluster.supervisor_state import (
    LOCK,
    state_path,
    supervisor_state,
    write_state,
)
from nightgrid.workers.exporter import exporting
from nightgrid.workers.logs import chosen_format, get_logger
from nightgrid.workers.processes import end_group, kill_group, locked, spawn, wait
from nightgrid.workers.settings import Settings, program_settings

log = get_logger("nightgrid.supervisor")

POLL_SECONDS = 0.1
RESTART_SECONDS = (0.0, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Pause before a restart, by how often in a row the process died young."""
YOUNG_SECONDS = 10.0
ENDING_SECONDS = 5.0
"""A supervisor whose owner was killed may need so long to end."""
ORPHAN_SECONDS = 1.0
"""How long the server of a supervisor that was killed may need to end."""
DAMAGED_SERVER_STARTS = 4
"""After so many young deaths of the server its data are taken to be damaged."""
HAND_BACK_SECONDS = 3.0
"""How long a worker that is stopped may take to put its unfinished work back into the queue."""
LEFT_CODES = frozenset({os.EX_OK, os.EX_TEMPFAIL})
"""How a worker exits by itself, its work handed back: asked to go, or because it only seemed to
live."""


class Supervisor:
    """Keeps one process running for each role, until a signal or its parent's end stops it."""

    def __init__(self, settings: Settings, roles: Sequence[str] = ROLES) -> None:
        self._settings = settings
        self._logs = settings.side_dir / "logs"
        self._roles = [role for role in ROLES if role in roles]
        self._children = self._required_children()
        self._stopping = self._abandoned = False
        self._stopped_by: int | None = None
        self._may_work: Callable[[], bool] = lambda: True
        self._liveness = SilentWorkers(settings)
        self._heartbeats = Heartbeats(settings.side_dir, keeper=KEEPER in self._roles)
        self._has_start_byte = False

    @contextlib.contextmanager
    def reading_start_byte(self) -> Iterator[Callable[[], bool]]:
        """Yield a function that tells whether the parent has sent the byte that starts workers."""
        yield lambda: self._has_start_byte

    def run(
        self,
        parent_pipe: int | None = None,
        *,
        standby: bool = False,
        preparing: AbstractContextManager[Callable[[], bool]] | None = None,
    ) -> int | None:
        """Start the processes and restart them until a signal comes or the parent's pipe closes.

        `parent_pipe` is the file descriptor of a pipe that closes when the parent ends. While
        another supervisor has the folder, one on `standby` waits to take its place; without
        `standby`, raises RefusalError. `preparing` is entered once the folder is ours, and gives
        a function that tells whether workers may be started; the server is started before that.
        Returns the signal that came before workers might be started, else None. Raises
        PermanentError for a lake without an id that cannot be written.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        with ExitStack() as held:
            # One that has nothing to look after, since the server runs, may stand beside another.
            if self._children:
                self._take_place(held, parent_pipe, standby=standby)
            if not self._stopping:
                if preparing is not None:
                    self._may_work = held.enter_context(preparing)
                self._children = self._required_children()
                self._name_lake()
                held.enter_context(exporting(self._settings))
                self._supervise(parent_pipe)
                return None if self._may_work() else self._stopped_by
        return self._stopped_by

    def _name_lake(self) -> None:
        """Give the lake its id before processes start whose keys begin with it.

        Raises PermanentError where that can never be: no worker could take anything.
        """
        if set(self._roles) <= {SERVER}:
            return
        try:
            make_lake_id(self._settings)
        except TransientError as error:
            # Workers try again, and are started again until they succeed.
            _say(f"the lake does not answer: {error}")

    def _take_place(self, held: ExitStack, parent_pipe: int | None, *, standby: bool) -> None:
        """Lock the folder; wait for a supervisor that is ending, on standby for any other."""
        deadline = time.monotonic() + ENDING_SECONDS
        waited = False
        while not self._stopping:
            state = supervisor_state(self._settings)
            who = "" if state is None else f", process {state['supervisor_pid']},"
            refusal = (
                f"another supervisor{who} works in {self._settings.side_dir}; expected one "
                "for each folder: more processes are --processes N of that one, or "
                "NIGHTGRID_VAR_DIR names another folder"
            )
            try:
                held.enter_context(locked(self._settings.side_dir, LOCK, refusal))
                break
            except TransientError as error:
                if not standby and time.monotonic() > deadline:
                    raise RefusalError(refusal) from error
            waited = True
            self._pause(parent_pipe)
        # The server of one that was killed is killed too, and may answer for a moment yet.
        deadline = time.monotonic() + ORPHAN_SECONDS
        settings = self._settings
        while waited and server.is_embedded(settings) and server.is_up(settings):
            if time.monotonic() >= deadline:
                return
            self._pause(parent_pipe)

    def _pause(self, parent_pipe: int | None) -> None:
        """Wait POLL_SECONDS, or until the parent writes a byte or closes its pipe."""
        if parent_pipe is None:
            time.sleep(POLL_SECONDS)
        elif select.select([parent_pipe], [], [], POLL_SECONDS)[0]:
            self._has_start_byte = bool(os.read(parent_pipe, 1))
            self._stopping = self._abandoned = not self._has_start_byte

    def _required_children(self) -> list[Child]:
        """List the processes to run: no server where one is configured or runs already."""
        embedded = server.is_embedded(self._settings) and not server.is_up(self._settings)
        roles = [role for role in self._roles if role != SERVER or embedded]
        return [Child(role=role) for role in roles]

    def _supervise(self, parent_pipe: int | None) -> None:
        self._heartbeats.begin()
        try:
            while not self._stopping:
                for child in self._children:
                    self._keep_running(child)
                self._kill_silent_workers()
                self._heartbeats.update(self._missing())
                self._pause(parent_pipe)
        finally:
            self._heartbeats.end()
            self._stop(abandoned=self._abandoned)

    def _kill_silent_workers(self) -> None:
        """Kill workers that live without a heartbeat; they are reaped and started again."""
        workers = {c.worker: c.process for c in self._children if c.role in WORKERS and c.process}
        for name in self._liveness.silent(workers):
            _say(f"{name} {workers[name].pid} has been silent for too long")
            kill_group(workers[name])
            workers[name].wait()

    def _missing(self) -> list[str]:
        """Name each process that does not run, and each worker that takes no work."""
        return [
            f"{c.role} does not run"
            if c.process is None
            else f"{c.worker} is not heard by the server, or refuses work"
            for c in self._children
            if c.process is None or (c.role in WORKERS and c.worker not in self._liveness.working)
        ]

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self._stopping, self._stopped_by = True, number

    def _keep_running(self, child: Child) -> None:
        if child.process is not None:
            if child.process.poll() is None:
                return
            self._reap(child, child.process)
        now = time.monotonic()
        if now < child.restart_at:
            return
        if (
            child.role != SERVER
            and SERVER in (c.role for c in self._children)
            and not server.is_up(self._settings)
        ):
            return
        if child.role in WORKERS and not self._may_work():
            return
        if child.role == SERVER and child.young_deaths >= DAMAGED_SERVER_STARTS:
            server.set_aside_damaged_data(self._settings)
            child.young_deaths = 0
        child.worker = f"{child.role}-{uuid.uuid4().hex[:12]}"
        try:
            child.process = spawn(
                command_of(child.role, self._settings),
                log_path=self._log_of(child.role),
                env=child_environment(self._settings, child.worker),
                share=self._settings.batch_time_share if child.role == BATCH else None,
            )
        except OSError as error:
            # A full disk, or no memory to fork: tried again for as long as it takes.
            _say(f"{child.role} could not be started: {error}")
            child.restart_at = now + RESTART_SECONDS[-1]
            return
        child.started_at = now
        self._write_state()
        if child.role == SERVER:
            self._wait_for_server(child.process, restarted=child.restarts > 0)
        elif child.restarts:
            _say(f"{child.role} {child.process.pid} is in its place")

    def _log_of(self, role: str) -> Path | None:
        return None if self._settings.worker_logs == "stdout" else self._logs / f"{role}.log"

    def _wait_for_server(self, process: subprocess.Popen[bytes], *, restarted: bool) -> None:
        """Wait until the server answers or has died; it may have much to load."""
        deadline = time.monotonic() + self._settings.server_start_seconds
        while process.poll() is None and time.monotonic() < deadline:
            if server.is_up(self._settings):
                if restarted:
                    _say(f"{SERVER} {process.pid} is back: it answers again")
                return
            time.sleep(server.PING_SECONDS)

    def _reap(self, child: Child, process: subprocess.Popen[bytes]) -> None:
        """Clear away what a dead process left, and say when it is started again."""
        kill_group(process)
        _say(f"{child.role} {process.pid} {how_it_ended(process.returncode)}; it is started again")
        if child.role != SERVER:
            self._mark_gone(child, by_itself=process.returncode in LEFT_CODES)
        now = time.monotonic()
        young = now - child.started_at < YOUNG_SECONDS
        child.young_deaths = child.young_deaths + 1 if young else 0
        child.restart_at = now + RESTART_SECONDS[min(child.young_deaths, len(RESTART_SECONDS) - 1)]
        child.process = None
        child.restarts += 1

    def _mark_gone(self, child: Child, *, by_itself: bool) -> None:
        try:
            with connect(self._settings) as client:
                record_exit(client, self._settings, child.worker, LEFT if by_itself else DEAD)
        except redis.RedisError as error:
            # Its key will expire.
            why = str(error).rstrip(".")
            _say(f"{child.role} has ended, which the server could not be told ({why})")

    def _write_state(self) -> None:
        try:
            write_state(self._settings, self._children)
        except OSError as error:
            _say(f"{state_path(self._settings)} could not be written: {error}")

    def _stop(self, *, abandoned: bool) -> None:
        """Stop the workers together, then the server they speak to."""
        seconds = self._settings.stop_seconds
        soft_s = min(seconds, self._settings.soft_shutdown_seconds)
        workers = [(c, c.process) for c in self._children if c.role != SERVER and c.process]
        if workers and self._stopped_by == signal.SIGINT:
            _say(f"stopping: work in hand has {soft_s:g} s to end, else it is handed back")
        for _, process in workers:
            if abandoned:
                kill_group(process)
            elif process.poll() is None:
                process.send_signal(signal.SIGTERM)
        # SIGQUIT: hand back at once what is still being worked on.
        for pause_s, then in ((soft_s, signal.SIGQUIT), (HAND_BACK_SECONDS, signal.SIGKILL)):
            deadline = time.monotonic() + pause_s
            for _, process in workers:
                wait(process, 0 if abandoned else max(0.0, deadline - time.monotonic()))
            for _, process in workers:
                if process.poll() is None:
                    process.send_signal(then)
        for child, process in workers:
            end_group(process)
            self._mark_gone(child, by_itself=not abandoned)
        for child in self._children:
            if child.role == SERVER and child.process is not None:
                end_group(child.process, (signal.SIGTERM, seconds))
        state_path(self._settings).unlink(missing_ok=True)


def _say(text: str) -> None:
    if chosen_format() == "json":
        log.info("supervised", told=text)
        return
    # The log lies on a disk that may be full: looking after the workers goes on.
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def main() -> None:
    """Supervise, as a program."""
    keep_pandas_out()
    parser = argparse.ArgumentParser(prog="python -m nightgrid.workers.cluster.supervisor")
    parser.add_argument(
        "--stop-at-eof", action="store_true", help="stop when standard input closes"
    )
    parser.add_argument(
        "--standby", action="store_true", help="wait for the place of another supervisor"
    )
    parser.add_argument(
        "--start-workers-on-byte",
        action="store_true",
        help="start workers when a byte comes on standard input",
    )
    parser.add_argument("--roles", default=",".join(ROLES))
    options = parser.parse_args()
    parent_pipe = sys.stdin.fileno() if options.stop_at_eof else None
    supervisor = Supervisor(program_settings(), options.roles.split(","))
    preparing = supervisor.reading_start_byte() if options.start_workers_on_byte else None
    try:
        supervisor.run(parent_pipe, standby=options.standby, preparing=preparing)
    except NightgridError as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main()
