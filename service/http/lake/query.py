"""POST /v1/query: one SELECT over the views of the lake. GET /v1/views: what the views have."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Iterator
from itertools import islice
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.views.catalogue import listed, views
from nightgrid.archive.views.sql import Bounds, QueryError, ask
from nightgrid.service.http.problems import wrong
from nightgrid.service.http.state import Here

router = APIRouter(tags=["query"])
SQL_CHARS = 20_000
ROWS_MAX = 1000
SECONDS, MEMORY_BYTES = 10.0, 256 * 1024**2
EXACT_MAX = 2**53
"""Larger numbers are texts, as everywhere in the API."""
_one_query = asyncio.Semaphore(1)
"""Queries wait for each other: each may have all cores and this much memory."""


class QueryBody(BaseModel):
    """A query."""

    model_config = ConfigDict(extra="forbid")

    sql: str = Field(
        max_length=SQL_CHARS,
        description="One SELECT, in DuckDB, over the views. It reads nothing else.",
        examples=["select date, level, count from counts order by count desc limit 10"],
    )


class Column(BaseModel):
    """A column of an answer or of a view."""

    name: str
    type: str
    meaning: str = ""


class Answer(BaseModel):
    """The rows of an answer."""

    columns: list[Column]
    rows: list[list[Any]] = Field(description=f"At most {ROWS_MAX}.")
    truncated: bool = Field(description="Whether there are more rows.")


class ViewAbout(BaseModel):
    """A view."""

    name: str
    line: str = Field(description="What its rows are.")
    columns: list[Column]


class Views(BaseModel):
    """All views."""

    views: list[ViewAbout]


@router.get("/views", summary="List the views")
def list_views() -> Views:
    """List the views that a query can read, with their columns."""
    columns: dict[str, list[Column]] = {}
    for view, name, kind, meaning in listed():
        columns.setdefault(view, []).append(Column(name=name, type=kind, meaning=meaning))
    return Views(
        views=[
            ViewAbout(name=view.name, line=view.line, columns=columns[view.name])
            for view in views().values()
        ]
    )


@router.post("/query", summary="Query the lake")
async def post_query(body: QueryBody, service: Here) -> Answer:
    """Answer one SELECT over the views of the lake, within 10 s and 256 MB."""
    async with _one_query:
        return await asyncio.to_thread(_answer, service.lake, body.sql)


def _answer(lake: Lake, sql: str) -> Answer:
    bounds = Bounds(seconds=SECONDS, memory_bytes=MEMORY_BYTES, are_options=False)
    try:
        answer = ask(lake, sql, bounds)
        rows = list(islice(_rows(answer.tables), ROWS_MAX + 1))
    except QueryError as error:
        raise wrong("/sql", str(error)) from error
    return Answer(
        columns=[Column(name=one.name, type=str(one.type)) for one in answer.schema],
        rows=rows[:ROWS_MAX],
        truncated=len(rows) > ROWS_MAX,
    )


def _rows(tables: Iterator[Any]) -> Iterator[list[Any]]:
    for table in tables:
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            yield [_plain(value) for value in row]


def _plain(value: Any) -> Any:
    """Write a value so that JSON can have it."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if value is None or isinstance(value, bool | str):
        return value
    # Counts are decimals, and JSON has no infinity.
    is_exact = isinstance(value, int | float) and abs(value) < EXACT_MAX
    return value if is_exact else str(value)
