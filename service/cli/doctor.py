"""`nightgrid doctor`: is everything here that is needed, and if not, what to do."""

from __future__ import annotations

from dataclasses import asdict

from nightgrid.service.options.shared_options import Json, LakeOption, read_settings
from nightgrid.service.terminal.console import emit, plural, say, say_table
from nightgrid.service.terminal.exits import Exit


def doctor(lake: LakeOption = None, json: Json = False) -> int:
    """Check server, persistence, lake, versions and kernels, and say what to do on each failure.

    Exit code: 0 all is well (warnings included), 1 something failed.
    """
    settings = read_settings(lake=lake)
    from nightgrid.service.cli.checks import examine

    findings = []
    for finding in examine(settings):
        findings.append(finding)
        if json:
            emit(asdict(finding))
    failures = sum(finding.verdict == "failure" for finding in findings)
    if not json:
        say_table(
            ("check", "", "found", "what to do"),
            [(f.check, f.verdict, f.found, f.advice) for f in findings],
        )
        say(plural(failures, "failure") if failures else "All is well.")
    return Exit.FAILED if failures else Exit.OK
