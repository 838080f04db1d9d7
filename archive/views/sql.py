"""Answer one SELECT over the views of a lake, in DuckDB, which has access to nothing else.

The query is first bound and planned over empty tables. That finds errors before the lake is read,
and the columns that it uses; only those are read, by the archive's own readers, so that DuckDB
needs neither the lake's files nor its credentials.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.views.catalogue import View, sql_type, views
from nightgrid.solvers.canonical import is_utf8
from nightgrid.solvers.errors import PermanentError

BATCH_ROWS = 16_384
SHAPE = "SELECT columns FROM view WHERE condition GROUP BY columns ORDER BY columns LIMIT n"
"""Expected form in messages about syntax errors."""
SHOWN_CHARS = 300
"""Most characters of a DuckDB message that are quoted."""
_LOCKS = (
    "autoinstall_known_extensions=false",
    "autoload_known_extensions=false",
    "python_enable_replacements=false",
    "temp_directory=''",
    "enable_external_access=false",
    "lock_configuration=true",
)
"""No files, no network, no extensions beyond the built-in ones, no replacement scans of Python
variables; and no statement may change that."""
_ERRORS = {"errors_as_json": True}
_KEPT_OPTIMIZERS = ("unused_columns", "column_lifetime")
"""Settings for plans over empty tables; other optimizers would remove whole tables."""
_READ_STATEMENTS = ("SELECT", "EXPLAIN", "MULTI")
"""MULTI is the result of PIVOT."""
_EXPLAIN = "explain (format json)\n"
"""A line of its own, so that column numbers in errors match the query."""
_NO_FILE = re.compile(r"Cannot access (?:file|directory) (\"[^\"]*\")")
_KIND = re.compile(r"^[A-Za-z ]+ Error: ")


SECONDS, INTERRUPT_S = 60.0, 0.1
MEMORY_BYTES = 2**30


class QueryError(PermanentError):
    """A query is rejected, or exceeds its limits."""


@dataclass(slots=True)
class Bounds:
    """Limits of a query. Its time runs from here until its last row is written."""

    seconds: float = SECONDS
    memory_bytes: int = MEMORY_BYTES
    """Bytes of DuckDB, and as many of data read from the lake."""
    are_options: bool = True
    """Whether the caller may raise the limits, with options of a command."""
    _deadline: float = field(init=False)
    _held_bytes: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._deadline = time.monotonic() + self.seconds

    @contextmanager
    def interrupting(self, base: Any) -> Iterator[None]:
        """Interrupt a DuckDB connection within, from when the time is up until it ends."""
        ended = threading.Event()

        def interrupt() -> None:
            # One that comes before the query has begun has no effect.
            wait_s = max(0.0, self._deadline - time.monotonic())
            while not ended.wait(wait_s):
                base.interrupt()
                wait_s = INTERRUPT_S

        thread = threading.Thread(target=interrupt, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()  # It holds `base`: DuckDB would warn of a leak.

    @property
    def is_up(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self._deadline

    def check_time(self) -> None:
        """Raise QueryError once the time is up."""
        if self.is_up:
            raise self.too_long()

    def too_long(self) -> QueryError:
        """Return the error for a query that ran out of time."""
        more = "; --seconds allows more" if self.are_options else ""
        return QueryError(f"the query took more than {self.seconds:g} s{more}")

    def too_large(self) -> QueryError:
        """Return the error for a query that ran out of memory."""
        more = ", or allow more with --memory-mb" if self.are_options else ""
        megabytes = f"{self.memory_bytes / 2**20:,.0f} MB of memory"
        return QueryError(f"the query takes more than {megabytes}; name fewer columns{more}")

    def held(self, table: pa.Table) -> None:
        """Count data read from the lake. Raises QueryError over a limit."""
        self._held_bytes += table.nbytes
        if self._held_bytes > self.memory_bytes:
            raise self.too_large()
        self.check_time()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of a query: columns, and rows as they arrive."""

    schema: pa.Schema
    tables: Iterator[pa.Table]


