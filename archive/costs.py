"""What jobs are expected to take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from archive.lake import Lake
from solvers.algebra import Arrays, Ask, Game


def estimator(
    lake: Lake,  # noqa: ARG001
    game: Game[Any, Any],
    ask: Ask,
) -> Callable[[Arrays], npt.NDArray[np.float64]]:
    """Return what estimates the seconds that each row of columns takes one core."""
    return lambda arrays: game.cost_s(arrays, ask)
