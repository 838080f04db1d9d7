"""Why a board may have no solution though its makers know one: words that a word list lacks.

A status is exact with respect to the words that a board was solved with; a hint stands beside it.
"""

from __future__ import annotations

import json

from nightgrid.archive.games import missing_words_hint
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.words.binding import open_game
from nightgrid.solvers.errors import NightgridError


def hint_of(lake: Lake, *, game: str, rules: str, lexicon_id: str, official_solution: str) -> str:
    """Give the hint for a board as the lake knows it; "" where its words are not at hand."""
    if not lexicon_id:
        return ""
    try:
        bound = open_game(lake, game, rules, lexicon_id)
        official = bound.solution_from_json(json.loads(official_solution))
        return missing_words_hint(bound, official)
    except NightgridError:
        # A hint is no answer: what it takes may be gone, and the list goes on without.
        return ""
