"""Make the gold of a game anew after some of its answers were dropped, as its last night did."""

from __future__ import annotations

from typing import Any

from nightgrid.archive.lake.faults import NotInLakeError
from nightgrid.archive.lake.json_files import read_hint
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.gold.gold import write_gold
from nightgrid.archive.words.binding import open_game
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import PermanentError


def write_gold_anew(lake: Lake, game: str) -> None:
    """Make the tables for people anew under the rules, words and asks of the last night.

    A game that no night has worked has none. Where its words are gone, the next night does it.
    """
    told = read_hint(lake, f"gold/nightly-{game}.json", _asked)
    if told is None:
        return
    rules, lexicon_id, asks = told
    try:
        bound = open_game(lake, game, rules, lexicon_id)
    except (NotInLakeError, PermanentError):
        return
    write_gold(lake, bound, asks)


def _asked(told: dict[str, Any]) -> tuple[str, str, list[Ask]]:
    asks = [Ask.parse(text) for text in str(told["ask"]).split(", ")]
    return str(told["rules"]), str(told["lexicon_id"]), asks
