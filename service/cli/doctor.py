"""`nightgrid doctor`: each check tells what it found, and what to do about what is not well."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from nightgrid.service.cli.checks import (
    Finding,
    check_flows,
    check_jobs,
    check_kernels,
    check_lake,
    check_python,
    check_server,
    check_versions,
)
from nightgrid.service.options.shared_options import Json, LakeOption
from nightgrid.service.terminal.colour import console
from nightgrid.service.terminal.console import Exit, emit, say
from nightgrid.solvers.errors import NightgridError, PermanentError
from nightgrid.solvers.sentences import plural, without_credentials

if TYPE_CHECKING:
    from nightgrid.workers.settings import Settings

_COLOURS = {"ok": "green", "warning": "yellow", "failure": "red"}


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
    from nightgrid.workers.settings_sources import CONFIG_NAME, config_path

    path = config_path()
    file = f"no {CONFIG_NAME} here, and NIGHTGRID_CONFIG is not set" if path is None else str(path)
    yield Finding("settings", "ok", file)
    for name, value, where in origins(settings, given):
        yield Finding("settings", "ok", f"{name} = {value} ({where})")


def origins(settings: Settings, given: Collection[str] = ()) -> list[tuple[str, str, str]]:
    """List the settings that have a source: (name, value without its password, source)."""
    from pydantic import SecretStr

    from nightgrid.workers.settings import setting_fields
    from nightgrid.workers.settings_sources import config_path, read_config, variable

    path = config_path()
    told = read_config(path, setting_fields())
    found = []
    for name in setting_fields():
        value = getattr(settings, name)
        text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
        if name in given:
            found.append((name, without_credentials(text), "option"))
        elif os.environ.get(variable(name)):
            found.append((name, without_credentials(text), "environment"))
        elif name in told:
            found.append((name, without_credentials(text), str(path)))
    return found


def say_findings(findings: Sequence[Finding]) -> None:
    """Write a line for each finding, and below it what to do; the terminal breaks long ones."""
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

    Exit code: 0 all is well, warnings included, 1 something failed.
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
