"""What jobs are expected to take: what the game says, times a factor that runs have measured.

The factor is of one question (costs/GAME-ID.json), and stands for the machines of the lake as well
as for the kind of board: what many jobs took together over what their game had expected.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.archive.lake.arrow_to_numpy import slice_arrays
from nightgrid.archive.lake.json_files import read_hint, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.question import Question
from nightgrid.workers.runs.manifest import Run

FACTOR_BOUNDS = (1 / 16, 16.0)
JOBS_MIN = 100
"""Fewer jobs say little about others."""
CLOSE_ROWS = 64
"""So few boards are looked at closely (`Game.expected`), each for some hundredths of a
millisecond."""


def cost_path(question: Question) -> str:
    """Name the file of the factor of a question."""
    return f"costs/{question.game}-{question.cost_id}.json"


def read_factor(lake: Lake, question: Question) -> float:
    """Read the factor of a question; 1 where none was measured, or the file is damaged."""
    found = read_hint(lake, cost_path(question), lambda told: float(told["factor"]))
    return float(np.clip(found, *FACTOR_BOUNDS)) if found and found > 0 else 1.0


def note_factor(lake: Lake, run: Run, jobs: int, kernel_s: float) -> None:
    """Keep the factor that the jobs of a run have, given what they took together."""
    # Jobs that another run has answered were expected, and are not among those that took time.
    if jobs < max(JOBS_MIN, run.job_count) or not run.cost_s or not kernel_s:
        return
    bounded = float(np.clip(run.cost_factor * kernel_s / run.cost_s, *FACTOR_BOUNDS))
    write_json(lake, cost_path(run.question), {"factor": round(bounded, 4)})


def expected_s(
    game: Game[Any, Any], ask: Ask, arrays: dict[str, npt.NDArray[Any]], factor: float
) -> npt.NDArray[np.float64]:
    """Estimate the seconds that each row of columns takes one core."""
    cost_s = factor * game.cost_s(arrays, ask)
    if len(cost_s) <= CLOSE_ROWS:
        for row in range(len(cost_s)):
            expected = game.expected(slice_arrays(arrays, row, row + 1), ask)
            if expected.passed:
                cost_s[row] = expected.seconds
    return cost_s
