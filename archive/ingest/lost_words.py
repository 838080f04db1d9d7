"""Dictionaries of published boards that are gone, and reading them again from the raw payloads."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.games import reader
from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.ingest.puzzles import PUZZLE_ID, read_puzzle_table
from nightgrid.archive.ingest.raw import RawArchive, read_date
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS
from nightgrid.archive.payloads.published import Published
from nightgrid.archive.words.dictionaries import KEY, add_dictionaries, dictionary_ids, words_of
from nightgrid.solvers.registry import GAMES, game_plug


def games_with_words() -> list[str]:
    """Name the games whose boards bring dictionaries of their own."""
    return [game for game in GAMES if game_plug(game).own_words]


def lost_dictionaries(lake: Lake, game: str) -> pa.Array:
    """Name the dictionaries that published boards of a game have and the lake has not."""
    named = _boards(lake, game).column(KEY)
    # After the boards: a dictionary is written before its board.
    known = dictionary_ids(lake)
    return pc.unique(named.filter(pc.invert(pc.is_in(named, value_set=known)))).sort()


def readable_dictionaries(lake: Lake, game: str, lost: pa.Array) -> dict[str, tuple[str, ...]]:
    """Read lost dictionaries again from the payloads that are there, as far as these have them."""
    wanted = set(lost.to_pylist())
    found: dict[str, tuple[str, ...]] = {}
    raw = RawArchive(lake, game)
    for date in _dates(lake, game, lost):
        # A body that is gone or damaged is a fault: what it held stays lost, and is told.
        items = (item for _, item in read_date(raw, reader(game), date))
        words = words_of(item.puzzle for item in items if isinstance(item, Published))
        found |= {name: words[name] for name in wanted.intersection(words)}
    return found


def restore_dictionaries(lake: Lake, game: str, lost: pa.Array) -> int:
    """Put lost dictionaries back that can be read again; return how many.

    Editions, puzzles and quarantine stay as they are.
    """
    return add_dictionaries(lake, readable_dictionaries(lake, game, lost))


def _boards(lake: Lake, game: str) -> pa.Table:
    boards = read_puzzle_table(lake, game, [PUZZLE_ID, KEY])
    return boards.filter(pc.is_valid(boards.column(KEY)))


def _dates(lake: Lake, game: str, lost: pa.Array) -> list[dt.date]:
    boards = _boards(lake, game)
    ids = boards.filter(pc.is_in(boards.column(KEY), value_set=lost)).column(PUZZLE_ID)
    editions = lake.read_table(editions_path(game), EDITIONS, ["date", PUZZLE_ID])
    is_theirs = pc.is_in(editions.column(PUZZLE_ID), value_set=ids)
    return sorted(set(editions.filter(is_theirs).column("date").to_pylist()))
