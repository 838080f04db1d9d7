"""Editions: which board stood where, when, and where current ones contradict one another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.games import archive_plug
from nightgrid.archive.games.plug import Edition
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.ingest.raw import RawArchive
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS, OBSERVATIONS
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
    last = np.ones(len(table), bool)
    last[:-1] = False
    for column in (pc.cast(table.column("date"), pa.int32()), table.column("level")):
        codes = column.combine_chunks().dictionary_encode().indices.to_numpy()
        last[:-1] |= codes[1:] != codes[:-1]
    table = table.filter(pa.array(last, pa.bool_()))
    return table.filter(pc.invert(pc.fill_null(table.column("draft"), False)))


_OBSERVED = ("date", "level", "puzzle_id", "source_id", "official_solution", "yesterday")
"""Columns of editions that payloads may contradict."""


def observations_path(game: str) -> str:
    """Name the table of a game's observations."""
    return f"observations/{game}.parquet"


def write_observations(lake: Lake, raw: RawArchive) -> int:
    """Make a game's observations anew from its current editions; return how many there are.

    An unchanged table is not written, and a game whose payloads speak of their own day alone has
    none. Drafts are left out: they may still change.
    """
    plug = archive_plug(raw.game)
    if not plug.observed:
        return 0
    names = [*_OBSERVED, *(f.name for f in OBSERVATIONS if f.name in EDITIONS.names)]
    editions = current_editions(lake, raw.game).select(list(dict.fromkeys(names)))
    found = plug.remarks(lambda: read_puzzle_table(lake, raw.game), editions)
    rows = [_row(raw, *remark) for remark in found]
    rows.sort(key=lambda row: (row["date"], row["place"], row["rule"]))
    table = pa.Table.from_pylist(rows, schema=OBSERVATIONS)
    path = observations_path(raw.game)
    before = lake.read_table(path, OBSERVATIONS)
    if not table.equals(before):
        lake.write_table(path, table)
    return table.num_rows


def _row(raw: RawArchive, edition: Edition, rule: str, place: str, message: str) -> dict[str, Any]:
    seen = raw.of(edition["date"])
    url = next((s.url for s in seen if s.sha256 == edition["raw_sha256"]), "")
    names = ("game", "date", "level", "raw_sha256", "seen_at")
    told = {name: edition[name] for name in names}
    return {**told, "url": url, "rule": rule, "place": place, "message": message}
