"""`nightgrid query`: one SELECT over the views of a lake."""

from __future__ import annotations

from typing import Annotated

import typer

from nightgrid.service.options.reading import STDIN, read_input
from nightgrid.service.options.shared_options import (
    SECONDS_MIN,
    FormatName,
    Json,
    LakeOption,
    OutputFile,
    read_settings,
)
from nightgrid.service.terminal.console import note
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.service.terminal.formats import Format, chosen_format, write_table
from nightgrid.solvers.errors import PermanentError

SECONDS_MAX = 86_400
MEMORY_MB_MAX = 1_048_576


def query(
    sql: Annotated[
        str | None,
        typer.Argument(
            metavar="SQL", help="One SELECT over the views; '-' reads it from standard input."
        ),
    ] = None,
    views: Annotated[
        bool, typer.Option("--views", help="List the views and their columns instead.")
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
    """Query a lake in SQL, over views of its tables.

    One SELECT, in DuckDB. A view has each current row once, whatever was merged, revised or run
    again. The query can only read the views: no files, no network, no extensions. Exit code: 0, 3
    for bad SQL and for a query that exceeds its limits, 130 interrupted.
    """
    form = chosen_format(format_, output, json=json) or Format.TABLE
    if views:
        if sql is not None:
            raise PermanentError("--views lists the views and takes no SQL")
        import pyarrow as pa

        from nightgrid.archive.views import catalogue

        # List a view before its columns.
        heads = [(view.name, "", "", view.line) for view in catalogue.views().values()]
        rows = sorted([*heads, *catalogue.listed()], key=lambda row: (row[0], row[1] != ""))
        names = ("view", "column", "type", "meaning")
        table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])
        write_table([table], table.schema, form, output)
        return Exit.OK
    text = _given(sql)

    from nightgrid.archive.lake.storage import Lake
    from nightgrid.archive.lookup.boards import check_has_puzzles
    from nightgrid.archive.views.sql import Bounds, ask

    store = Lake.open(read_settings(lake=lake, writes=False).lake)
    # A lake that only answers submitted jobs has no puzzles.
    check_has_puzzles(store, "results")
    answer = ask(store, text, Bounds(seconds=seconds, memory_bytes=memory_mb * 2**20))
    count = write_table(answer.tables, answer.schema, form, output)
    if not count and form is Format.TABLE:
        note(f"no row of {store.url} matches")
    return Exit.OK


def _given(sql: str | None) -> str:
    if sql is None:
        raise PermanentError(
            "there is no SQL; expected one SELECT; nightgrid query --views lists the views"
        )
    if sql != STDIN:
        return sql
    data, _ = read_input(STDIN, "a SELECT")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PermanentError(f"the SQL is not UTF-8 at byte {error.start}") from error
