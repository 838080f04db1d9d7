"""Conform tables to a schema."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.solvers.errors import PermanentError


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Cast a table to a schema: columns by name, in the schema's order, with its metadata.

    Raises PermanentError for missing or surplus columns, values that a type cannot hold, and nulls
    that the schema does not allow.
    """
    if table.schema.equals(schema, check_metadata=True):
        return table
    try:
        # A name that the schema lacks has no position in it.
        return table.select(sorted(table.column_names, key=schema.names.index)).cast(schema)
    except (ValueError, pa.ArrowException) as error:
        raise PermanentError(f"columns do not fit the schema: {error}") from error


def select(schema: pa.Schema, columns: Sequence[str]) -> pa.Schema:
    """Select fields of a schema, in the order given, with its metadata."""
    return pa.schema([schema.field(name) for name in columns]).with_metadata(schema.metadata)


def shaped(table: pa.Table, schema: pa.Schema, path: str) -> pa.Table:
    """Conform the content of a file to a schema. Raises DamagedFileError."""
    try:
        return conform(table, schema)
    except PermanentError as error:
        raise DamagedFileError(f"{path}: {error}") from error
