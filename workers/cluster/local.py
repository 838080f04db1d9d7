"""A cluster of our own for the length of a block: ready, or in a few lines why it is not."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import redis

from nightgrid.archive.outages import closing_outage, over, tell
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.workers.broker.queues import BATCH, INTERACTIVE
from nightgrid.workers.broker.redis_keys import connect, living
from nightgrid.workers.cluster import server
from nightgrid.workers.cluster.child_processes import ROLES, child_environment
from nightgrid.workers.processes import end_group, spawn, wait
from nightgrid.workers.settings import Settings

LOOK_SECONDS = 0.1
LOG_TAIL_LINES = 6
LOG_TAIL_BYTES = 2000


@contextmanager
def beginning_cluster(
    settings: Settings,
    *,
    roles: Sequence[str] = ROLES,
    standby: bool = False,
    hear: bool = False,
) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Run the embedded server and supervised workers for the length of a `with` block.

    They are children of a supervisor on a leash: even if this process is killed, they end.
    Yields at once, while they start, what waits until server and workers are ready and gives the
    supervisor; it raises TransientError, with the end of a log, when they do not become ready in
    time. Where another supervisor has the folder, one on `standby` lets it do the work, and takes
    its place when it ends. One that is to `hear` starts the server at once, and workers when what
    is yielded is called: kernels may be compiled meanwhile.
    """
    log_path = settings.side_dir / "logs" / "supervisor.log"
    marks = _mark_logs(settings)
    module = "nightgrid.workers.cluster.supervisor"
    command = [sys.executable, "-m", module, "--leash", "--roles", ",".join(roles)]
    if standby:
        command.append("--standby")
    if hear:
        command.append("--hear")
    process = spawn(command, log_path=log_path, env=child_environment(settings), leash=True)

    def ready() -> subprocess.Popen[bytes]:
        if hear and process.stdin is not None:
            # One that has ended is told of by what waits for it.
            with suppress(OSError):
                process.stdin.write(b"1")
                process.stdin.flush()
        wait_ready(settings, process, roles, marks)
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


def _mark_logs(settings: Settings) -> dict[str, int]:
    """Note how long every log is: what earlier clusters wrote is not told of the next one."""
    paths = (settings.side_dir / "logs").glob("*.log")
    return {path.stem: path.stat().st_size for path in paths}


def wait_ready(
    settings: Settings,
    supervisor: subprocess.Popen[bytes],
    roles: Sequence[str],
    marks: Mapping[str, int],
) -> None:
    """Wait until the server answers and workers serve the queues among these roles.

    Raises TransientError when the supervisor ends or the time is up, with the end of the log of
    whatever failed, beyond `marks`; and when a server that is not ours to start stays away.
    """
    begun = heard_at = time.monotonic()
    wanted = [role for role in roles if role in (BATCH, INTERACTIVE)]
    missing = wanted
    named = server.title(settings)
    with connect(settings) as client, closing_outage(named):
        while time.monotonic() - begun < settings.workers_start_seconds:
            try:
                missing = _missing(settings, client, wanted)
                heard_at = time.monotonic()
                over(named)
                if not missing:
                    return
            except redis.RedisError as error:
                if not server.is_embedded(settings):
                    _bear_with(settings, heard_at, error)
            if supervisor.poll() is not None:
                break
            time.sleep(LOOK_SECONDS)
    if supervisor.poll() is not None:
        failed = "supervisor"
    else:
        failed = missing[0] if missing and server.is_up(settings) else "server"
    raise TransientError(
        f"the local workers did not become ready; {_told(settings, failed, marks)}"
    )


def _missing(settings: Settings, client: redis.Redis, wanted: Sequence[str]) -> list[str]:
    client.ping()
    alive: dict[str, dict[str, Any]] = living(client, settings) if wanted else {}
    serving = {queue for about in alive.values() for queue in about["queues"]}
    return [role for role in wanted if role not in serving]


def _bear_with(settings: Settings, heard_at: float, error: redis.RedisError) -> None:
    """Raise if a configured server, which nothing here can start, has been silent for too long.

    One that is not to be trusted, or that refuses us, is not waited for: PermanentError.
    """
    server.check_trust(settings, error)
    refused = server.refusal_of(settings, error)
    if refused is not None:
        raise PermanentError(refused) from error
    patience_s = settings.broker_patience_seconds
    left_s = patience_s - (time.monotonic() - heard_at)
    if left_s < 0:
        raise TransientError(
            f"{server.title(settings)}, which NIGHTGRID_REDIS_URL names, did not answer for "
            f"{patience_s:g} s: {error}"
        ) from error
    tell(server.title(settings), error, left_s)


def _told(settings: Settings, failed: str, marks: Mapping[str, int]) -> str:
    """Write the last lines of a log that this start has added to it."""
    path = settings.side_dir / "logs" / f"{failed}.log"
    lines: list[str] = []
    if path.exists():
        written = path.read_bytes()
        before = marks.get(failed, 0)
        # A log that has become shorter was put aside, and begun anew.
        new = written[before:] if before <= len(written) else written
        lines = new[-LOG_TAIL_BYTES:].decode(errors="replace").splitlines()[-LOG_TAIL_LINES:]
    if not lines:
        return f"{path} does not say why"
    return "\n".join([f"the end of {path}:", *lines])
