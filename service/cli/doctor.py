"""`nightgrid doctor`: checks that report what they found, and how to fix what is wrong."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from nightgrid.service.options.shared_options import Json, LakeOption
from nightgrid.service.terminal.colour import console
from nightgrid.service.terminal.console import emit, say
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.solvers.errors import NightgridError, PermanentError
from nightgrid.solvers.registry import GAMES, game
from nightgrid.solvers.sentences import plural, without_credentials

if TYPE_CHECKING:
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.workers.settings import Settings

Verdict = Literal["ok", "warning", "failure"]
_COLOURS = {"ok": "green", "warning": "yellow", "failure": "red"}
_AGAINST_REFUSAL = (
    "redis://USER:PASSWORD@HOST:PORT/0, without USER if there is none; of PASSWORD, @ is "
    "written %40, / %2F and a space %20"
)
_AGAINST_PLACE = "set --lake or NIGHTGRID_LAKE to a writable folder or URL"
_AGAINST_NO_LAKE = (
    "name one with --lake or NIGHTGRID_LAKE; the first night, count or worker creates a new one"
)
_AGAINST_READ_ONLY = (
    "list, show, query, result, status and lake check work; nights, counts, submits, workers and "
    "the HTTP service need a lake that this user may write"
)
_AGAINST_REPLACED = (
    "use a storage with If-None-Match: nights, counts, submits, workers and the HTTP service "
    "refuse this one; docs/how-to/use-object-storage.md lists servers"
)


class Finding(NamedTuple):
    """The result of one check. `advice` says what to do; it is empty if all is well."""

    check: str
    verdict: Verdict
    found: str
    advice: str = ""


def either(
    check: str, well: object, found: str, otherwise: str, advice: str, bad: Verdict = "failure"
) -> Finding:
    """Return the finding of a yes-or-no check; `bad` is the verdict for no."""
    return Finding(check, "ok", found) if well else Finding(check, bad, otherwise, advice)


def examine(settings: Settings, given: Sequence[str] = ()) -> Iterator[Finding]:
    """Run every check, one after the other. A failing check does not stop the next."""
    checks: tuple[tuple[str, Callable[[], Iterator[Finding]]], ...] = (
        ("settings", lambda: check_settings(settings, given)),
        ("kernels", check_kernels),
        ("server", lambda: check_server(settings)),
        ("lake", lambda: check_lake(settings)),
    )
    for name, check in checks:
        try:
            yield from check()
        except Exception as error:  # noqa: BLE001 - a doctor reports whatever goes wrong
            text = str(error) if isinstance(error, NightgridError) else f"{error!r}"
            yield Finding(name, "failure", text, "see the error")


def check_settings(settings: Settings, given: Collection[str] = ()) -> Iterator[Finding]:
    """Report the settings file, and each setting that is set and where, without passwords."""
    from pydantic import SecretStr

    from nightgrid.workers.settings import setting_fields
    from nightgrid.workers.settings_sources import CONFIG_NAME, config_path, read_config, variable

    path = config_path()
    file = f"no {CONFIG_NAME} here, and NIGHTGRID_CONFIG is not set" if path is None else str(path)
    yield Finding("settings", "ok", file)
    told = read_config(path, setting_fields())
    for name in setting_fields():
        value = getattr(settings, name)
        text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
        if name in given:
            where = "option"
        elif os.environ.get(variable(name)):
            where = "environment"
        elif name in told:
            where = str(path)
        else:
            continue
        yield Finding("settings", "ok", f"{name} = {without_credentials(text)} ({where})")


def check_kernels() -> Iterator[Finding]:
    """Compile or load the kernels, which need a cache folder."""
    for name in GAMES:
        try:
            game(name).warm()
        except (RuntimeError, OSError, ImportError) as error:
            advice = "set NUMBA_CACHE_DIR to a writable folder"
            yield Finding("kernels", "failure", f"{name}: {error}", advice)
        else:
            ready = f"{name} compiled or loaded, solver {game(name).solver_version}"
            yield Finding("kernels", "ok", ready)


def check_server(settings: Settings) -> Iterator[Finding]:
    """Check that the server answers and persists its data, and report its workers."""
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
        for worker, reason in sorted(refusing.items()):
            advice = "fix what it names, or stop this worker"
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


def check_persistence(about: dict[str, Any]) -> Iterator[Finding]:
    """Check in a server's INFO whether queued work survives a restart and a full memory."""
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
    """Try the file operations of commands on the lake.

    A read-only lake is only a warning, since commands that only read still work.
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
    lake.folders("")
    yield from _try_files(lake, url)
    none = "no id yet: the first worker, night, count or submit creates one"
    yield Finding("lake: id", "ok", read_lake_id(url) or none)


def _try_files(lake: Lake, url: str) -> Iterator[Finding]:
    """Write, create and delete a file. Creating an existing file must fail: runs rely on it."""
    from nightgrid.archive.lake import location
    from nightgrid.archive.lake.faults import LakeRefusesError, NotExclusiveError

    path = f"doctor-{uuid.uuid4().hex}.json"
    try:
        location.check_location(url)
        lake.write_bytes(path, b"first\n")
        try:
            kept = not lake.write_bytes(path, b"second\n", new=True)
        except NotExclusiveError:
            kept = False
        lake.delete(path)
    except (LakeRefusesError, PermanentError) as error:
        found = f"{url} is readable, but not writable: {error}"
        yield Finding("lake", "warning", found, _AGAINST_READ_ONLY)
    except (NightgridError, OSError) as error:
        yield Finding("lake", "failure", str(error), _AGAINST_PLACE)
    else:
        yield Finding("lake", "ok", f"{url} is writable")
        yield either(
            "lake: new files",
            kept,
            "an existing file is not created again",
            f"{url}: a new file replaces an existing one",
            _AGAINST_REPLACED,
        )


def say_findings(findings: Sequence[Finding]) -> None:
    """Print a line for each finding, followed by the advice; the terminal wraps long ones."""
    from rich.text import Text

    out = console()
    indent = max((len(finding.check) for finding in findings), default=0) + 2
    for finding in findings:
        colour = _COLOURS[finding.verdict]
        found = f"{finding.check:<{indent}}{finding.found}"
        out.print(Text.assemble((f"{finding.verdict:<9}", colour), found), soft_wrap=True)
        if finding.advice:
            advice = Text(f"{'':<{9 + indent}}to do: {finding.advice}", style=colour)
            out.print(advice, soft_wrap=True)


def doctor(lake: LakeOption = None, json: Json = False) -> int:
    """Check that everything needed is here, and say what to do.

    Exit code: 0 all is well, including warnings, 1 something failed.
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
        say_findings(findings)
        say(plural(failures, "failure") if failures else "All is well.")
    return Exit.FAILED if failures else Exit.OK
