"""`nightgrid list`: the puzzles, results and quarantine of a lake, row by row."""

from __future__ import annotations

from typing import Annotated

import typer

from nightgrid.service.options.shared_options import (
    FormatName,
    Games,
    Json,
    LakeOption,
    OutputFile,
    Since,
    Until,
    check_order,
    one_of,
    read_settings,
)
from nightgrid.service.terminal.console import note
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.service.terminal.formats import Format, chosen_format, write_table
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import GAMES

KINDS = ("puzzles", "results", "quarantine")
SHOWN = {
    "puzzles": {
        "puzzle": "puzzle",
        "size": "size",
        "revision": "revision",
        "puzzle_id": "puzzle id",
    },
    "results": {
        "puzzle": "puzzle",
        "ask": "ask",
        "status": "status",
        "count": "count",
        "seconds": "time",
        "reason|hint": "why",
    },
    "quarantine": {
        "rule": "rule",
        "game": "game",
        "date": "date",
        "source": "file",
        "place": "place",
        "message": "message",
    },
}
"""Columns of the drawn tables, with their headings; the other formats have all columns."""
STATUSES = tuple(map(str, Status))


def list_rows(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="puzzles|results|quarantine",
            help="What to list.",
        ),
    ] = None,
    game: Games = None,
    status: Annotated[
        str | None,
        typer.Option(
            metavar="STATUS,...",
            help=f"Results with these statuses: {', '.join(STATUSES)}.",
        ),
    ] = None,
    since: Since = None,
    until: Until = None,
    lake: LakeOption = None,
    format_: FormatName = None,
    output: OutputFile = None,
    json: Json = False,
) -> int:
    """List the puzzles, results or quarantine of a lake.

    With --from or --to, rows without a date are left out. Each row names its puzzle by a reference,
    which show, solve, submit and result accept. The table has the most useful columns, the other
    formats have all. Memory use does not grow with the list.
    """
    if what not in KINDS:
        named = "is missing" if what is None else f"is {what!r:.40}"
        raise PermanentError(f"what to list {named}; expected {one_of(KINDS)}")
    if status is not None and what != "results":
        raise PermanentError(f"--status is of results, not of {what}")
    statuses = _statuses(status)
    form = chosen_format(format_, output, json=json) or Format.TABLE
    check_order(since, until)

    from nightgrid.archive.lake.storage import Lake
    from nightgrid.archive.lookup.boards import check_has_puzzles
    from nightgrid.archive.lookup.listing import LISTS
    from nightgrid.archive.lookup.row_filter import RowFilter

    store = Lake.open(read_settings(lake=lake, writes=False).lake)
    # A lake that only answers submitted jobs has no puzzles.
    check_has_puzzles(store, *(["results"] if what == "results" else []))
    schema, rows_of = LISTS[what]
    wanted = RowFilter(
        games=tuple(game or GAMES), statuses=frozenset(statuses), since=since, until=until
    )
    rows = write_table(rows_of(store, wanted), schema, form, output, shown=SHOWN[what])
    if not rows and form is Format.TABLE:
        one = what.removesuffix("s")
        nothing = f"no {one}" if what != "quarantine" else "nothing in quarantine"
        note(f"{nothing} of {store.url} matches")
    return Exit.OK


def _statuses(text: str | None) -> tuple[str, ...]:
    if text is None:
        return STATUSES
    named = tuple(name.strip().lower().replace("-", "_") for name in text.split(","))
    unknown = [name for name in named if name not in STATUSES]
    if unknown:
        raise PermanentError(f"--status is {text!r:.60}; expected {one_of(STATUSES)}")
    return named
