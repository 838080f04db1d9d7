"""Tables as the bytes of CSV, JSON lines, Parquet or an Arrow stream, piece by piece.

Tables of one schema are streamed, and none is held longer than it takes to write it.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import math
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from nightgrid.service.terminal.console import json_line

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1_000
"""Most rows that are Python objects at once."""


def plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a row to JSON values: a count becomes an integer, a date a string."""
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        # JSON has neither infinities nor NaN.
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.hex() if isinstance(value, bytes) else str(value)


def json_pieces(tables: Iterable[pa.Table]) -> Iterator[bytes]:
    """Yield one JSON object a line."""
    for table in tables:
        for batch in table.to_batches(max_chunksize=BATCH_ROWS):
            rows = map(plain_row, batch.to_pylist())
            yield "".join(f"{json_line(row)}\n" for row in rows).encode()


def csv_pieces(tables: Iterable[pa.Table], schema: pa.Schema) -> Iterator[bytes]:
    """Yield CSV, with the names of the columns in its first line."""
    yield _csv([schema.names])
    for table in tables:
        for batch in table.to_batches(max_chunksize=BATCH_ROWS):
            yield _csv(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def _csv(rows: Iterable[Iterable[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8", "replace")


def parquet_pieces(tables: Iterable[pa.Table], schema: pa.Schema) -> Iterator[bytes]:
    """Yield one Parquet file, with one or more row groups for each table."""
    import pyarrow.parquet as pq

    sink = _Pieces()
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for table in tables:
            writer.write_table(table)
            yield sink.taken()
    yield sink.taken()


def arrow_pieces(tables: Iterable[pa.Table], schema: pa.Schema) -> Iterator[bytes]:
    """Yield a stream in Arrow's IPC format."""
    import pyarrow as pa

    sink = _Pieces()
    with pa.ipc.new_stream(sink, schema) as writer:
        yield sink.taken()
        for table in tables:
            writer.write_table(table, max_chunksize=BATCH_ROWS)
            yield sink.taken()
    yield sink.taken()


class _Pieces(io.RawIOBase):
    """A file that buffers what is written to it until it is taken."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        piece = bytes(data)
        self._held.append(piece)
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._size

    def taken(self) -> bytes:
        """Return what was written since the last call."""
        data = b"".join(self._held)
        self._held.clear()
        return data
