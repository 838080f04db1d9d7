"""GET /v1/results: rows of results with filters, as JSON pages, CSV, an Arrow stream or Parquet.

The rows are those of `nightgrid list results`, by the same code. The streams hold some thousand
rows at a time, whatever their length; a JSON page holds its own rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

import pyarrow as pa
from fastapi import APIRouter, Header, Query
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, Field

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.listing import RESULT_ROWS, list_results
from nightgrid.archive.lookup.row_filter import RowFilter
from nightgrid.service.http.lake.parameters import (
    OFFSET_MAX,
    PAGE_ROWS,
    PAGE_ROWS_MAX,
    DateRange,
)
from nightgrid.service.http.problems import HEX_ID, wrong
from nightgrid.service.http.state import Here
from nightgrid.service.terminal.encoded import arrow_pieces, csv_pieces, parquet_pieces, plain_row
from nightgrid.solvers.algebra import Ask, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import GAMES

router = APIRouter(tags=["results"])

JSON = "application/json"
FORMATS: dict[str, str] = {
    "json": JSON,
    "csv": "text/csv",
    "arrow": "application/vnd.apache.arrow.stream",
    "parquet": "application/vnd.apache.parquet",
}
"""Media types by `format`; the first is the default."""
_WRITERS: dict[str, Callable[[Iterator[pa.Table], pa.Schema], Iterator[bytes]]] = {
    "csv": csv_pieces,
    "arrow": arrow_pieces,
    "parquet": parquet_pieces,
}
LIST_CHARS = 200


class ResultRow(BaseModel):
    """How a job ended, and where its puzzle is published today."""

    puzzle: str = Field(description="Reference of the puzzle: GAME/DATE/LEVEL, or its id.")
    game: str
    date: str | None
    level: str | None
    ask: str
    status: str
    count: str | None = Field(description="Exact number of solutions, in decimal.")
    value: int | None
    seconds: float = Field(description="Inside kernels.")
    reason_code: str | None
    reason: str
    hint: str
    rules: str
    lexicon_id: str
    solver_version: str
    puzzle_id: str
    job_id: str
    run_id: str


class Results(BaseModel):
    """A page of results, in the order of `nightgrid list results`."""

    results: list[ResultRow]
    next: str | None = Field(description="Path of the page after this one.")


class Asked(DateRange):
    """Which results to return, and in which format."""

    game: str | None = Field(
        default=None, max_length=LIST_CHARS, description="A game, or several with commas."
    )
    status: str | None = Field(
        default=None,
        max_length=LIST_CHARS,
        description="solved, unsolvable, over_budget, invalid, poison, or several with commas.",
    )
    ask: str | None = Field(default=None, max_length=32, description="count, first, best(5), ...")
    id: str | None = Field(default=None, pattern=HEX_ID, description="Of one job.")
    puzzle_id: str | None = Field(default=None, pattern=HEX_ID, description="Of one puzzle.")
    limit: int | None = Field(
        default=None,
        ge=1,
        le=OFFSET_MAX,
        description=f"JSON: rows of the page, at most {PAGE_ROWS_MAX:,}, by default {PAGE_ROWS}. "
        "Others: rows at most, by default all.",
    )
    offset: int = Field(default=0, ge=0, le=OFFSET_MAX, description="Rows before the first.")
    format: Literal["json", "csv", "arrow", "parquet"] | None = Field(
        default=None, description="Overrides Accept, for links, which cannot set it."
    )

    def wanted(self) -> RowFilter:
        """Return the filter of the list of results. Raises Problem for an invalid value."""
        try:
            asks = None if self.ask is None else frozenset({str(Ask.parse(self.ask))})
        except PermanentError as error:
            raise wrong("?ask", str(error)) from error
        return RowFilter(
            games=tuple(_named("game", self.game, GAMES)),
            statuses=frozenset(_named("status", self.status, [*map(str, Status)])),
            since=self.from_,
            until=self.to,
            asks=asks,
            jobs=None if self.id is None else frozenset({self.id}),
            puzzles=None if self.puzzle_id is None else frozenset({self.puzzle_id}),
        )


def _named(name: str, text: str | None, known: Any) -> list[str]:
    if text is None:
        return list(known)
    named = [part.strip() for part in text.split(",")]
    if unknown := [part for part in named if part not in known]:
        raise wrong(
            f"?{name}", f"{unknown[0]!r:.40} is unknown; expected some of {', '.join(known)}"
        )
    return named


@router.get(
    "/results",
    summary="List results",
    response_model=Results,
    responses={
        200: {
            "description": "The results.",
            "content": {
                kind: {"schema": {"type": "string", "format": "binary"}}
                for kind in FORMATS.values()
                if kind != JSON
            },
        }
    },
)
def results(
    asked: Annotated[Asked, Query()],
    service: Here,
    accept: Annotated[str, Header(include_in_schema=False)] = "",
) -> Response:
    """List how jobs ended: a page as JSON, or all of them as CSV, an Arrow stream or Parquet."""
    form = asked.format or chosen_format(accept)
    wanted = asked.wanted()
    if form == "json":
        return JSONResponse(_page(service.lake, asked, wanted).model_dump())
    tables = _cut(list_results(service.lake, wanted), asked.offset, asked.limit)
    # Errors of the lake are raised before the answer starts.
    first = list(itertools.islice(tables, 1))
    pieces = _WRITERS[form](itertools.chain(first, tables), RESULT_ROWS)
    return StreamingResponse(
        pieces,
        media_type=FORMATS[form],
        headers={
            "Content-Disposition": f'attachment; filename="results.{form}"',
            "Vary": "Accept",
        },
    )


def chosen_format(accept: str) -> str:
    """Return the first format in an Accept header; JSON if there is none."""
    kinds = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    return next((name for kind in kinds for name in FORMATS if FORMATS[name] == kind), "json")


def _cut(tables: Iterator[pa.Table], first: int, limit: int | None) -> Iterator[pa.Table]:
    """Skip the first rows of a list, and end it after `limit` more."""
    for table in tables:
        piece = table.slice(first, limit)
        first -= min(first, len(table))
        yield piece
        if limit is not None:
            limit -= len(piece)
            if not limit:
                return


def _page(lake: Lake, asked: Asked, wanted: RowFilter) -> Results:
    limit = min(asked.limit or PAGE_ROWS, PAGE_ROWS_MAX)
    tables = _cut(list_results(lake, wanted), asked.offset, limit + 1)
    rows = [row for table in tables for row in table.to_pylist()]
    more = None
    if len(rows) > limit:
        given = asked.model_dump(mode="json", by_alias=True, exclude_none=True)
        place = {"limit": limit, "offset": asked.offset + limit}
        more = f"/v1/results?{urlencode(given | place)}"
    return Results(results=[ResultRow(**_row(row)) for row in rows[:limit]], next=more)


def _row(row: dict[str, Any]) -> dict[str, Any]:
    plain = plain_row(row)
    return plain | {"count": None if plain["count"] is None else str(plain["count"])}
