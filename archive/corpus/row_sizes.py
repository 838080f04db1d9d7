"""Take rows apart that are too large to be boards, before anything is made of their values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.payloads.published import Fault, input_fault

LIST_VALUES_MAX = 2**16
"""Values that a list of one row may have: no game takes a larger board."""
TEXT_BYTES_MAX = 256
"""Bytes that a text of one row may have; ids have 32."""
PIECE_VALUES = 2**20
"""Values of rows that are looked at together, about; a batch of published boards has a third."""


def bounded(batch: pa.Table) -> Iterator[pa.Table | Fault]:
    """Cut a batch into tables of a bounded size, in order; a row that is too large is a fault.

    Texts come as dictionaries and leave as plain ones.
    """
    faults: dict[int, Fault] = {}
    sizes = np.ones(batch.num_rows, np.int64)
    for name in batch.column_names:
        column = batch.column(name).combine_chunks()
        if pa.types.is_dictionary(column.type):
            lengths, most, what = _text_bytes(column), TEXT_BYTES_MAX, "a text of {:,} bytes"
        elif _is_list(column.type):
            lengths = _plain(pc.list_value_length(column))
            most, what = LIST_VALUES_MAX, "a list of {:,} values"
            sizes += lengths
        else:
            continue
        for row in np.flatnonzero(lengths > most).tolist():
            message = f"{what.format(int(lengths[row]))}; expected at most {most:,}"
            faults.setdefault(row, input_fault("columns", message, name))
    if not faults and sizes.sum() <= PIECE_VALUES:
        yield _with_texts(batch)
        return
    start = held = 0
    for row in range(batch.num_rows):
        if row in faults or (held + sizes[row] > PIECE_VALUES and row > start):
            yield from _cut(batch, start, row)
            start, held = row, 0
        if row in faults:
            yield faults[row]
            start = row + 1
        else:
            held += int(sizes[row])
    yield from _cut(batch, start, batch.num_rows)


def _cut(batch: pa.Table, start: int, stop: int) -> Iterator[pa.Table]:
    if start < stop:
        # A slice would take the values of its neighbours along.
        yield _with_texts(batch.take(pa.array(np.arange(start, stop))))


def _with_texts(table: pa.Table) -> pa.Table:
    for i, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = table.column(i).cast(field.type.value_type)
            table = table.set_column(i, field.name, plain)
    return table


def _text_bytes(column: pa.DictionaryArray) -> npt.NDArray[np.int64]:
    lengths = pc.binary_length(column.dictionary)
    return _plain(pc.take(lengths, column.indices))


def _plain(lengths: pa.Array) -> npt.NDArray[np.int64]:
    return np.asarray(pc.fill_null(lengths.cast(pa.int64()), 0).to_numpy())


def _is_list(kind: pa.DataType) -> bool:
    return (
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )
