"""Rank the boards of a lake: a night that fetches nothing and only asks `meant`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from nightgrid.archive.games import ranking_plug
from nightgrid.archive.lake.location import is_missing
from nightgrid.archive.results.gold.rank_accuracy import Month, accuracy_by_month, whole
from nightgrid.flows.cluster import OwnWorkers
from nightgrid.flows.night.report import GameReport
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.night.steps import aggregate, plan, solve
from nightgrid.flows.runs import RunSettings, Watch, ignore
from nightgrid.solvers.algebra import MEANT
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game_plug


@dataclass(frozen=True, slots=True, kw_only=True)
class RankReport:
    """Summary of ranking a lake."""

    ranker: str
    """Name of the weights, with -alone if their models are not installed."""
    boards: int
    """Boards of current editions, with their clues."""
    ranked: int
    """Boards that this call ranked."""
    known: int
    """Boards that the same ranker had ranked before."""
    fitted_until: str | None
    """Date of the last board that the weights were fitted on: accuracy up to then is optimistic."""
    months: tuple[Month, ...]
    path: str

    @property
    def whole(self) -> Month:
        """All months together."""
        return whole(self.months)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, with counts by month."""
        return {**asdict(self), "all": asdict(self.whole)}


def rank_lake(settings: RunSettings, on_progress: Callable[[Any], None] = ignore) -> RankReport:
    """Ask `meant` of every board of the current editions, and write gold/rank_accuracy.parquet.

    Boards that the same ranker has ranked are skipped; the next call finishes a killed one. Solves
    in this process, with running workers, or with workers of its own. Raises PermanentError if
    there is no lake, or no boards to rank, TransientError if workers or lake are unavailable.
    """
    ranks, workers = ranking_plug(), settings.workers
    if is_missing(workers.lake):
        raise PermanentError(
            f"there is no lake at {workers.lake}; name one with --lake or NIGHTGRID_LAKE"
        )
    game = NightGame(source=workers.lake, game=ranks.GAME, asks=(MEANT,))
    # Workers of our own load the ranker and no game.
    ours = workers.model_copy(update={"rank": True})
    night = NightSettings(games=(game,), workers=ours, executor=settings.executor)
    report = GameReport(game=game.game, ask=str(MEANT), lake=workers.lake)
    report, planned = plan(night, game, report)
    boards, known = report.planned + report.already_known, report.already_known
    if not boards:
        title = game_plug(ranks.GAME).title
        raise PermanentError(
            f"{workers.lake} has no board of {title}; nightgrid nightly fetches some"
        )
    with OwnWorkers(night, ()) as own:
        report = solve(night, game, planned, report, own, Watch(on_progress=on_progress))
    report = aggregate(night, game, report)
    return RankReport(
        ranker=report.ranker,
        boards=boards,
        ranked=report.ranked,
        known=known,
        fitted_until=ranks.fitted_until(report.ranker),
        months=tuple(accuracy_by_month(night.lake, report.ranker)),
        path=report.paths["rankings"],
    )
