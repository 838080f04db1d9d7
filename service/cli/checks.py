"""What `nightgrid doctor` looks at: each check tells what it found and what to do about it."""

from __future__ import annotations

import contextlib
import platform
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from nightgrid.solvers.errors import NightgridError, PermanentError
from nightgrid.workers.settings import Settings

Verdict = Literal["ok", "warning", "failure"]
SUPPORTED_PYTHONS = ((3, 11), (3, 13))
CONSTRAINTS = Path(__file__).resolve().parents[2] / "constraints.txt"
"""Where the versions stand that the project was tested with: in a checkout, not in a wheel."""
COMMAND_TIMEOUT_S = 10.0
_PIN = re.compile(r"([A-Za-z0-9._-]+)==([^\s;]+)")
_REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")
_BROKEN_ABOVE = {"fastapi": (0, 151), "sqlalchemy": (2, 1)}
"""Releases from which Prefect 3.8 fails, while `pip check` stays green."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found. `advice` says what to do and is empty when all is well."""

    check: str
    verdict: Verdict
    found: str
    advice: str = ""


def _ok(check: str, found: str) -> Finding:
    return Finding(check=check, verdict="ok", found=found)


def examine(settings: Settings) -> Iterator[Finding]:
    """Run every check, one after the other. A check that fails does not stop the next."""
    checks: tuple[tuple[str, Callable[[], Iterator[Finding]]], ...] = (
        ("python", check_python),
        ("versions", check_versions),
        ("kernels", check_kernels),
        ("server", lambda: check_server(settings)),
        ("lake", lambda: check_lake(settings)),
        ("nightly", check_flows),
    )
    for name, check in checks:
        try:
            yield from check()
        except Exception as error:  # noqa: BLE001 - a doctor reports whatever goes wrong
            text = str(error) if isinstance(error, NightgridError) else f"{error!r}"
            yield Finding(check=name, verdict="failure", found=text, advice="see the error")


def check_python() -> Iterator[Finding]:
    """Look whether this Python is one the project runs on."""
    found = platform.python_version()
    least, most = SUPPORTED_PYTHONS
    if least <= sys.version_info[:2] <= most:
        yield _ok("python", found)
        return
    yield Finding(
        check="python",
        verdict="failure",
        found=found,
        advice="use Python 3.11, 3.12 or 3.13: make PYTHON=python3.12",
    )


def check_versions(constraints: Path = CONSTRAINTS) -> Iterator[Finding]:
    """Compare what is installed with what the project was tested with."""
    installed = _installed()
    for name, (major, minor) in _BROKEN_ABOVE.items():
        version = installed.get(name)
        if version and _leading(version) >= (major, minor):
            yield Finding(
                check="versions",
                verdict="failure",
                found=f"{name} {version} breaks Prefect 3.8",
                advice=f"pip install '{name}<{major}.{minor}'",
            )
    try:
        text = constraints.read_text(encoding="ascii")
    except OSError:
        yield _ok("versions", f"{len(installed)} packages; no constraints.txt to compare with")
        return
    pins = {_name(name): version for name, version in _PIN.findall(text)}
    direct = {_name(match[0]) for match in _requirements()}
    others = {
        name: (installed[name], pin)
        for name, pin in pins.items()
        if name in installed and installed[name] != pin
    }
    for name, (version, pin) in others.items():
        yield Finding(
            check="versions",
            verdict="failure" if name in direct else "warning",
            found=f"{name} {version} is installed, {pin} was tested",
            advice=f"pip install {name}=={pin} --constraint constraints.txt",
        )
    if not others:
        same = sum(name in installed for name in pins)
        yield _ok("versions", f"{same} packages as in constraints.txt")


def _installed() -> dict[str, str]:
    return {
        _name(dist.metadata["Name"]): dist.version
        for dist in metadata.distributions()
        if dist.metadata["Name"]
    }


def _requirements() -> list[re.Match[str]]:
    try:
        lines = metadata.requires("nightgrid") or []
    except metadata.PackageNotFoundError:
        return []
    return [match for line in lines if (match := _REQUIREMENT.match(line))]


