"""`nightgrid doctor`: each check tells what it found, and what to do about what is not well."""

from __future__ import annotations

import contextlib
import platform
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from nightgrid.service.options.shared_options import Json, LakeOption
from nightgrid.service.terminal.console import Exit, emit, say, say_table
from nightgrid.solvers.errors import NightgridError, PermanentError
from nightgrid.solvers.registry import GAMES, game
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
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


_AGAINST_PLACE = "give --lake or NIGHTGRID_LAKE a folder or URL that can be written"
_AGAINST_NO_LAKE = (
    "name one with --lake or NIGHTGRID_LAKE; the first night, count or worker makes a new one"
)
_AGAINST_DAMAGE = "nightgrid lake check says what is damaged, nightgrid lake repair mends it"


class Finding(NamedTuple):
    """What one check found. `advice` says what to do and is empty when all is well."""

    check: str
    verdict: Verdict
    found: str
    advice: str = ""


def _either(
    check: str, well: object, found: str, otherwise: str, advice: str, bad: Verdict = "failure"
) -> Finding:
    return Finding(check, "ok", found) if well else Finding(check, bad, otherwise, advice)


def examine(settings: Settings, given: Sequence[str] = ()) -> Iterator[Finding]:
    """Run every check, one after the other. A check that fails does not stop the next."""
    checks: tuple[tuple[str, Callable[[], Iterator[Finding]]], ...] = (
        ("python", check_python),
        ("settings", lambda: check_settings(settings, given)),
        ("versions", check_versions),
        ("kernels", check_kernels),
        ("server", lambda: check_server(settings)),
        ("lake", lambda: check_lake(settings)),
        ("jobs", lambda: check_jobs(settings)),
        ("nightly", check_flows),
    )
    for name, check in checks:
        try:
            yield from check()
        except Exception as error:  # noqa: BLE001 - a doctor reports whatever goes wrong
            text = str(error) if isinstance(error, NightgridError) else f"{error!r}"
            yield Finding(name, "failure", text, "see the error")


def check_settings(settings: Settings, given: Sequence[str] = ()) -> Iterator[Finding]:
    """Name the file of settings, and each setting that is said with where; no password is shown."""
    from nightgrid.service.options.setting_origins import origins
    from nightgrid.workers.settings_sources import CONFIG_NAME, config_path

    path = config_path()
    file = f"no {CONFIG_NAME} here, and NIGHTGRID_CONFIG is not set" if path is None else str(path)
    yield Finding("settings", "ok", file)
    for name, value, where in origins(settings, given):
        yield Finding("settings", "ok", f"{name} = {value} ({where})")


def check_python() -> Iterator[Finding]:
    """Look whether this Python is one the project runs on."""
    found = platform.python_version()
    least, most = SUPPORTED_PYTHONS
    fits = least <= sys.version_info[:2] <= most
    advice = "use Python 3.11, 3.12 or 3.13: make PYTHON=python3.12"
    yield _either("python", fits, found, found, advice)


def check_versions(constraints: Path = CONSTRAINTS) -> Iterator[Finding]:
    """Compare what is installed with what the project was tested with."""
    installed = _installed()
    for name, (major, minor) in _BROKEN_ABOVE.items():
        version = installed.get(name)
        if version and _leading(version) >= (major, minor):
            yield Finding(
                "versions",
                "failure",
                f"{name} {version} breaks Prefect 3.8",
                f"pip install '{name}<{major}.{minor}'",
            )
    if not constraints.exists():
        said = f"{len(installed)} packages; no constraints.txt to compare with"
        yield Finding("versions", "ok", said)
        return
    pins = _PIN.findall(constraints.read_text(encoding="ascii"))
    same = 0
    for name, pin in ((_name(name), pin) for name, pin in pins):
        version = installed.get(name, pin)
        same += installed.get(name) == pin
        if version != pin:
            yield Finding(
                "versions",
                "failure" if name in _direct() else "warning",
                f"{name} {version} is installed, {pin} was tested",
                f"pip install {name}=={pin} --constraint constraints.txt",
            )
    if same == sum(_name(name) in installed for name, _ in pins):
        yield Finding("versions", "ok", f"{same} packages as in constraints.txt")


