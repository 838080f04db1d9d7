"""`nightgrid report`: the contents of a lake and the last night's findings, as one HTML file."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer

from nightgrid.service.options.shared_options import (
    Json,
    LakeOption,
    date_of,
    read_settings,
)
from nightgrid.service.terminal.console import emit, say
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.solvers.errors import PermanentError

PAGE_SUFFIXES = (".html", ".htm")


def report(
    lake: LakeOption = None,
    since: Annotated[
        dt.date | None,
        typer.Option(
            metavar="DATE",
            parser=date_of("--since"),
            help="First date of charts. Default: 60 days before the last.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Write FOLDER/index.html. Default: reports/report.html in the lake.",
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Write a report of a lake as one HTML file.

    The file is self-contained. Every night writes it into the lake; nightgrid serve shows it at
    /report.
    """
    from nightgrid.archive.lake.location import check_location
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.archive.lookup.boards import check_has_puzzles
    from nightgrid.service.report.page import PAGE, write_report

    if output is not None and output.suffix.lower() in PAGE_SUFFIXES and not output.is_dir():
        raise PermanentError(
            f"--output {output} names a file; expected a folder, in which {PAGE} is written"
        )
    if output is not None and output.exists() and not output.is_dir():
        raise PermanentError(f"--output {output} is not a folder")
    settings = read_settings(lake=lake, writes=False)
    if output is None:
        try:
            check_location(settings.lake)
        except PermanentError as error:
            raise PermanentError(f"{error}, or --output FOLDER, which only reads it") from error
    store = Lake.open(settings.lake)
    check_has_puzzles(store)
    try:
        place = write_report(store, since, output)
    except OSError as error:
        raise PermanentError(f"--output {output}: {error.strerror or error}") from error
    if place is None:
        raise PermanentError(f"{store.url} has no published board to report about")
    if json:
        emit({"report": place})
    else:
        say(f"Report: {place}")
    return Exit.OK
