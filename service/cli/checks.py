"""What `nightgrid doctor` looks at: packages, kernels, the server and its workers, the lake."""

from __future__ import annotations

import platform
import re
import sys
import uuid
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from nightgrid.solvers.errors import NightgridError, PermanentError
from nightgrid.solvers.registry import GAMES, game
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.workers.settings import Settings

Verdict = Literal["ok", "warning", "failure"]
SUPPORTED_PYTHONS = ((3, 11), (3, 13))
CONSTRAINTS = Path(__file__).resolve().parents[2] / "constraints.txt"
"""Where the versions stand that the project was tested with: in a checkout, not in a wheel."""
_PIN = re.compile(r"([A-Za-z0-9._-]+)==([^\s;]+)")
_AGAINST_REFUSAL = (
    "redis://USER:PASSWORD@HOST:PORT/0, without USER where there are none; of PASSWORD, @ is "
    "written %40, / %2F and a space %20"
)
_AGAINST_PLACE = "give --lake or NIGHTGRID_LAKE a folder or URL that can be written"
_AGAINST_NO_LAKE = (
    "name one with --lake or NIGHTGRID_LAKE; the first night, count or worker makes a new one"
)
_AGAINST_READ_ONLY = (
    "list, show, query, result, status and lake check work; nights, counts, submits, workers and "
    "the HTTP service need a lake that this user may write"
)
_AGAINST_REPLACED = (
    "use a storage that heeds If-None-Match: nights, counts, submits, workers and the HTTP service "
    "refuse this one; docs/how-to/use-object-storage.md lists servers"
)
_AGAINST_DAMAGE = "nightgrid lake check says what is damaged, nightgrid lake repair mends it"


class Finding(NamedTuple):
    """What one check found. `advice` says what to do and is empty when all is well."""

    check: str
    verdict: Verdict
    found: str
    advice: str = ""


def either(
    check: str, well: object, found: str, otherwise: str, advice: str, bad: Verdict = "failure"
) -> Finding:
    """Make the finding of a check that asks one thing; `bad` is the verdict where it is not so."""
    return Finding(check, "ok", found) if well else Finding(check, bad, otherwise, advice)


def check_python() -> Iterator[Finding]:
    """Check that the project runs on this Python."""
    found, (least, most) = platform.python_version(), SUPPORTED_PYTHONS
    advice = "use Python 3.11, 3.12 or 3.13: make PYTHON=python3.12"
    yield either("python", least <= sys.version_info[:2] <= most, found, found, advice)


def check_versions(constraints: Path = CONSTRAINTS) -> Iterator[Finding]:
    """Compare what is installed with what the project was tested with."""
    if not constraints.exists():
        yield Finding("versions", "ok", "no constraints.txt to compare with")
        return
    pins = {_name(n): pin for n, pin in _PIN.findall(constraints.read_text(encoding="ascii"))}
    named = ((dist.metadata["Name"], dist.version) for dist in metadata.distributions())
    # A package that was half removed has no name.
    installed = {_name(name): version for name, version in named if name}
    # Python itself puts these into an environment.
    both = pins.keys() & installed.keys() - {"pip", "setuptools", "wheel"}
    others = sorted(name for name in both if installed[name] != pins[name])
    for name in others:
        yield Finding(
            "versions",
            "warning",
            f"{name} {installed[name]} is installed, {pins[name]} was tested",
            f"pip install {name}=={pins[name]} --constraint constraints.txt",
        )
    if not others:
        yield Finding("versions", "ok", f"{len(both)} packages as in constraints.txt")


def _name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def check_kernels() -> Iterator[Finding]:
    """Compile or load the kernels; they need a folder to be kept in."""
    for name in GAMES:
        try:
            game(name).warm()
        except (RuntimeError, OSError, ImportError) as error:
            advice = "set NUMBA_CACHE_DIR to a folder that can be written"
            yield Finding("kernels", "failure", f"{name}: {error}", advice)
        else:
            ready = f"{name} compiled or loaded, solver {game(name).solver_version}"
            yield Finding("kernels", "ok", ready)


def check_flows() -> Iterator[Finding]:
    """Check that what runs the nightly job is installed. A machine that only works needs none."""
    try:
        yield Finding("nightly", "ok", f"Prefect {metadata.version('prefect')}")
    except metadata.PackageNotFoundError:
        yield Finding(
            "nightly",
            "warning",
            "Prefect is not installed: this machine can work but not run the nightly job",
            "in the folder of the clone: pip install '.[flows]' --constraint constraints.txt",
        )


