"""Editions: which board was published where and when, and contradictions between current ones."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.games import archive_plug
from nightgrid.archive.games.plug import Edition
from nightgrid.archive.ingest.puzzles import PUZZLE_ID, read_boards, read_puzzle_table
from nightgrid.archive.ingest.raw import RawArchive, index_path
from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError, set_aside
from nightgrid.archive.lake.schemas import CLUE, EDITIONS, QUARANTINE, RAW
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.skipped_files import skip_file
from nightgrid.solvers.registry import DEFAULT_GAME


def editions_path(game: str) -> str:
    """Return the table of a game's editions."""
    return f"editions/{game}.parquet"


_CURRENT = ("date", "level", "revision", "draft")
"""Columns that determine which editions are current."""


def current_editions(
    lake: Lake,
    game: str = DEFAULT_GAME,
    columns: Sequence[str] = EDITIONS.names,
    *,
    drafts: bool = False,
) -> pa.Table:
    """Read the current revision of every (date, level), sorted by date and level.

    Drafts (seen only before their date) are left out unless `drafts` is set.
    """
    names = _with_current(columns)
    return current_of(lake.read_table(editions_path(game), EDITIONS, names), columns, drafts=drafts)


def clued_boards(lake: Lake, game: str) -> pa.Table:
    """Read the boards of the current editions with their clues, each pair once.

    Rows are those of the puzzles table with the column CLUE. Drafts are left out.
    """
    editions = current_editions(lake, game, [PUZZLE_ID, CLUE.name])
    clues = pc.fill_null(editions.column(CLUE.name), "")
    pairs = pa.table([editions.column(PUZZLE_ID), clues], [PUZZLE_ID, CLUE.name])
    pairs = pairs.group_by(pairs.column_names, use_threads=False).aggregate([])
    boards = read_boards(lake, game, pairs.column(PUZZLE_ID).combine_chunks())
    at = pc.index_in(pairs.column(PUZZLE_ID), value_set=boards.column(PUZZLE_ID).combine_chunks())
    known = pc.is_valid(at)
    return boards.take(at.filter(known)).append_column(CLUE, pairs.column(CLUE.name).filter(known))


def _with_current(columns: Sequence[str]) -> list[str]:
    return list(dict.fromkeys((*columns, *_CURRENT)))


def current_of(editions: pa.Table, columns: Sequence[str], *, drafts: bool = False) -> pa.Table:
    """Return those rows of a table of editions that `current_editions` reads.

    The table has `columns`, `date`, `level`, `revision` and `draft`.
    """
    table = last_revisions(editions.select(_with_current(columns)))
    is_draft = pc.fill_null(table.column("draft"), False)
    return table.filter(is_draft if drafts else pc.invert(is_draft)).select(list(columns))


def last_revisions(editions: pa.Table) -> pa.Table:
    """Keep the last revision of each date and level, sorted by them; drafts stay."""
    table = editions.sort_by([(name, "ascending") for name in ("date", "level", "revision")])
    last = np.ones(len(table), bool)
    last[:-1] = False
    for name in ("date", "level"):
        codes = table.column(name).combine_chunks().dictionary_encode().indices.to_numpy()
        last[:-1] |= codes[1:] != codes[:-1]
    return table.filter(pa.array(last))


def quarantine_path(game: str) -> str:
    """Return the table of a game's quarantine."""
    return f"quarantine/{game}.parquet"


_OBSERVED = ("date", "level", "puzzle_id", "source_id", "official_solution", "yesterday")
"""Columns of editions that payloads may contradict."""


def observations(lake: Lake, raw: RawArchive, editions: pa.Table | None = None) -> pa.Table:
    """Find contradictions between payloads of a game and its current editions, as rows of
    QUARANTINE.

    `editions` are all editions of the game, if the caller has them. Drafts are left out, since they
    may still change.
    """
    plug = archive_plug(raw.game)
    if not plug.observed:
        return QUARANTINE.empty_table()
    names = [*_OBSERVED, *(f.name for f in QUARANTINE if f.name in EDITIONS.names)]
    if editions is None:
        editions = lake.read_table(editions_path(raw.game), EDITIONS)
    editions = current_of(editions, list(dict.fromkeys(names)))
    found = plug.remarks(lambda: read_puzzle_table(lake, raw.game), editions)
    rows = [_row(raw, *remark) for remark in found]
    rows.sort(key=lambda row: (row["date"], row["place"], row["rule"]))
    return pa.Table.from_pylist(rows, schema=QUARANTINE)


def _row(raw: RawArchive, edition: Edition, rule: str, place: str, message: str) -> dict[str, Any]:
    seen = raw.of(edition["date"])
    url = next((s.url for s in seen if s.sha256 == edition["raw_sha256"]), "")
    names = ("game", "date", "level", "raw_sha256", "seen_at")
    told = {name: edition[name] for name in names}
    return {**told, "url": url, "rule": rule, "place": place, "message": message}


def set_tables_aside(lake: Lake, game: str) -> list[str]:
    """Set the damaged tables of a game and its index aside; return what was damaged.

    Without the index every payload counts as new, so the next call of `normalise` rebuilds all
    tables. Raises LakeRefusesError for a table that may not be read.
    """
    index = index_path(game)
    damaged: dict[str, DamagedFileError] = {}
    tables = {index: RAW, editions_path(game): EDITIONS, quarantine_path(game): QUARANTINE}
    for path, schema in tables.items():
        with suppress(MissingFileError):
            try:
                lake.read_file(path, schema)
            except DamagedFileError as error:
                damaged[path] = error
    # First: if the process is killed in between, the next one rebuilds the tables.
    if damaged and index not in damaged:
        lake.delete(index)
    for path, why in damaged.items():
        moved = set_aside(lake, path)
        skip_file(path, f"{why}; moved to {moved}, and rebuilt from the raw payloads")
    return list(damaged)
