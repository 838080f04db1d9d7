"""Bring tables into the shape of a schema."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.solvers.errors import PermanentError


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Cast a table to a schema: its columns by name, in the schema's order, with its metadata.

    Raises PermanentError for missing or surplus columns, values that a type cannot hold and nulls
    where the schema allows none.
    """
    if table.schema.equals(schema, check_metadata=True):
        return table
    surplus = [name for name in table.column_names if name not in schema.names]
    if surplus:
        raise PermanentError(f"columns {', '.join(surplus)} are not in the schema")
    columns = []
    for field in schema:
        if field.name in table.column_names:
            try:
                columns.append(table.column(field.name).cast(field.type))
            except pa.ArrowException as error:
                raise PermanentError(f"column {field.name}: {error}") from error
        else:
            raise PermanentError(f"column {field.name} is missing; expected {field.type}")
        if columns[-1].null_count and not field.nullable:
            raise PermanentError(f"column {field.name} has nulls; expected none")
    return pa.table(columns, schema=schema)


def select(schema: pa.Schema, columns: Sequence[str]) -> pa.Schema:
    """Choose fields of a schema, in the order given, with its metadata."""
    return pa.schema([schema.field(name) for name in columns]).with_metadata(schema.metadata)


def shaped(table: pa.Table, schema: pa.Schema, path: str) -> pa.Table:
    """Bring what was read of a file into the shape of a schema. Raises DamagedFileError."""
    try:
        return conform(table, schema)
    except PermanentError as error:
        raise DamagedFileError(f"{path}: {error}") from error
