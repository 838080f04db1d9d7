"""`nightgrid query`: one SELECT over the views of a lake."""

from __future__ import annotations

from typing import Annotated

import typer

from nightgrid.service.options.reading import read_stdin
from nightgrid.service.options.shared_options import (
    SECONDS_MIN,
    FormatName,
    Json,
    LakeOption,
    OutputFile,
    read_settings,
)
from nightgrid.service.terminal.console import Exit, emit, note, say
from nightgrid.service.terminal.formats import Format, chosen_format, write_table
from nightgrid.solvers.errors import PermanentError

SECONDS_MAX = 86_400
MEMORY_MB_MAX = 1_048_576
SQL_BYTES_MAX = 1_000_000
"""Bytes of SQL that are read from standard input."""


def query(
    sql: Annotated[
        str | None,
        typer.Argument(
            metavar="SQL", help="One SELECT over the views; '-' reads it from standard input."
        ),
    ] = None,
    views: Annotated[
        bool, typer.Option("--views", help="List the views and their columns, and ask nothing.")
    ] = False,
    lake: LakeOption = None,
    format_: FormatName = None,
    output: OutputFile = None,
    seconds: Annotated[
        float,
        typer.Option(
            min=SECONDS_MIN, max=SECONDS_MAX, metavar="S", help="Seconds that the query may take."
        ),
    ] = 60.0,
    memory_mb: Annotated[
        int,
        typer.Option(
            min=16,
            max=MEMORY_MB_MAX,
            metavar="N",
            help="Megabytes that the query may take, and as many to read the lake.",
        ),
    ] = 1024,
    json: Json = False,
) -> int:
    """Ask a lake in SQL, over views of its tables.

    One SELECT, in DuckDB. A view has each row that counts once, whatever was merged, revised or run
    again. The query reads nothing but the views: no file, no network, no extension. Exit code: 0, 3
    for bad SQL and for a query that takes more than its bounds, 130 interrupted.
    """
    form = chosen_format(format_, output, json=json) or Format.TABLE
    if views:
        if sql is not None:
            raise PermanentError("--views lists the views and takes no SQL")
        if form not in (Format.TABLE, Format.JSON) or output is not None:
            raise PermanentError("--views lists the views as lines or with --json")
        _list(json=form is Format.JSON)
        return Exit.OK
    text = _given(sql)

    from nightgrid.archive.lake.storage import Lake
    from nightgrid.archive.lookup.boards import check_has_puzzles
    from nightgrid.archive.views.sql import Bounds, ask

    store = Lake.open(read_settings(lake=lake, writes=False).lake)
    # A lake that answers submitted jobs alone has no puzzles.
    check_has_puzzles(store, "results")
    answer = ask(store, text, Bounds(seconds=seconds, memory_bytes=memory_mb * 2**20))
    count = write_table(answer.tables, answer.schema, form, output)
    if not count and form is Format.TABLE:
        note(f"no row of {store.url} matches")
    return Exit.OK


def _list(*, json: bool) -> None:
    """List the views and their columns: for people a line each, else an object a column."""
    from nightgrid.archive.views.catalogue import listed
    from nightgrid.archive.views.catalogue import views as all_views

    rows = listed()
    if json:
        for row in rows:
            emit(dict(zip(("view", "column", "type", "meaning"), row, strict=True)))
        return
    names, kinds = (max(len(row[i]) for row in rows) for i in (1, 2))
    for view in all_views().values():
        say(f"{view.name}: {view.line}")
        for _, column, kind, meaning in (row for row in rows if row[0] == view.name):
            say(f"  {column:<{names}}  {kind:<{kinds}}  {meaning}".rstrip())


def _given(sql: str | None) -> str:
    if sql is None:
        raise PermanentError(
            "there is no SQL; expected one SELECT; nightgrid query --views lists what there is"
        )
    if sql != "-":
        return sql
    data = read_stdin("a SELECT", SQL_BYTES_MAX)
    if len(data) > SQL_BYTES_MAX:
        raise PermanentError(f"the SQL is longer than {SQL_BYTES_MAX:,} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PermanentError(f"the SQL is not UTF-8 at byte {error.start}") from error