def ask(lake: Lake, sql: str, bounds: Bounds | None = None) -> Answer:
    """Answer one SELECT over the views of a lake.

    Raises QueryError, in one sentence with the place, for an invalid query and for one that exceeds
    its limits.
    """
    bounds = bounds or Bounds()
    needed = columns_needed(sql)
    base = _database(bounds.memory_bytes)
    for name, view in views().items():
        if name in needed:
            table = view.read(lake, needed[name], bounds.held)
            with _query_errors(sql, bounds):
                _show(base, view, table)
    with _query_errors(sql, bounds):
        base.execute("".join(_empty_table(v) for name, v in views().items() if name not in needed))
        _lock(base)
    with _query_errors(sql, bounds), bounds.interrupting(base):
        reader = base.sql(sql).to_arrow_reader(BATCH_ROWS)
    schema = _once_named(reader.schema)
    return Answer(schema=schema, tables=_tables(base, reader, schema, sql, bounds))


def columns_needed(sql: str) -> dict[str, list[str]]:
    """Return the columns of each view that a query uses, without reading the lake.

    Raises QueryError for anything but a query over views.
    """
    if not is_utf8(sql):
        raise QueryError("the SQL is not UTF-8")
    with duckdb.connect(":memory:", config={"threads": 1, **_ERRORS}) as base:
        with _query_errors(sql):
            kind = _kind_of(base, sql)
        if kind == "EXPLAIN":
            return {}
        with _query_errors(sql):
            base.execute("".join(map(_empty_table, views().values())))
            told = base.execute("select name from duckdb_optimizers()").fetchall()
            off = ",".join(name for (name,) in told if name not in _KEPT_OPTIMIZERS)
            base.execute(f"set disabled_optimizers='{off}'")
            _lock(base)
        with _query_errors(sql, planned=True):
            plan = base.execute(f"{_EXPLAIN}{sql}").fetchall()[-1][1]
    if kind == "MULTI":
        # The plan is that of the last statement only.
        named = set(re.findall(r"\w+", sql.lower()))
        return {name: view.schema.names for name, view in views().items() if name in named}
    needed: dict[str, list[str]] = {}
    for name, columns in _scans(json.loads(plan)):
        # If only the number of rows matters, one column counts them.
        here = needed.setdefault(name, [])
        here += [column for column in columns if column not in here]
    return {name: columns or views()[name].schema.names[:1] for name, columns in needed.items()}


def _kind_of(base: Any, sql: str) -> str:
    """Return the one statement's kind. Raises QueryError for more than one, or another kind."""
    statements = [s for s in base.extract_statements(sql) if s.query.strip(" \t\r\n;")]
    if not statements:
        raise QueryError('there is no SQL; expected a SELECT, such as "select * from counts"')
    if len(statements) > 1:
        raise QueryError(f"there are {len(statements)} statements; expected one SELECT")
    kind = str(statements[0].type.name)
    if kind not in _READ_STATEMENTS:
        raise QueryError(f"this is {kind}; expected one SELECT, which reads")
    return kind


