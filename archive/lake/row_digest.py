"""Hash the values of tables, however they are cut into chunks."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def digest_of_rows(table: pa.Table) -> str:
    """Hash the values of a table: hexadecimal digits."""
    hashes = sha256()
    for column in table.columns:
        for data in column_bytes(column.combine_chunks()):
            hashes.update(data)
    return hashes.hexdigest()


def column_bytes(chunk: pa.Array) -> list[Any]:
    """Lay a column out as bytes that do not depend on where it was cut: validity, values, lengths.

    Of what is null only that it is null counts.
    """
    # Reads the buffers of columns without nulls: `to_numpy` takes several times as long.
    if not len(chunk):
        return []
    found: list[Any] = [_validity(chunk)]
    kind = chunk.type
    if pa.types.is_list(kind):
        lengths = pc.list_value_length(chunk)
        lengths = pc.fill_null(lengths, 0) if chunk.null_count else lengths
        return [*found, _values(lengths), *column_bytes(chunk.flatten())]
    if chunk.null_count:
        zero: Any = "" if pa.types.is_string(kind) else False if pa.types.is_boolean(kind) else 0
        chunk = pc.fill_null(chunk, pa.scalar(zero, kind))
    if pa.types.is_boolean(kind):
        return [*found, _values(chunk.cast(pa.uint8()))]
    if not pa.types.is_string(kind):
        return [*found, _values(chunk)]
    buffer = chunk.buffers()
    ends = np.frombuffer(buffer[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
    data = (buffer[2] or pa.py_buffer(b"")).slice(int(ends[0]), int(ends[-1] - ends[0]))
    return [*found, data, np.diff(ends)]


def _validity(chunk: pa.Array) -> pa.Buffer | bytes:
    """Give a byte for each value: 1, or 0 where it is null."""
    if chunk.null_count:
        return _values(chunk.is_valid().cast(pa.uint8()))
    return b"\x01" * len(chunk)


def _values(chunk: pa.Array) -> pa.Buffer:
    """Give the bytes of one value or more, of fixed width and none of them null."""
    width = chunk.type.byte_width
    return chunk.buffers()[1].slice(chunk.offset * width, len(chunk) * width)
