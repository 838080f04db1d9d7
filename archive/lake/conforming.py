"""Bring tables into the shape of a schema, and derive what earlier versions of the lake lack.

Those kept sentences where codes stand now, and programs above the archive read codes alone. Up to
schema version 3 a table has only a `reason`, attempts list sentences, and what parts of a search
for the fewest moves know stands in theirs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reasons import Reason, ReasonCode


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


_BEGINNINGS: tuple[tuple[str, ReasonCode], ...] = (
    ("the budget of nodes ran out", ReasonCode.NODES),
    ("the budget of table bytes ran out", ReasonCode.TABLE_BYTES),
    ("the budget of seconds ran out", ReasonCode.SECONDS),
    ("the count is 10^38 or more", ReasonCode.COUNT_TOO_LARGE),
    ("more sets of alternative paths", ReasonCode.FIXED_TABLE_FULL),
    ("not worked: the chunk's time was up", ReasonCode.DEFERRED),
    ("another part of the job is over budget", ReasonCode.UNRECOVERABLE_JOB),
    ("its worker died", ReasonCode.WORKER_LOST),
    ("its process died", ReasonCode.PROCESS_LOST),
    ("exceeded the hard limit of", ReasonCode.HARD_LIMIT),
)
"""How the sentences of schema version 3 and before begin."""
_OTHERWISE = {
    str(Status.INVALID): ReasonCode.INVALID_PUZZLE,
    str(Status.POISON): ReasonCode.EXCEPTION,
}
"""Codes by status of sentences that begin in another way. Everything else is a capacity."""
_OF_PART = re.compile(r"^part [0-9.]+: ")
_BOUNDS = re.compile(r"; at least (\d+) moves(?:, (\d+) were found)?$")

DERIVED = ("reason_code", "value_at_least", "value_at_most")
"""Columns that are derived where a file lacks them ..."""
FROM = ("status", "reason")
"""... and the columns that this takes."""


def shaped(table: pa.Table, schema: pa.Schema, path: str) -> pa.Table:
    """Bring what was read of a file, of any version, into the shape of a schema.

    Raises DamagedFileError where that cannot be.
    """
    if len(set(table.column_names)) != table.num_columns:
        raise DamagedFileError(f"{path}: two of its columns have one name")
    try:
        return conform(upgraded(table, schema.names), schema, fill_missing=True)
    except PermanentError as error:
        raise DamagedFileError(f"{path}: {error}") from error


def columns_to_read(wanted: Sequence[str], there: Collection[str]) -> list[str]:
    """Name the columns of a file that are read to get those wanted."""
    names = [name for name in wanted if name in there]
    if _is_old(there) and any(name in DERIVED for name in wanted):
        names += [name for name in FROM if name not in names]
    return names


def upgraded(table: pa.Table, wanted: Sequence[str]) -> pa.Table:
    """Derive the columns wanted that a table of an earlier version lacks; drop those not wanted."""
    if not _is_old(table.column_names):
        return table
    for name in wanted:
        if name in DERIVED and name not in table.column_names:
            table = table.append_column(name, _derived(table, name))
    return table.select([name for name in table.column_names if name in wanted])


def with_codes(table: pa.Table) -> pa.Table:
    """Derive the codes of rows that come from files of several versions, where they are null."""
    name = DERIVED[0]
    if not {name, *FROM} <= set(table.column_names):
        return table
    if not pc.any(pc.and_(pc.is_null(table.column(name)), _has_reason(table))).as_py():
        return table
    codes = pc.coalesce(table.column(name), _derived(table, name))
    return table.set_column(table.column_names.index(name), table.field(name), codes)


def _is_old(names: Collection[str]) -> bool:
    return set(FROM) <= set(names) and DERIVED[0] not in names


def _has_reason(table: pa.Table) -> pa.ChunkedArray:
    return pc.not_equal(table.column("reason"), "")


def _derived(table: pa.Table, name: str) -> pa.Array:
    kind = pa.string() if name == "reason_code" else pa.int64()
    if not pc.any(_has_reason(table)).as_py():
        return pa.nulls(len(table), kind)
    known: dict[tuple[str, str], Any] = {}
    values = []
    for key in zip(*(table.column(column).to_pylist() for column in FROM), strict=True):
        if key not in known:
            known[key] = _value(name, *key)
        values.append(known[key])
    return pa.array(values, kind)


def _value(name: str, status: str, reason: str) -> Any:
    if not reason:
        return None
    if name == "reason_code":
        return str(_code_of(_OF_PART.sub("", reason), _OTHERWISE.get(status, ReasonCode.CAPACITY)))
    bounds = _BOUNDS.search(reason)
    found = None if bounds is None else bounds[1 if name == "value_at_least" else 2]
    return None if found is None else int(found)


def reason_of_failure(sentence: str) -> Reason:
    """Give a code to what an earlier version says of an attempt that failed."""
    return Reason(code=_code_of(sentence, ReasonCode.EXCEPTION), sentence=sentence)


def _code_of(sentence: str, otherwise: ReasonCode) -> ReasonCode:
    codes = (code for beginning, code in _BEGINNINGS if sentence.startswith(beginning))
    return next(codes, otherwise)
