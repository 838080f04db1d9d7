"""Check the server: whether it answers and keeps queued work, and which workers are at it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nightgrid.service.cli.checks.finding import Finding, either
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import GAMES, game

if TYPE_CHECKING:
    from nightgrid.workers.settings import Settings

COMMAND_TIMEOUT_S = 10.0
_AGAINST_REFUSAL = (
    "redis://USER:PASSWORD@HOST:PORT/0, without USER where there are none; of PASSWORD, @ is "
    "written %40, / %2F and a space %20"
)


def check_server(settings: Settings) -> Iterator[Finding]:
    """Check that the server answers and persists what is written to it."""
    from nightgrid.workers.broker.connection import connect
    from nightgrid.workers.broker.worker_keys import living_workers, refusals
    from nightgrid.workers.cluster import server

    where = server.address(settings)
    try:
        answers = server.is_up(settings)
    except PermanentError as error:
        advice = "name its authority: rediss://...?ssl_ca_certs=FILE"
        yield Finding("server", "failure", str(error), advice)
        return
    if answers:
        with connect(settings) as client:
            about: dict[str, Any] = client.info()
            alive = living_workers(client, settings)
            refusing = refusals(client, settings)
        yield Finding("server", "ok", f"{where}, version {about.get('redis_version')}")
        yield from check_persistence(about)
        yield either(
            "workers", alive, f"{len(alive)} alive", "none alive", "nightgrid worker", "warning"
        )
        yield from check_served(alive)
        for worker, reason in sorted(refusing.items()):
            advice = "mend what it names, or stop this worker"
            yield Finding("workers", "failure", f"{worker} cannot work: {reason}", advice)
        return
    refusal = server.refusal(settings)
    if refusal is not None:
        yield Finding("server", "failure", refusal, _AGAINST_REFUSAL)
        return
    if not server.is_embedded(settings):
        advice = "start it, or change or unset NIGHTGRID_REDIS_URL (unset: embedded server)"
        yield Finding("server", "failure", f"{where} does not answer", advice)
        return
    binary = server.server_binary()
    done = subprocess.run(
        [binary, "--version"], capture_output=True, timeout=COMMAND_TIMEOUT_S, check=False
    )
    if done.returncode:
        raise PermanentError(f"{binary} --version fails: {done.stderr.decode(errors='replace')}")
    version = re.search(rb"v=(\S+)", done.stdout)
    yield Finding("server", "ok", f"embedded {(version[1] if version else b'').decode()}: {binary}")
    kept = "the embedded server always appends to a file and evicts nothing"
    yield Finding("persistence", "ok", kept)


def check_served(alive: dict[str, dict[str, Any]]) -> Iterator[Finding]:
    """Say which lake and solvers workers serve; warn of those that refuse what is planned here."""
    for worker, about in sorted(alive.items()):
        served = about.get("solvers", {})
        if not served:
            continue
        others = {
            name: version
            for name, version in served.items()
            if name not in GAMES or version != game(name).solver_version
        }
        here = f"{worker} on {about.get('host')}, lake {about.get('lake')}"
        yield either(
            "workers",
            not others,
            f"{here}: {', '.join(sorted(served.values()))}",
            f"{here}: {', '.join(sorted(others.values()))} is not this program's solver",
            "install one version on both: workers refuse runs of other solver versions",
            "warning",
        )


def check_persistence(about: dict[str, Any]) -> Iterator[Finding]:
    """Look in a server's INFO whether it keeps queued work over a restart and when it is full."""
    yield either(
        "persistence",
        int(about.get("aof_enabled", 0)),
        "append-only file is on",
        "append-only file is off: queued work is lost with the server",
        "redis-cli CONFIG SET appendonly yes, and appendonly yes in its configuration",
    )
    policy = about.get("maxmemory_policy", "unknown")
    yield either(
        "persistence",
        policy == "noeviction",
        "evicts nothing",
        f"maxmemory-policy is {policy}: a full server drops queued work",
        "redis-cli CONFIG SET maxmemory-policy noeviction, and in its configuration",
    )