def _name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _leading(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def check_kernels() -> Iterator[Finding]:
    """Compile or load the kernels; they need a folder to be kept in."""
    from nightgrid.solvers.registry import GAMES, game

    for name in GAMES:
        try:
            game(name).warm()
        except (RuntimeError, OSError, ImportError) as error:
            yield Finding(
                check="kernels",
                verdict="failure",
                found=f"{name}: {error}",
                advice="set NUMBA_CACHE_DIR to a folder that can be written",
            )
        else:
            yield _ok("kernels", f"{name} compiled or loaded, solver {game(name).solver_version}")


def check_server(settings: Settings) -> Iterator[Finding]:
    """Look for the server, and whether it keeps what it is told."""
    from nightgrid.workers.broker.redis_keys import connect, living
    from nightgrid.workers.cluster import server

    where = server.address(settings)
    if not server.is_up(settings):
        if not server.is_embedded(settings):
            yield Finding(
                check="server",
                verdict="failure",
                found=f"{where} does not answer",
                advice="start it, or change or unset NIGHTGRID_REDIS_URL (unset: embedded server)",
            )
            return
        binary = server.server_binary()
        done = subprocess.run(
            [binary, "--version"], capture_output=True, timeout=COMMAND_TIMEOUT_S, check=False
        )
        if done.returncode:
            raise PermanentError(
                f"{binary} --version fails: {done.stderr.decode(errors='replace')}"
            )
        version = re.search(rb"v=(\S+)", done.stdout)
        yield _ok("server", f"embedded {(version[1] if version else b'').decode()}: {binary}")
        yield _ok("persistence", "the embedded server always appends to a file and evicts nothing")
        return
    with connect(settings) as client:
        about: dict[str, Any] = client.info()
        alive = living(client, settings)
    yield _ok("server", f"{where}, version {about.get('redis_version')}")
    yield from check_persistence(about)
    if alive:
        yield _ok("workers", f"{len(alive)} alive")
    else:
        yield Finding(
            check="workers", verdict="warning", found="none alive", advice="nightgrid worker"
        )


def check_persistence(about: dict[str, Any]) -> Iterator[Finding]:
    """Look in a server's INFO whether it keeps queued work over a restart and when it is full."""
    if int(about.get("aof_enabled", 0)):
        yield _ok("persistence", "append-only file is on")
    else:
        yield Finding(
            check="persistence",
            verdict="failure",
            found="append-only file is off: queued work is lost with the server",
            advice="redis-cli CONFIG SET appendonly yes, and appendonly yes in its configuration",
        )
    policy = about.get("maxmemory_policy", "unknown")
    if policy == "noeviction":
        yield _ok("persistence", "evicts nothing")
    else:
        yield Finding(
            check="persistence",
            verdict="failure",
            found=f"maxmemory-policy is {policy}: a full server drops queued work",
            advice="redis-cli CONFIG SET maxmemory-policy noeviction, and in its configuration",
        )


def check_lake(settings: Settings) -> Iterator[Finding]:
    """Write, replace, read and delete a file, and compare the schema versions of the tables."""
    from nightgrid.archive.lake.storage import STAGING, Lake

    lake = Lake.open(settings.lake)
    base = Path(settings.lake)
    here = [] if "://" in settings.lake else [base, base / STAGING, base / "doctor"]
    made = [folder for folder in here if not folder.exists()]
    path = f"doctor/{uuid.uuid4().hex}.json"
    try:
        for text in (b"first\n", b"second\n"):
            lake.write_bytes(path, text)
        replaced = lake.read_bytes(path) == b"second\n"
        lake.delete(path)
    except (NightgridError, OSError) as error:
        yield Finding(
            check="lake",
            verdict="failure",
            found=str(error),
            advice="give --lake or NIGHTGRID_LAKE a folder or URL that can be written",
        )
        return
    if not replaced:
        yield Finding(
            check="lake",
            verdict="failure",
            found=f"{settings.lake}: a replaced file still reads as before",
            advice="use a storage that replaces files at once",
        )
        return
    yield _ok("lake", f"{settings.lake} can be written, files are replaced at once")
    yield from _check_schemas(lake, settings.lake)
    for folder in reversed(made):
        # A look leaves nothing behind; what somebody else has put there meanwhile stays.
        with contextlib.suppress(OSError):
            folder.rmdir()


def _check_schemas(lake: Any, url: str) -> Iterator[Finding]:
    import io

    import pyarrow.parquet as pq

    from nightgrid.archive.lake.tables import READABLE_VERSIONS, SCHEMA_VERSION

    tables = ("puzzles", "editions", "quarantine", "results", "solutions", "gold")
    seen = 0
    for table in tables:
        for path in lake.list(table):
            if not path.endswith(".parquet"):
                continue
            about = pq.read_schema(io.BytesIO(lake.read_bytes(path))).metadata or {}
            version = about.get(b"nightgrid.schema_version", b"none").decode()
            seen += 1
            if version not in {str(number) for number in READABLE_VERSIONS}:
                yield Finding(
                    check="lake",
                    verdict="failure",
                    found=f"{path} has schema version {version}, this program {SCHEMA_VERSION}",
                    advice=f"use the nightgrid that wrote {url}, or move the file away",
                )
    yield _ok("lake", f"{seen} tables that schema version {SCHEMA_VERSION} reads")


def check_flows() -> Iterator[Finding]:
    """Look whether the nightly job's engine is installed. A machine that only works needs none."""
    version = _installed().get("prefect")
    if version:
        yield _ok("nightly", f"Prefect {version}")
    else:
        yield Finding(
            check="nightly",
            verdict="warning",
            found="Prefect is not installed: this machine can work but not run the nightly job",
            advice="pip install 'nightgrid[flows]'",
        )
