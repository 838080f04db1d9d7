"""The solver's plug of Letter Boxed: chains of words round a polygon, the shortest ones first."""

from __future__ import annotations

from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.letterboxed.rules import Rules
from nightgrid.solvers.plug import GamePlug

NIGHT_BEST = 10
"""Shortest chains of a board that a night keeps."""


PLUG = GamePlug(
    name="letterboxed",
    title="Letter Boxed",
    order=30,
    game="nightgrid.solvers.letterboxed.game:LetterBoxedGame",
    rules=Rules,
    words=True,
    own_words=True,
    asks=frozenset({"first", "best", "all", "count"}),
    # The best come with the count.
    night_asks=(Ask(kind="best", limit=NIGHT_BEST),),
    quick_ask=Ask(kind="best", limit=1),
)
