"""Bring tables into the shape of a schema."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.solvers.errors import PermanentError


def conform(table: pa.Table, schema: pa.Schema, *, fill_missing: bool = False) -> pa.Table:
    """Cast a table to a schema: its columns by name, in the schema's order, with its metadata.

    `fill_missing` makes nulls of nullable columns that the table lacks.

    Raises PermanentError for missing or surplus columns, columns of another kind (a number is no
    text, although it could be written as one), values that a type cannot hold and nulls where the
    schema allows none.
    """
    if table.schema.equals(schema, check_metadata=True):
        return table
    surplus = [name for name in table.column_names if name not in schema.names]
    if surplus:
        raise PermanentError(f"columns {', '.join(surplus)} are not in the schema")
    columns = []
    for field in schema:
        if field.name in table.column_names:
            column = table.column(field.name)
            same = column.type == field.type
            if not same and _kind(column.type) not in _accepted(_kind(field.type)):
                raise PermanentError(f"column {field.name} is {column.type}; expected {field.type}")
            try:
                column = column if same else column.cast(field.type)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                raise PermanentError(f"column {field.name}: {error}") from error
        elif fill_missing and field.nullable:
            column = pa.chunked_array([pa.nulls(len(table), field.type)])
        else:
            raise PermanentError(f"column {field.name} is missing; expected {field.type}")
        if column.null_count and not field.nullable:
            raise PermanentError(f"column {field.name} has nulls; expected none")
        columns.append(column)
    return pa.table(columns, schema=schema)


def _accepted(kind: str) -> tuple[str, ...]:
    """Name the kinds of columns that are taken for a kind."""
    widened = ("integer",) if kind in ("decimal", "floating") else ()
    return (kind, "null", *widened)


def _kind(dtype: pa.DataType) -> str:
    """Tell what the values of a type are, however wide."""
    if pa.types.is_dictionary(dtype):
        return _kind(dtype.value_type)
    if pa.types.is_list(dtype) or pa.types.is_large_list(dtype):
        return f"list of {_kind(dtype.value_type)}"
    for name in ("integer", "floating", "decimal", "boolean", "date", "timestamp", "null"):
        if getattr(pa.types, f"is_{name}")(dtype):
            return name
    is_text = pa.types.is_string(dtype) or pa.types.is_large_string(dtype)
    return "text" if is_text or pa.types.is_string_view(dtype) else str(dtype)


def select(schema: pa.Schema, columns: Sequence[str]) -> pa.Schema:
    """Choose fields of a schema, in the order given, with its metadata."""
    return pa.schema([schema.field(name) for name in columns]).with_metadata(schema.metadata)


def shaped(table: pa.Table, schema: pa.Schema, path: str) -> pa.Table:
    """Bring what was read of a file into the shape of a schema; nullable columns may be missing.

    Raises DamagedFileError where that cannot be.
    """
    if len(set(table.column_names)) != table.num_columns:
        raise DamagedFileError(f"{path}: two of its columns have one name")
    try:
        return conform(table, schema, fill_missing=True)
    except PermanentError as error:
        raise DamagedFileError(f"{path}: {error}") from error