def _scans(nodes: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    """Find the tables of a plan, each with the columns read from it."""
    for node in nodes:
        told = node.get("extra_info", {})
        name = str(told.get("Table", "")).rpartition(".")[2]
        if name in views():
            columns = told.get("Projections", views()[name].schema.names)
            columns = [columns] if isinstance(columns, str) else columns
            yield name, [column for column in columns if column]
        yield from _scans(node.get("children", ()))


def _database(memory_bytes: int) -> Any:
    return duckdb.connect(":memory:", config={"memory_limit": f"{memory_bytes}B", **_ERRORS})


def _lock(base: Any) -> None:
    for setting in _LOCKS:
        base.execute(f"set {setting}")


def _show(base: Any, view: View, table: pa.Table) -> None:
    """Create a view of the columns that were read; using another column is an error."""
    base.register(f"read of {view.name}", table)
    unread = f"error('column of {view.name} was not read')"
    columns = ", ".join(
        f'"{one.name}"'
        if one.name in table.column_names
        else f'cast({unread} as {sql_type(one.type)}) as "{one.name}"'
        for one in view.schema
    )
    # Names are from the catalogue, none from the query.
    base.execute(f'create view "{view.name}" as select {columns} from "read of {view.name}"')  # noqa: S608


def _empty_table(view: View) -> str:
    columns = ", ".join(f'"{one.name}" {sql_type(one.type)}' for one in view.schema)
    return f'create table "{view.name}" ({columns}); '


def _tables(
    base: Any, reader: Any, schema: pa.Schema, sql: str, bounds: Bounds
) -> Iterator[pa.Table]:
    with base:
        while True:
            bounds.check_time()
            with _query_errors(sql, bounds), bounds.interrupting(base):
                try:
                    batch = reader.read_next_batch()
                except StopIteration:
                    return
            columns = batch.columns
            yield pa.table([_plain(c) for c in columns], names=schema.names).cast(schema)


def _once_named(schema: pa.Schema) -> pa.Schema:
    """Rename duplicate columns: count, count_1."""
    names: list[str] = []
    fields = []
    for one in schema:
        name, number = one.name, 0
        while name in names:
            number += 1
            name = f"{one.name}_{number}"
        names.append(name)
        fields.append(pa.field(name, _plain_type(one.type), one.nullable))
    return pa.schema(fields)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type that CSV, JSON and Parquet can all represent."""
    if pa.types.is_decimal(kind) and kind.scale:
        return pa.float64()
    return kind


def _plain(column: pa.Array) -> pa.Array:
    return column.cast(_plain_type(column.type))


@contextmanager
def _query_errors(
    sql: str, bounds: Bounds | None = None, *, planned: bool = False
) -> Iterator[None]:
    """Convert DuckDB's errors into QueryError: one sentence with its place in the SQL."""
    try:
        yield
    except duckdb.InterruptException as error:
        raise (bounds.too_long() if bounds else KeyboardInterrupt()) from error
    except duckdb.OutOfMemoryException as error:
        raise (bounds or Bounds()).too_large() from error
    except duckdb.Error as error:
        raise QueryError(sentence(str(error), sql, planned=planned)) from error
    except (pa.ArrowException, RuntimeError, OSError) as error:
        text = str(error)
        if "nterrupt" in text:
            if bounds is not None and bounds.is_up:
                raise bounds.too_long() from error
            raise KeyboardInterrupt from error
        if "Out of Memory" in text:
            raise (bounds or Bounds()).too_large() from error
        raise QueryError(sentence(text, sql)) from error


def sentence(text: str, sql: str, *, planned: bool = False) -> str:
    """Describe the error of a query in one sentence; `planned`: below an EXPLAIN."""
    about = _about(text)
    said = about["exception_message"]
    no_file = _NO_FILE.search(said)
    if about.get("error_subtype") == "MISSING_ENTRY" and about.get("type") == "Table":
        said = f"there is no view {about['name']}; expected one of {', '.join(views())}"
    elif no_file is not None:
        said = f"cannot read file {no_file[1]}: a query can only read views"
    lines = [line.strip().rstrip("!.:") for line in said.splitlines() if line.strip()]
    told = "; ".join(lines) or "the query failed"
    told = told if len(told) <= SHOWN_CHARS else f"{told[:SHOWN_CHARS]}…"
    told = told.replace("; Candidate bindings:", "; expected one of").replace(
        "; Did you", "; did you"
    )
    told = told[0].lower() + told[1:]
    if about.get("error_subtype") == "SYNTAX_ERROR":
        told = f"{told}; expected {SHAPE}"
    if "position" not in about:
        return f"SQL: {told}"
    bytes_before = int(about["position"]) - (len(_EXPLAIN) if planned else 0)
    before = sql.encode()[:bytes_before].decode(errors="replace").split("\n")
    return f"SQL, line {len(before)}, column {len(before[-1]) + 1}: {told}"


def _about(text: str) -> dict[str, str]:
    """Parse an error of DuckDB, "KIND Error: JSON"; other errors are plain text."""
    with suppress(ValueError, TypeError, KeyError):
        told: dict[str, str] = json.loads(text.partition(": ")[2])
        return told | {"exception_message": str(told["exception_message"])}
    return {"exception_message": _KIND.sub("", text)}
