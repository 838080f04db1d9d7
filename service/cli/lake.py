"""`nightgrid lake check` and `nightgrid lake repair`: what is wrong with the files of a lake."""

from __future__ import annotations

from contextlib import closing
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from nightgrid.service.options.shared_options import Json, LakeOption, read_settings
from nightgrid.service.terminal.console import Exit, emit, say, say_table
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.flows.care.check import OnFile


class Action(StrEnum):
    """What is done with the lake."""

    CHECK = "check"
    REPAIR = "repair"


def care_for_lake(
    action: Annotated[
        Action,
        typer.Argument(
            metavar="check|repair",
            help="check reads every file and changes nothing; repair mends what can be mended.",
        ),
    ],
    lake: LakeOption = None,
    json: Json = False,
) -> int:
    """Check every file of a lake, or repair it.

    check reads everything: checksums of pages and of rows, hashes of payloads and words, and
    whether tables have what other files say that they should. repair moves damaged files to
    damaged/ and makes again what other files tell: tables from the raw payloads, results from the
    chunk results of their runs. It may be killed anywhere and run again, and refuses while a night
    is at work. Neither touches files that are none of the lake's. Exit code: 0 nothing is wrong (or
    is any more), 5 something is, 1 the lake is of a later version or a night is at work on it.
    """
    from nightgrid.archive.lake.place import check_lake, is_missing
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.service.terminal.progress import MovingLine

    url = read_settings(lake=lake).lake
    check_lake(url)
    if is_missing(url):
        raise PermanentError(f"there is no lake at {url}; expected one to {action}")
    with closing(MovingLine(transient=True)) as line:

        def on_file(done: int, total: int) -> None:
            line.show(done, total, lambda: f"{done:,} of {total:,} files")

        run = _check if action is Action.CHECK else _repair
        return run(Lake.open(url), on_file, json=json)


def _check(lake: Lake, on_file: OnFile, *, json: bool) -> int:
    from nightgrid.flows.care.check import check_lake_files

    findings = list(check_lake_files(lake, on_file))
    if json:
        for found in findings:
            emit(found.to_json())
    elif findings:
        rows = [(found.fault, found.path, f"{found.what}: {found.advice}") for found in findings]
        say_table(("fault", "file", "what, and what is done about it"), rows, whole=1)
        say(f"{plural(len(findings), 'fault')}; nightgrid lake repair mends what can be mended.")
    else:
        say(f"Nothing is wrong with {lake.url}.")
    return Exit.LOOK if findings else Exit.OK


def _repair(lake: Lake, on_file: OnFile, *, json: bool) -> int:
    from nightgrid.flows.care.repair import repair_lake

    told = list(repair_lake(lake, on_file))
    if json:
        for mended in told:
            emit(mended.to_json())
    elif told:
        rows = [("mended" if one.mended else "left", one.path, one.what) for one in told]
        say_table(("", "file", "what was done"), rows, whole=1)
    else:
        say(f"Nothing is wrong with {lake.url}.")
    return Exit.OK if all(one.mended for one in told) else Exit.LOOK