def check_server(settings: Settings) -> Iterator[Finding]:
    """Check that the server answers and persists what is written to it, and who works there."""
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
    elif (refusal := server.refusal(settings)) is not None:
        yield Finding("server", "failure", refusal, _AGAINST_REFUSAL)
    elif server.is_embedded(settings):
        yield Finding("server", "ok", f"embedded, not started: {server.server_binary()}")
        kept = "the embedded server always appends to a file and evicts nothing"
        yield Finding("persistence", "ok", kept)
    else:
        advice = "start it, or change or unset NIGHTGRID_REDIS_URL (unset: embedded server)"
        yield Finding("server", "failure", f"{where} does not answer", advice)


def check_served(alive: dict[str, dict[str, Any]]) -> Iterator[Finding]:
    """Return which lake and solvers workers serve; warn of those that would refuse work."""
    here = {name: game(name).solver_version for name in GAMES}
    for worker, about in sorted(alive.items()):
        served = about.get("solvers", {})
        others = sorted(v for name, v in served.items() if v != here.get(name))
        at = f"{worker} on {about.get('host')}, lake {about.get('lake')}"
        if served:
            yield either(
                "workers",
                not others,
                f"{at}: {', '.join(sorted(served.values()))}",
                f"{at}: {', '.join(others)} is not this program's solver",
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


def check_lake(settings: Settings) -> Iterator[Finding]:
    """Try what commands do with files of the lake, and read the schemas of the tables.

    A lake that may be read and not written is a warning: commands that only read work.
    """
    from nightgrid.archive.lake import location
    from nightgrid.archive.lake.identity import read_lake_id
    from nightgrid.archive.lake.storage import Lake

    url = settings.lake
    is_missing = location.is_missing(url)
    try:
        location.check_location(url, writes=is_missing)
    except PermanentError as error:
        yield Finding("lake", "failure", str(error), _AGAINST_PLACE)
        return
    if is_missing:
        yield Finding("lake", "warning", f"there is no lake at {url} yet", _AGAINST_NO_LAKE)
        return
    lake = Lake.open(url)
    yield from _try_files(lake, url)
    yield from _check_schemas(lake, url)
    none = "no id yet: the first worker, night, count or submit makes one"
    yield Finding("lake: id", "ok", read_lake_id(url) or none)


def _try_files(lake: Lake, url: str) -> Iterator[Finding]:
    """Write, create and delete a file. What another has created must stay: runs rely on it."""
    from nightgrid.archive.lake import location
    from nightgrid.archive.lake.faults import LakeRefusesError, NotExclusiveError

    path = f"doctor-{uuid.uuid4().hex}.json"
    try:
        location.check_location(url)
        lake.write_bytes(path, b"first\n")
        try:
            kept = not lake.create_bytes(path, b"second\n")
        except NotExclusiveError:
            kept = False
        lake.delete(path)
    except (LakeRefusesError, PermanentError) as error:
        found = f"{url} can be read, not written: {error}"
        yield Finding("lake", "warning", found, _AGAINST_READ_ONLY)
    except (NightgridError, OSError) as error:
        yield Finding("lake", "failure", str(error), _AGAINST_PLACE)
    else:
        yield Finding("lake", "ok", f"{url} can be written")
        yield either(
            "lake: new files",
            kept,
            "a file that is there is not created again",
            f"{url}: a file that is there is replaced by one that is created",
            _AGAINST_REPLACED,
        )


def _check_schemas(lake: Lake, url: str) -> Iterator[Finding]:
    from nightgrid.archive.lake.faults import DamagedFileError, NewerSchemaError
    from nightgrid.archive.lake.tables import SCHEMA_VERSION

    tables = ("puzzles", "editions", "quarantine", "results", "solutions", "gold")
    paths = [path for table in tables for path in lake.list(table) if path.endswith(".parquet")]
    readable = 0
    for path in paths:
        try:
            lake.schema(path)
            readable += 1
        except NewerSchemaError as error:
            advice = f"use the nightgrid that wrote {url}, or move the file away"
            yield Finding("lake", "failure", str(error), advice)
        except DamagedFileError as error:
            yield Finding("lake", "failure", str(error), _AGAINST_DAMAGE)
    if readable or not paths:
        yield Finding(
            "lake", "ok", f"{plural(readable, 'table')} that schema version {SCHEMA_VERSION} reads"
        )


def check_jobs(settings: Settings) -> Iterator[Finding]:
    """Look for damaged submissions of jobs on demand, each of which costs its own job alone."""
    from nightgrid.archive.lake.location import is_missing
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.workers.ondemand.submissions import open_jobs

    if is_missing(settings.lake):
        return
    found = open_jobs(Lake.open(settings.lake))
    for why in found.damaged.values():
        yield Finding("jobs", "warning", why, "the keeper sets it aside; submit the job again")
    if not found.damaged:
        yield Finding("jobs", "ok", f"{plural(len(found.wanted), 'job')} on demand not done")
