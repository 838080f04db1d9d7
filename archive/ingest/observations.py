"""Observations: where current editions contradict one another, told without harm to any of them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from nightgrid.archive.games import archive_plug
from nightgrid.archive.games.plug import Edition
from nightgrid.archive.ingest.editions import current_editions
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.ingest.raw import RawArchive
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import OBSERVATIONS


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
    editions = {row["date"]: row for row in current_editions(lake, raw.game).to_pylist()}
    found = plug.remarks(read_puzzle_table(lake, raw.game), editions)
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
