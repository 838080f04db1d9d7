"""Tables for people and programs: drawn, or as CSV, JSON or Parquet, row by row.

Rows are streamed in Arrow tables, and none is held longer than it takes to write it: a million rows
need no more memory than some thousands.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from nightgrid.service.terminal.console import duration, say_table
from nightgrid.service.terminal.encoded import csv_pieces, json_pieces, parquet_pieces
from nightgrid.solvers.errors import PermanentError

if TYPE_CHECKING:
    import pyarrow as pa

TABLE_ROWS = 1_000
"""Most rows of one drawn table, which is laid out once it has all of them; further rows go into
further tables."""


class Format(StrEnum):
    """Format of a table."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


def chosen_format(given: Format | None, output: Path | None, *, json: bool) -> Format | None:
    """Return the format by --format, --json and the name of --output, or None.

    Raises PermanentError for two formats at once, for an invalid output, for a drawn table in a
    file, and for Parquet, which is binary, on a terminal.
    """
    if json and given not in (None, Format.JSON):
        raise PermanentError(f"--json and --format {given} exclude one another; give one of them")
    chosen = Format.JSON if json else given
    if output is not None:
        if chosen is None:
            chosen = {f".{kind}": kind for kind in Format}.get(output.suffix.lower())
        if chosen in (None, Format.TABLE):
            raise PermanentError(f"--output {output} needs --format csv, json or parquet")
        if output.is_dir() or not output.parent.is_dir():
            raise PermanentError(f"--output {output} is not a writable file")
    elif chosen is Format.PARQUET and sys.stdout.isatty():
        raise PermanentError("--format parquet is not for a terminal; add --output FILE, or a pipe")
    return chosen


def write_table(
    tables: Iterable[pa.Table],
    schema: pa.Schema,
    form: Format,
    output: Path | None = None,
    *,
    shown: Mapping[str, str] | None = None,
) -> int:
    """Write tables of one schema one after the other; return their number of rows.

    `shown` maps the columns of a drawn table to headings; None: all, by name. "A|B" is the value of
    A, or else of B. JSON is one object a line. A file is only replaced once it is completely
    written.
    """
    if form is Format.TABLE:
        return _draw(tables, schema, shown)
    rows = 0

    def counted() -> Iterator[pa.Table]:
        nonlocal rows
        for table in tables:
            rows += len(table)
            yield table

    if form is Format.PARQUET:
        pieces = parquet_pieces(counted(), schema)
    elif form is Format.CSV:
        pieces = csv_pieces(counted(), schema)
    else:
        pieces = json_pieces(counted())
    with _sink(output) as sink:
        for piece in pieces:
            sink.write(piece)
    return rows


def _draw(tables: Iterable[pa.Table], schema: pa.Schema, shown: Mapping[str, str] | None) -> int:
    import pyarrow as pa

    # By index, since the names of a query's columns may repeat.
    columns, headings = [[i] for i in range(len(schema))], list(schema.names)
    if shown is not None:
        columns = [[schema.names.index(name) for name in key.split("|")] for key in shown]
        headings = list(shown.values())
    numbers = [
        heading
        for heading, (first, *_) in zip(headings, columns, strict=True)
        if pa.types.is_integer(kind := schema.field(first).type)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
    ]
    times = [shown is not None and schema.names[first] == "seconds" for first, *_ in columns]
    cells = (
        [_cell(_first(row, of), is_time=time) for of, time in zip(columns, times, strict=True)]
        for table in tables
        for batch in table.to_batches(max_chunksize=TABLE_ROWS)
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    )
    rows = 0
    while part := list(itertools.islice(cells, TABLE_ROWS)):
        say_table(headings, part, numbers=numbers, whole=1)
        rows += len(part)
    return rows


def _first(row: Sequence[Any], columns: Sequence[int]) -> Any:
    """Return the first non-empty value of some columns of a row."""
    return next((row[i] for i in columns if row[i] not in (None, "")), None)


def _cell(value: Any, *, is_time: bool) -> str:
    if value is None:
        return ""
    if is_time:
        # Most boards of Pips take less than a millisecond.
        return duration(round(value * 1e9))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or (
        isinstance(value, Decimal) and value == value.to_integral_value()
    ):
        return f"{int(value):,}"
    if isinstance(value, float):
        return f"{value:,.3f}"
    return " ".join(str(value).split())


@contextmanager
def _sink(output: Path | None) -> Iterator[IO[bytes]]:
    if output is None:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    part = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as sink:
            yield sink
        part.replace(output)
    except OSError as error:
        raise PermanentError(f"--output {output}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)
