"""Let one process decode a table once, as long as its file has the same bytes.

A night reads the tables of a game several times: to normalise, for gold, for its report. The bytes
are read each time, so that what any other process has written is seen; what they were decoded to
stands for the same bytes. What this process writes it need not decode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

FILE_BYTES = 4 * 2**20
"""Bytes of a file that is kept, at most: a larger one is decoded from the file each time."""
KEPT_BYTES = 64 * 2**20
"""Bytes of tables that are kept in memory, at most: those that were kept first make room."""

Decoded = tuple[pa.Table, dict[bytes, Any]]
"""A table, compared with its sums, and the metadata of its file."""


@dataclass(frozen=True, slots=True)
class _Entry:
    digest: bytes
    table: pa.Table
    metadata: dict[bytes, Any]


class DecodedTables:
    """The last tables that were decoded or written, by lake and path."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], _Entry] = {}
        self._bytes = 0

    def read(
        self,
        place: tuple[str, str],
        source: pa.NativeFile,
        schema: pa.Schema,
        decode: Callable[[pa.NativeFile], Decoded],
    ) -> Decoded:
        """Give the table of a file in the shape of a schema, decoded if its bytes are new."""
        if source.size() > FILE_BYTES:
            return decode(source)
        data = source.read_buffer()
        digest = sha256(data).digest()
        known = self._entries.get(place)
        if known is not None and known.digest == digest and _has(known.table.schema, schema):
            rows = known.table.select(schema.names)
            return rows.replace_schema_metadata(schema.metadata), dict(known.metadata)
        table, metadata = decode(pa.BufferReader(data))
        self._keep(place, _Entry(digest, table, metadata))
        return table, dict(metadata)

    def write(
        self,
        place: tuple[str, str],
        table: pa.Table,
        fill: Callable[[pa.NativeFile], None],
        commit: Callable[[Callable[[pa.NativeFile], Any]], object],
    ) -> None:
        """Let `commit` write what `fill` makes of a table, and keep the table for its bytes.

        The encoded table is held in memory as a whole.
        """
        data = pa.py_buffer(b"")

        def encoded(sink: pa.NativeFile) -> None:
            nonlocal data
            memory = pa.BufferOutputStream()
            fill(memory)
            data = memory.getvalue()
            sink.write(data)

        # Encoded where it is written, so that what fails is told in the same words.
        commit(encoded)
        if len(data) <= FILE_BYTES:
            metadata = pq.read_metadata(pa.BufferReader(data)).metadata
            entry = _Entry(sha256(data).digest(), table.combine_chunks(), metadata)
            self._keep(place, entry)

    def _keep(self, place: tuple[str, str], entry: _Entry) -> None:
        self._drop(place)
        size = entry.table.get_total_buffer_size()
        while self._entries and self._bytes + size > KEPT_BYTES:
            self._drop(next(iter(self._entries)))
        if size <= KEPT_BYTES:
            self._entries[place] = entry
            self._bytes += size

    def _drop(self, place: tuple[str, str]) -> None:
        entry = self._entries.pop(place, None)
        if entry is not None:
            self._bytes -= entry.table.get_total_buffer_size()


def _has(there: pa.Schema, wanted: pa.Schema) -> bool:
    return all(
        (at := there.get_field_index(field.name)) >= 0 and there.field(at).equals(field)
        for field in wanted
    )


_kept: ContextVar[DecodedTables | None] = ContextVar("decoded tables", default=None)


@contextmanager
def decoding_once() -> Iterator[None]:
    """Keep what is decoded of tables until the block ends."""
    token = _kept.set(DecodedTables())
    try:
        yield
    finally:
        _kept.reset(token)


def decoded_tables() -> DecodedTables | None:
    """Give what is kept in this block; None outside of one."""
    return _kept.get()