def _installed() -> dict[str, str]:
    found = ((dist.metadata["Name"], dist.version) for dist in metadata.distributions())
    return {_name(name): version for name, version in found if name}


def _direct() -> set[str]:
    """Name the packages that this one asks for itself."""
    try:
        lines = metadata.requires("nightgrid") or []
    except metadata.PackageNotFoundError:
        return set()
    return {_name(match[0]) for line in lines if (match := _REQUIREMENT.match(line))}


def _name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _leading(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def check_kernels() -> Iterator[Finding]:
    """Compile or load the kernels; they need a folder to be kept in."""
    for name in GAMES:
        trouble = ""
        try:
            game(name).warm()
        except (RuntimeError, OSError, ImportError) as error:
            trouble = f"{name}: {error}"
        ready = f"{name} compiled or loaded, solver {game(name).solver_version}"
        advice = "set NUMBA_CACHE_DIR to a folder that can be written"
        yield _either("kernels", not trouble, ready, trouble, advice)


def check_server(settings: Settings) -> Iterator[Finding]:
    """Look for the server, and whether it keeps what it is told."""
    from nightgrid.workers.broker.redis_keys import connect, living, refusals
    from nightgrid.workers.cluster import server

    where = server.address(settings)
    if server.is_up(settings):
        with connect(settings) as client:
            about: dict[str, Any] = client.info()
            alive = living(client, settings)
            refusing = refusals(client, settings)
        yield Finding("server", "ok", f"{where}, version {about.get('redis_version')}")
        yield from check_persistence(about)
        yield _either(
            "workers", alive, f"{len(alive)} alive", "none alive", "nightgrid worker", "warning"
        )
        yield from check_served(alive)
        for worker, reason in sorted(refusing.items()):
            advice = "mend what it names, or stop this worker"
            yield Finding("workers", "failure", f"{worker} cannot work: {reason}", advice)
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
        yield _either(
            "workers",
            not others,
            f"{here}: {', '.join(sorted(served.values()))}",
            f"{here}: {', '.join(sorted(others.values()))} is not this program's solver",
            "install one version on both: workers refuse runs of other solver versions",
            "warning",
        )


def check_persistence(about: dict[str, Any]) -> Iterator[Finding]:
    """Look in a server's INFO whether it keeps queued work over a restart and when it is full."""
    yield _either(
        "persistence",
        int(about.get("aof_enabled", 0)),
        "append-only file is on",
        "append-only file is off: queued work is lost with the server",
        "redis-cli CONFIG SET appendonly yes, and appendonly yes in its configuration",
    )
    policy = about.get("maxmemory_policy", "unknown")
    yield _either(
        "persistence",
        policy == "noeviction",
        "evicts nothing",
        f"maxmemory-policy is {policy}: a full server drops queued work",
        "redis-cli CONFIG SET maxmemory-policy noeviction, and in its configuration",
    )


def check_lake(settings: Settings) -> Iterator[Finding]:
    """Write, replace, create, read and delete a file, and compare the schemas of the tables."""
    from nightgrid.archive.lake import place
    from nightgrid.archive.lake.local_commit import STAGING
    from nightgrid.archive.lake.storage import Lake

    try:
        place.check_lake(settings.lake)
    except PermanentError as error:
        yield Finding("lake", "failure", str(error), _AGAINST_PLACE)
        return
    if place.is_missing(settings.lake):
        yield Finding(
            "lake", "warning", f"there is no lake at {settings.lake} yet", _AGAINST_NO_LAKE
        )
    lake = Lake.open(settings.lake)
    base = Path(settings.lake)
    here = [] if "://" in settings.lake else [base, base / STAGING, base / "doctor"]
    made = [folder for folder in here if not folder.exists()]
    path = f"doctor/{uuid.uuid4().hex}.json"
    try:
        for text in (b"first\n", b"second\n"):
            lake.write_bytes(path, text)
        replaced = lake.read_bytes(path) == b"second\n"
        # What another has created must stay: runs of several drivers rest on it.
        kept = not lake.create_bytes(path, b"third\n") and lake.read_bytes(path) != b"third\n"
        lake.delete(path)
    except (NightgridError, OSError) as error:
        yield Finding("lake", "failure", str(error), _AGAINST_PLACE)
        return
    yield _either(
        "lake",
        replaced,
        f"{settings.lake} can be written, files are replaced at once",
        f"{settings.lake}: a replaced file still reads as before",
        "use a storage that replaces files at once",
    )
    yield _either(
        "lake: new files",
        kept,
        "a file that is there is not created again",
        f"{settings.lake}: a file that is there is replaced by one that is created",
        "use a storage that heeds If-None-Match, or one driver and one night at a time",
    )
    if not replaced:
        return
    yield from _check_schemas(lake, settings.lake)
    yield from _check_id(settings.lake)
    for folder in reversed(made):
        # A look leaves nothing behind; what another process has put there meanwhile stays.
        with contextlib.suppress(OSError):
            folder.rmdir()


def _check_schemas(lake: Any, url: str) -> Iterator[Finding]:
    from nightgrid.archive.lake.faults import DamagedFileError, NewerSchemaError
    from nightgrid.archive.lake.tables import READABLE_VERSIONS, SCHEMA_VERSION

    tables = ("puzzles", "editions", "quarantine", "results", "solutions", "gold")
    paths = [path for table in tables for path in lake.list(table) if path.endswith(".parquet")]
    readable = 0
    for path in paths:
        try:
            about = lake.schema(path).metadata or {}
        except NewerSchemaError as error:
            advice = f"use the nightgrid that wrote {url}, or move the file away"
            yield Finding("lake", "failure", str(error), advice)
            continue
        except DamagedFileError as error:
            yield Finding("lake", "failure", str(error), _AGAINST_DAMAGE)
            continue
        version = about.get(b"nightgrid.schema_version", b"none").decode()
        if version not in map(str, READABLE_VERSIONS):
            yield Finding(
                "lake",
                "failure",
                f"{path} has schema version {version}, this program {SCHEMA_VERSION}",
                f"use the nightgrid that wrote {url}, or move the file away",
            )
        else:
            readable += 1
    if readable or not paths:
        yield Finding("lake", "ok", f"{readable} tables that schema version {SCHEMA_VERSION} reads")


def check_jobs(settings: Settings) -> Iterator[Finding]:
    """Look for damaged records of on-demand jobs, each of which costs its own job alone."""
    from nightgrid.archive.lake.place import is_missing
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.workers.ondemand.records import list_set_aside, read_records

    if is_missing(settings.lake):
        return
    lake = Lake.open(settings.lake)
    records = read_records(lake)
    for why in records.bad.values():
        yield Finding("jobs", "warning", why, "a worker sets it aside; submit the job again")
    for path in list_set_aside(lake):
        found = f"{path}: the damaged record of a job, set aside"
        yield Finding("jobs", "warning", found, "submit the job again, or delete the file")
    if not records.bad:
        yield Finding("jobs", "ok", f"{plural(len(records.open), 'job')} on demand not done")


def _check_id(url: str) -> Iterator[Finding]:
    from nightgrid.archive.lake.identity import read_lake_id

    found = read_lake_id(url)
    none = "no id yet: the first worker, night, count or submit makes one"
    yield Finding("lake: id", "ok", none if found is None else found)


def check_flows() -> Iterator[Finding]:
    """Look whether the nightly job's engine is installed. A machine that only works needs none."""
    version = _installed().get("prefect")
    yield _either(
        "nightly",
        version,
        f"Prefect {version}",
        "Prefect is not installed: this machine can work but not run the nightly job",
        "in the folder of the clone: pip install '.[flows]' --constraint constraints.txt",
        "warning",
    )


def doctor(lake: LakeOption = None, json: Json = False) -> int:
    """Check server, persistence, lake, versions and kernels, and say what to do on each failure.

    Exit code: 0 all is well (warnings included), 1 something failed.
    """
    if lake == "":
        raise PermanentError("--lake is empty; expected a folder or a URL")
    from nightgrid.workers.settings import load_settings

    settings = load_settings(lake=lake)
    findings = []
    for finding in examine(settings, () if lake is None else ("lake",)):
        findings.append(finding)
        if json:
            emit(finding._asdict())
    failures = sum(finding.verdict == "failure" for finding in findings)
    if not json:
        say_table(("check", "", "found", "what to do"), findings)
        say(plural(failures, "failure") if failures else "All is well.")
    return Exit.FAILED if failures else Exit.OK
