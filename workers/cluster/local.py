"""Run a cluster on this machine in a `with` block, and wait until it is ready."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import redis

from nightgrid.archive.outages import closing_outage, end_outage, report_outage
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.worker_keys import living_workers
from nightgrid.workers.cluster import server
from nightgrid.workers.cluster.supervisor import ROLES, WORKERS, child_environment
from nightgrid.workers.processes import end_group, spawn, wait, writing_to
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
    """Run the embedded server and supervised workers in a `with` block.

    They are children of a supervisor that watches a pipe to this process, so they end even if this
    process is killed. Yields at once, while they start; the yielded function waits until server and
    workers are ready and returns the supervisor, or raises TransientError on timeout. On `standby`
    the supervisor waits for another one in the folder to end, then takes its place. With
    `workers_on_call` the server starts at once, and the workers when the function is called:
    kernels may be compiled meanwhile.
    """
    logs = settings.side_dir / "logs"
    before = {path: path.stat().st_size for path in logs.glob("*.log")}
    module = "nightgrid.workers.cluster.supervisor"
    command = [sys.executable, "-m", module, "--stop-at-eof", "--roles", ",".join(roles)]
    command += ["--standby"] * standby + ["--start-workers-on-byte"] * workers_on_call
    with writing_to(settings.side_dir):
        process = spawn(
            command,
            log_path=logs / "supervisor.log",
            env=child_environment(settings),
            stdin_pipe=True,
        )
    pipe = process.stdin
    assert pipe is not None

    def ready() -> subprocess.Popen[bytes]:
        if workers_on_call:
            # A supervisor that has exited is reported below.
            with suppress(OSError):
                pipe.write(b"1")
                pipe.flush()
        failed = _wait_ready(settings, process, [role for role in roles if role in WORKERS])
        if failed is not None:
            path = logs / f"{failed}.log"
            told = _new_lines(path, before.get(path, 0))
            raise TransientError(f"the local workers did not become ready; {told}")
        return process

    try:
        yield ready
    finally:
        # No driver is left, so no task is worth waiting for.
        pipe.close()
        wait(process, 2 * settings.stop_seconds + 5.0)
        end_group(process)


def _wait_ready(
    settings: Settings, supervisor: subprocess.Popen[bytes], queues: Sequence[str]
) -> str | None:
    """Wait until the server accepts writes and workers serve these queues.

    Returns the process that failed if the supervisor exits or on timeout, else None. Raises
    PermanentError or TransientError if the server refuses us, and TransientError if a configured
    server does not answer for too long.
    """
    begun = answered_at = time.monotonic()
    missing, named = list(queues), server.title(settings)
    with connect(settings) as client, closing_outage(named):
        while time.monotonic() - begun < settings.tuning.workers_start_seconds:
            if supervisor.poll() is not None:
                return "supervisor"
            try:
                server.check_takes(client, settings)
                alive = living_workers(client, settings).values()
                served = {queue for about in alive for queue in about["queues"]}
                missing = [queue for queue in queues if queue not in served]
                answered_at = time.monotonic()
                end_outage(named)
                if not missing:
                    return None
            except redis.RedisError as error:
                refused = server.refusal_of(settings, error)
                if refused is not None:
                    raise refused from error
                if not server.is_embedded(settings):
                    _tolerate_outage(settings, time.monotonic() - answered_at, error)
            time.sleep(POLL_SECONDS)
    return missing[0] if missing and server.is_up(settings) else "server"


def _tolerate_outage(settings: Settings, silent_s: float, error: redis.RedisError) -> None:
    """Report that a configured server does not answer; raise TransientError after the timeout."""
    patience_s, named = settings.broker_patience_seconds, server.title(settings)
    if silent_s > patience_s:
        raise TransientError(
            f"{named}, which NIGHTGRID_REDIS_URL names, did not answer for {patience_s:g} s: "
            f"{error}"
        ) from error
    report_outage(named, error, patience_s - silent_s)


def _new_lines(path: Path, before: int) -> str:
    """Return the last lines of a log after its first `before` bytes."""
    written = path.read_bytes() if path.exists() else b""
    # A log that has become shorter was rotated.
    new = written[before:] if before <= len(written) else written
    lines = new[-LOG_TAIL_BYTES:].decode(errors="replace").splitlines()[-LOG_TAIL_LINES:]
    return "\n".join([f"the end of {path}:", *lines]) if lines else f"{path} does not say why"
