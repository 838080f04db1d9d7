"""What ranks Strands, as nightgrid.archive.games.plug.RankingPlug wants it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nightgrid.archive.games.plug import ALONE_SUFFIX, ranker_name
from nightgrid.archive.games.strands.ranking import misses
from nightgrid.archive.games.strands.ranking.misses import MISSES

if TYPE_CHECKING:
    from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary

__all__ = ["ALONE", "GAME", "MISSES", "fitted_until", "measure", "ranker_here"]
GAME = "strands"
ALONE = (
    "ranked without the meaning of words and clue, by how common each word is and how it lies on "
    "the board: its models are not installed (docs/how-to/rank-covers.md)"
)


def ranker_here() -> str:
    """See RankingPlug."""
    from nightgrid.archive.games.strands.ranking.meaning import are_models_installed
    from nightgrid.archive.games.strands.ranking.weights import name_here

    return ranker_name(name_here(), with_models=are_models_installed())


def fitted_until(ranker: str) -> str | None:
    """See RankingPlug."""
    from nightgrid.archive.games.strands.ranking.weights import provenance_of

    known = provenance_of(ranker.removesuffix(ALONE_SUFFIX))
    return None if known is None else str(known["to"])


def measure(official: Any, covers: Sequence[Mapping[str, Any]]) -> tuple[int | None, str | None]:
    """See RankingPlug."""
    return misses.measure(official, covers, _vocabulary)


def _vocabulary() -> Vocabulary:
    from nightgrid.archive.games.strands.ranking.vocabularies import ranking_vocabulary

    return ranking_vocabulary()
