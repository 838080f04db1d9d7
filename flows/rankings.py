"""Rank the boards of a lake that are not ranked yet, and measure where official covers stand."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from nightgrid.archive.games import ranking_plug
from nightgrid.archive.lake.location import is_missing
from nightgrid.archive.results.gold.rank_accuracy import (
    Month,
    accuracy_by_month,
    editions,
    whole,
    write_accuracy,
)
from nightgrid.archive.results.rankings import RankingRequest, known_rankings
from nightgrid.flows.cluster import OwnWorkers
from nightgrid.flows.runs import RunSettings, ignore
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game_plug
from nightgrid.workers.lease import holding
from nightgrid.workers.processes import locked

LEASE = "rankings"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankReport:
    """What ranking a lake came to."""

    ranker: str
    """Name of the weights, with -alone where its models are not installed."""
    boards: int
    """Boards of current editions."""
    ranked: int
    """Boards that were ranked now."""
    known: int
    """Boards that were ranked before by the same ranker."""
    fitted_until: str | None
    """Date of the last board that the weights were fitted on: until then shares flatter."""
    months: tuple[Month, ...]
    path: str

    @property
    def whole(self) -> Month:
        """All months together."""
        return whole(self.months)

    def to_json(self) -> dict[str, Any]:
        """Write it as JSON, counts by month."""
        return {
            "ranker": self.ranker,
            "boards": self.boards,
            "ranked": self.ranked,
            "known": self.known,
            "fitted_until": self.fitted_until,
            "months": [_month(month) for month in self.months],
            "all": _month(self.whole),
            "path": self.path,
        }


def _month(month: Month) -> dict[str, Any]:
    return {
        "month": month.month,
        "boards": month.boards,
        "first": month.first,
        "in_five": month.in_five,
        "listed": month.listed,
        "misses": dict(month.misses),
    }


def rank_lake(
    settings: RunSettings,
    on_progress: Callable[[int, int], object] = ignore,
    workers: OwnWorkers | None = None,
) -> RankReport:
    """Rank every board of the current editions, and write gold/rank_accuracy.parquet.

    What was ranked by the same ranker before is not ranked again; a killed call is ended by the
    next one. Works in this process, by workers that are there, or by workers of its own. Raises
    PermanentError where there is no lake, or none with boards to rank, TransientError when workers
    or lake stay away, and while another process ranks the same lake.
    """
    from nightgrid.workers.ranking.driving import drive_rankings, rank_inline
    from nightgrid.workers.ranking.work import open_ranker

    lake = settings.lake
    if is_missing(settings.workers.lake):
        # A lease would make the folder: a mistyped name leaves none.
        raise PermanentError(
            f"there is no lake at {settings.workers.lake}; name one with --lake or NIGHTGRID_LAKE"
        )
    refusal = f"another process ranks the boards of {settings.workers.lake}"
    with locked(settings.workers.side_dir, LEASE, refusal), holding(lake, LEASE, refusal):
        requests = _once(edition.request for edition in editions(lake))
        if not requests:
            title = game_plug(ranking_plug().GAME).title
            raise PermanentError(
                f"{settings.workers.lake} has no board of {title}; nightgrid nightly brings some"
            )
        # It makes the vectors of the vocabulary too, which workers then find on this machine.
        ranker = open_ranker().name
        known = known_rankings(lake)
        left = [one for one in requests if one.ranking_id(ranker) not in known]
        if left and settings.executor == "inline":
            rank_inline(lake, left, settings.workers, on_progress)
        elif left:
            # Workers that were given end with the caller's block; others open what ranks and no
            # game.
            ours = settings.workers.model_copy(update={"rank": True})
            begun = OwnWorkers(replace(settings, workers=ours), ())
            with begun if workers is None else nullcontext(workers) as own:
                own.ready()
                drive_rankings(lake, left, ranker, settings.workers, on_progress)
        path = write_accuracy(lake, ranker, known_rankings(lake))
        return RankReport(
            ranker=ranker,
            boards=len(requests),
            ranked=len(left),
            known=len(requests) - len(left),
            fitted_until=ranking_plug().fitted_until(ranker),
            months=tuple(accuracy_by_month(lake, ranker)),
            path=lake.location(path),
        )


def _once(boards: Any) -> list[RankingRequest]:
    """Leave out boards that stand under several dates with the same clue."""
    return list(dict.fromkeys(boards))
