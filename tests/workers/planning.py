"""Plan a run in a test, with the question as arguments."""

from typing import Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.game_contract import Game
from nightgrid.workers.runs.plan import planner
from nightgrid.workers.runs.plan.plan_pass import Asking


def plan_run(
    lake: Lake, game: Game[Any, Any], puzzles: Any, ask: Ask, budget: Budget, **options: Any
) -> str:
    return planner.plan_run(Asking(lake, game, ask, budget, **options), puzzles)
