"""Editions: which board stood where, when, as the lake has them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS
from nightgrid.solvers.registry import DEFAULT_GAME


def editions_path(game: str) -> str:
    """Name the table of a game's editions."""
    return f"editions/{game}.parquet"


def current_editions(lake: Lake, game: str = DEFAULT_GAME) -> pa.Table:
    """Read the current revision of every (date, level), sorted by date and level.

    One that is a draft, seen before its date only, is left out.
    """
    table = lake.read_table(editions_path(game), EDITIONS)
    table = table.sort_by([(name, "ascending") for name in ("date", "level", "revision")])
    places = list(
        zip(table.column("date").to_pylist(), table.column("level").to_pylist(), strict=True)
    )
    last = [place != after for place, after in zip(places, [*places, None][1:], strict=True)]
    table = table.filter(pa.array(last, pa.bool_()))
    return table.filter(pc.invert(pc.fill_null(table.column("draft"), False)))
