"""The solver's plug of Strands: covers of a board with words, the most probable ones first."""

from __future__ import annotations

from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.plug import GamePlug
from nightgrid.solvers.strands.rules import Rules

NIGHT_BEST = 10
"""Covers of a board that a night stores, to look up the official one among them."""


PLUG = GamePlug(
    name="strands",
    title="Strands",
    order=20,
    game="nightgrid.solvers.strands.game:StrandsGame",
    meant="nightgrid.archive.games.strands.ranking.meant:MeantGame",
    rules=Rules,
    words=True,
    asks=frozenset({"first", "best", "all", "count", "meant"}),
    # The best come with the count.
    night_asks=(Ask(kind="best", limit=NIGHT_BEST),),
    quick_ask=Ask(kind="best", limit=1),
    # The best cover is the most informative.
    sample_ask=Ask(kind="best", limit=1),
)
