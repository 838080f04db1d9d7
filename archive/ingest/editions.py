"""Editions: which board stood where, when, and where current ones contradict one another."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.games import archive_plug
from nightgrid.archive.games.plug import Edition
from nightgrid.archive.ingest.puzzles import PUZZLE_ID, read_boards, read_puzzle_table
from nightgrid.archive.ingest.raw import RawArchive
from nightgrid.archive.lake.encoding import digest_of_rows
from nightgrid.archive.lake.json_files import program_version, read_hint, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import CLUE, EDITIONS, OBSERVATIONS
from nightgrid.solvers.registry import DEFAULT_GAME


def editions_path(game: str) -> str:
    """Name the table of a game's editions."""
    return f"editions/{game}.parquet"


_CURRENT = ("date", "level", "revision", "draft")
"""Columns that tell which editions are current."""


def current_editions(
    lake: Lake,
    game: str = DEFAULT_GAME,
    columns: Sequence[str] = EDITIONS.names,
    *,
    drafts: bool = False,
) -> pa.Table:
    """Read the current revision of every (date, level), sorted by date and level.

    One that is a draft, seen before its date only, is left out; with `drafts`, all others are.
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
    """Choose from a table of editions what `current_editions` reads.

    The table has `columns`, `date`, `level`, `revision` and `draft`.
    """
    table = editions.select(_with_current(columns))
    order = pc.sort_indices(table, [(name, "ascending") for name in ("date", "level", "revision")])
    if not np.array_equal(order, np.arange(len(table))):
        table = table.take(order)
    last = np.ones(len(table), bool)
    last[:-1] = False
    for column in (pc.cast(table.column("date"), pa.int32()), table.column("level")):
        codes = column.combine_chunks().dictionary_encode().indices.to_numpy()
        last[:-1] |= codes[1:] != codes[:-1]
    is_draft = pc.fill_null(table.column("draft"), False).to_numpy()
    counts = last & (is_draft if drafts else ~is_draft)
    # Most tables are sorted and have no revision: to copy the texts of all rows takes longest.
    return (table if counts.all() else table.filter(pa.array(counts))).select(list(columns))


def quarantine_path(game: str) -> str:
    """Name the table of a game's quarantine."""
    return f"quarantine/{game}.parquet"


_OBSERVED = ("date", "level", "puzzle_id", "source_id", "official_solution", "yesterday")
"""Columns of editions that payloads may contradict."""


def observations_path(game: str) -> str:
    """Name the table of a game's observations."""
    return f"observations/{game}.parquet"


def write_observations(lake: Lake, raw: RawArchive, editions: pa.Table) -> int:
    """Make a game's observations; return how many there are.

    `editions` are all editions of the game, of which the current ones count.

    An unchanged table is not written, and a game whose payloads speak of their own day alone has
    none. Drafts are left out: they may still change. What was observed of the first editions stands
    while these and the table are as they were.
    """
    plug = archive_plug(raw.game)
    if not plug.observed:
        return 0
    names = [*_OBSERVED, *(f.name for f in OBSERVATIONS if f.name in EDITIONS.names)]
    editions = current_of(editions, list(dict.fromkeys(names)))
    path = observations_path(raw.game)
    before = lake.read_table(path, OBSERVATIONS)
    since = _observed_before(lake, raw.game, editions, before)
    first = editions.column("date")[since].as_py() if since < len(editions) else dt.date.max
    found = plug.remarks(lambda: read_puzzle_table(lake, raw.game), editions, since)
    rows = [_row(raw, *remark) for remark in found if remark[0]["date"] >= first]
    rows.sort(key=lambda row: (row["date"], row["place"], row["rule"]))
    known = before.filter(pc.less(before.column("date"), pa.scalar(first, pa.date32())))
    made = pa.Table.from_pylist(rows, schema=OBSERVATIONS)
    table = pa.concat_tables([known if since else before.slice(0, 0), made])
    if not table.equals(before):
        lake.write_table(path, table)
    if len(editions) > since or not table.equals(before):
        told = {
            "program": program_version(),
            "editions": len(editions),
            "digest": digest_of_rows(editions),
            "observed": digest_of_rows(table),
        }
        write_json(lake, _observed_path(raw.game), told, durable=False, checked=True)
    return table.num_rows


def _observed_path(game: str) -> str:
    return f"checked/{game}-observed.json"


def _observed_before(lake: Lake, game: str, editions: pa.Table, observed: pa.Table) -> int:
    """Count the first editions that observations were made of, if both are as they were then."""
    told = read_hint(lake, _observed_path(game), lambda hint: hint)
    if told is None or told.get("program") != program_version():
        return 0
    count = told.get("editions")
    if not isinstance(count, int) or not 0 <= count <= len(editions):
        return 0
    same = told.get("digest") == digest_of_rows(editions.slice(0, count))
    return count if same and told.get("observed") == digest_of_rows(observed) else 0


def _row(raw: RawArchive, edition: Edition, rule: str, place: str, message: str) -> dict[str, Any]:
    seen = raw.of(edition["date"])
    url = next((s.url for s in seen if s.sha256 == edition["raw_sha256"]), "")
    names = ("game", "date", "level", "raw_sha256", "seen_at")
    told = {name: edition[name] for name in names}
    return {**told, "url": url, "rule": rule, "place": place, "message": message}
