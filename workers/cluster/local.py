"""Run a cluster on this machine for the length of a block, and wait until it is ready."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import redis

from nightgrid.archive.outages import closing_outage, end_outage, report_outage
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.queues import BATCH, INTERACTIVE
from nightgrid.workers.broker.worker_keys import living_workers
from nightgrid.workers.cluster import server
from nightgrid.workers.cluster.child_processes import ROLES, child_environment
from nightgrid.workers.processes import end_group, spawn, wait
from nightgrid.workers.settings import Settings

POLL_SECONDS = 0.1
LOG_TAIL_LINES = 6
LOG_TAIL_BYTES = 2000


@contextmanager
def beginning_cluster(
    settings: Settings,
    *,
    roles: Sequence[str] = ROLES,
    standby: bool = False,
    workers_on_call: bool = False,
) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Run the embedded server and supervised workers for the length of a `with` block.

    They are children of a supervisor that watches a pipe to this process: even if this process is
    killed, they end. Yields at once, while they start, a function that waits until server and
    workers are ready and returns the supervisor; it raises TransientError, with the end of a log,
    when they do not become ready in time. Where another supervisor has the folder, one on `standby`
    lets it do the work, and takes its place when it ends. With `workers_on_call` the server starts
    at once, and workers when the function is called: kernels may be compiled meanwhile.
    """
    log_path = settings.side_dir / "logs" / "supervisor.log"
    log_sizes = _log_sizes(settings)
    module = "nightgrid.workers.cluster.supervisor"
    command = [sys.executable, "-m", module, "--stop-at-eof", "--roles", ",".join(roles)]
    if standby:
        command.append("--standby")
    if workers_on_call:
        command.append("--start-workers-on-byte")
    process = spawn(command, log_path=log_path, env=child_environment(settings), stdin_pipe=True)

    def ready() -> subprocess.Popen[bytes]:
        if workers_on_call and process.stdin is not None:
            # `wait_ready` reports a supervisor that has ended.
            with suppress(OSError):
                process.stdin.write(b"1")
                process.stdin.flush()
        wait_ready(settings, process, roles, log_sizes)
        return process

    try:
        yield ready
    finally:
        # No driver is left: nothing is worth waiting for.
        if process.stdin is not None:
            process.stdin.close()
        wait(process, 2 * settings.stop_seconds + 5.0)
        end_group(process)


@contextmanager
def local_cluster(
    settings: Settings, *, roles: Sequence[str] = ROLES
) -> Iterator[subprocess.Popen[bytes]]:
    """Run what `beginning_cluster` runs, and yield the supervisor once all of it is ready."""
    with beginning_cluster(settings, roles=roles) as ready:
        yield ready()


def _log_sizes(settings: Settings) -> dict[str, int]:
    """Measure every log in bytes: only what this start adds is shown if it fails."""
    paths = (settings.side_dir / "logs").glob("*.log")
    return {path.stem: path.stat().st_size for path in paths}


def wait_ready(
    settings: Settings,
    supervisor: subprocess.Popen[bytes],
    roles: Sequence[str],
    log_sizes: Mapping[str, int],
) -> None:
    """Wait until the server answers and workers serve the queues among these roles.

    Raises TransientError when the supervisor ends or the time is up, with the end of the log of
    whatever failed, beyond `log_sizes`; and when a server that is not ours to start stays away.
    """
    begun = answered_at = time.monotonic()
    wanted = [role for role in roles if role in (BATCH, INTERACTIVE)]
    missing = wanted
    named = server.title(settings)
    with connect(settings) as client, closing_outage(named):
        while time.monotonic() - begun < settings.workers_start_seconds:
            try:
                missing = _missing(settings, client, wanted)
                answered_at = time.monotonic()
                end_outage(named)
                if not missing:
                    return
            except redis.RedisError as error:
                if not server.is_embedded(settings):
                    _raise_if_silent(settings, answered_at, error)
            if supervisor.poll() is not None:
                break
            time.sleep(POLL_SECONDS)
    if supervisor.poll() is not None:
        failed = "supervisor"
    else:
        failed = missing[0] if missing and server.is_up(settings) else "server"
    raise TransientError(
        f"the local workers did not become ready; {_new_log_lines(settings, failed, log_sizes)}"
    )


def _missing(settings: Settings, client: redis.Redis, wanted: Sequence[str]) -> list[str]:
    client.ping()
    alive: dict[str, dict[str, Any]] = living_workers(client, settings) if wanted else {}
    serving = {queue for about in alive.values() for queue in about["queues"]}
    return [role for role in wanted if role not in serving]


def _raise_if_silent(settings: Settings, answered_at: float, error: redis.RedisError) -> None:
    """Raise if a configured server, which nothing here can start, has been silent for too long.

    One that is not to be trusted, or that refuses us, is not waited for: PermanentError.
    """
    server.check_trust(settings, error)
    refused = server.refusal_of(settings, error)
    if refused is not None:
        raise PermanentError(refused) from error
    patience_s = settings.broker_patience_seconds
    left_s = patience_s - (time.monotonic() - answered_at)
    if left_s < 0:
        raise TransientError(
            f"{server.title(settings)}, which NIGHTGRID_REDIS_URL names, did not answer for "
            f"{patience_s:g} s: {error}"
        ) from error
    report_outage(server.title(settings), error, left_s)


def _new_log_lines(settings: Settings, failed: str, log_sizes: Mapping[str, int]) -> str:
    """Write the last lines of a log that this start has added to it."""
    path = settings.side_dir / "logs" / f"{failed}.log"
    lines: list[str] = []
    if path.exists():
        written = path.read_bytes()
        before = log_sizes.get(failed, 0)
        # A log that has become shorter was put aside, and begun anew.
        new = written[before:] if before <= len(written) else written
        lines = new[-LOG_TAIL_BYTES:].decode(errors="replace").splitlines()[-LOG_TAIL_LINES:]
    if not lines:
        return f"{path} does not say why"
    return "\n".join([f"the end of {path}:", *lines])
