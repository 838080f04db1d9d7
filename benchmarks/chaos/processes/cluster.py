"""Processes to be hit: a server, hosts with workers, and drivers, each apart from the others."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis
from pydantic import SecretStr

from benchmarks.instruments.processes import children_of, wait_for
from benchmarks.tuned import retuned, tuned_settings
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.worker_keys import living_workers
from nightgrid.workers.cluster import server
from nightgrid.workers.cluster.supervisor import child_environment, supervisor_state
from nightgrid.workers.processes import end_group, spawn, wait
from nightgrid.workers.settings import Settings

ROOT = Path(__file__).resolve().parents[3]
CLOCK = Path(__file__).with_name("clock")
DRIVER = "benchmarks.chaos.processes.driver"

# Everything short, so that whatever is lost is noticed within seconds: the order of the limits is
# that of the defaults (kernel budget < hard limit < visibility timeout).
QUICK: Mapping[str, Any] = {
    "celery_app": "benchmarks.chaos.processes.inject",
    "games": "pips",
    "batch_processes": 1,
    "window_chunks": 8,
    "budget_seconds": 1.0,
    "batch_row_seconds": 0.1,
    "batch_slice_rows": 4,
    "batch_chunk_seconds": 0.6,
    "hard_limit_margin_seconds": 1.0,
    "refusal_pause_seconds": 0.5,
    "visibility_factor": 2.0,
    "soft_shutdown_seconds": 1.0,
    "poll_seconds": 0.1,
    "reconcile_seconds": 0.3,
    "liveness_interval_seconds": 0.3,
    "liveness_ttl_seconds": 1.0,
    "worker_lost_wait_seconds": 0.2,
}


@dataclass(slots=True, kw_only=True)
class Host:
    """A host of workers: a supervisor with a worker, killed or stopped or cut off together."""

    settings: Settings
    process: subprocess.Popen[bytes]

    def pid(self, role: str = "batch") -> int:
        """Name the main process that the supervisor keeps for a role."""

        def known() -> int | None:
            state = supervisor_state(self.settings)
            return None if state is None else state["processes"].get(role, {}).get("pid")

        return int(wait_for(known, f"a {role} process"))

    def worker(self) -> str:
        """Name the batch worker as it names itself."""
        state = supervisor_state(self.settings)
        assert state is not None
        return str(state["processes"]["batch"]["worker"])

    def child(self) -> int:
        """Name a child of the batch worker that lives."""
        return int(wait_for(lambda: next(iter(children_of(self.pid())), None), "a child"))

    def group(self) -> list[int]:
        """Name the worker's processes: its main process and its children."""
        return [self.pid(), *children_of(self.pid())]

    def kill(self) -> None:
        """Take the host away at once: no process is left to say so."""
        pids = [self.process.pid, *self.group()]
        for pid in pids:
            _send(pid, signal.SIGKILL)
        self.process.wait()
        self.close()

    def leave(self) -> None:
        """Ask the host's workers to go, as an autoscaler does."""
        self.process.send_signal(signal.SIGTERM)

    def close(self) -> None:
        """End whatever is left, at once."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        wait(self.process, 10.0)
        end_group(self.process)


@dataclass(slots=True, kw_only=True)
class Cluster:
    """A server on a host of its own, and hosts of workers, over one lake."""

    folder: Path
    settings: Settings
    environment: dict[str, str] = field(default_factory=dict)
    hosts: list[Host] = field(default_factory=list)
    joined: int = 0
    control: Host | None = None
    driver_inside: Sequence[str] = ()
    """Command that runs drivers in a place of their own."""

    @property
    def notes(self) -> Path:
        """Folder in which workers note what they begin."""
        return Path(self.environment["NIGHTGRID_CHAOS_DIR"])

    def start_server(self) -> None:
        """Start the server under a supervisor of its own, unless a URL names one that runs."""
        if server.is_embedded(self.settings):
            self.control = self._supervise(self.settings, "server")
        wait_for(lambda: server.is_up(self.settings), "the server")

    def join(
        self,
        *,
        wait: bool = True,
        roles: str = "batch",
        inside: Sequence[str] = (),
        url: str | None = None,
        **environment: str,
    ) -> Host:
        """Let one more host join, which runs `roles`, separated by commas.

        `inside` is a command that runs it in a place of its own, `url` the server as seen there.
        """
        before = set(self.workers())
        settings = retuned(
            self.settings,
            var_dir=self.folder / f"host-{self.joined}",
            redis_url=SecretStr(url or self.settings.server_url),
        )
        self.joined += 1
        host = self._supervise(settings, roles, inside, **environment)
        self.hosts.append(host)
        if wait:
            wait_for(lambda: set(self.workers()) - before, "a worker that joins")
        return host

    def wait_for_workers(self, count: int) -> None:
        """Wait until so many workers live."""
        wait_for(lambda: len(self.workers()) >= count, "the workers")

    def workers(self) -> dict[str, dict[str, Any]]:
        """List the workers that say they live."""
        try:
            with closing(connect(self.settings)) as client:
                return living_workers(client, self.settings)
        except redis.RedisError:
            return {}

    def drive(
        self,
        run_id: str,
        *,
        place: str = "driver",
        attempts_max: int | None = None,
        **changes: Any,
    ) -> subprocess.Popen[str]:
        """Start a driver of a run, on a host that has a name."""
        settings = retuned(
            self.settings,
            **{
                "var_dir": self.folder / place,
                "attempts_max": attempts_max or self.settings.attempts_max,
                "redis_url": SecretStr(self.settings.server_url),
                **changes,
            },
        )
        with (self.folder / f"{place}.log").open("ab") as log:
            return subprocess.Popen(
                [
                    *self.driver_inside,
                    sys.executable,
                    "-m",
                    "benchmarks.chaos.processes.driver",
                    run_id,
                ],
                env={**child_environment(settings), **self.environment},
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def last_words(self, place: str = "driver") -> str:
        """Read the last line that a driver has logged."""
        log = self.folder / f"{place}.log"
        lines = log.read_text().splitlines() if log.exists() else []
        return lines[-1] if lines else "it logged nothing"

    def _supervise(
        self, settings: Settings, role: str, inside: Sequence[str] = (), **environment: str
    ) -> Host:
        env = {**child_environment(settings), **self.environment, **environment}
        if "NIGHTGRID_CHAOS_SKEW_S" in environment:
            env["PYTHONPATH"] = os.pathsep.join([str(CLOCK), env["PYTHONPATH"]])
        program = [sys.executable, "-m", "nightgrid.workers.cluster.supervisor"]
        command = [*inside, *program, "--stop-at-eof", "--roles", role]
        log_path = settings.side_dir / "logs" / "supervisor.log"
        process = spawn(command, log_path=log_path, env=env, stdin_pipe=True)
        return Host(settings=settings, process=process)

    def close(self) -> None:
        """End every process."""
        for host in self.hosts:
            host.close()
        if self.control is not None:
            self.control.close()


@contextmanager
def cluster(folder: Path, hosts: int = 2, **changes: Any) -> Iterator[Cluster]:
    """Run a server and hosts of one worker child each for the length of a `with` block."""
    environment = changes.pop("environment", {})
    settings = tuned_settings(**{"lake": str(folder / "lake"), **QUICK, **changes})
    made = Cluster(
        folder=folder,
        settings=settings,
        environment={"NIGHTGRID_CHAOS_DIR": str(folder), **environment},
    )
    try:
        made.start_server()
        for _ in range(hosts):
            made.join(wait=False)
        made.wait_for_workers(hosts)
        yield made
    finally:
        made.close()


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
