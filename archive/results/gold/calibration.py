"""How sure a ranking says it is of its first cover, beside how often that cover is right.

Reports of lakes and benchmarks tell the same figures of the same bins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

BOUNDS = (0.0, 0.3, 0.5, 0.7, 0.85, 0.95, 1.0)
"""Bounds of the bins of the confidence that was said; .85 to .95 are the boards said to be 90 %
sure."""
LEAST = 1e-12
"""The least probability that a log loss takes."""
Z_95 = 1.96
"""Standard deviations of the normal distribution on both sides of 95 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """The boards of which a confidence from `low` to below `high` was said; 1 is in the last."""

    low: float
    high: float
    boards: int
    said: float
    """Mean of what was said."""
    right: float
    """Share of the boards whose first cover is right."""

    @property
    def interval(self) -> tuple[float, float]:
        """Bound the share that is right: Wilson's interval of 95 %."""
        n, z = self.boards, Z_95
        middle = (self.right + z * z / (2 * n)) / (1 + z * z / n)
        spread = math.sqrt(self.right * (1 - self.right) / n + (z / (2 * n)) ** 2)
        half = z * spread / (1 + z * z / n)
        return middle - half, middle + half


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """How good confidences are as forecasts of whether the first cover is right; 0 is best."""

    log_loss: float
    """Mean of minus the log probability, in nats, that was said of what was the case."""
    brier: float
    """Mean square of the difference from what was the case."""
    error: float
    """Expected calibration error: the mean over boards of how far their bin's mean is off."""


def bins(said: Sequence[float], right: Sequence[bool]) -> list[Bin]:
    """Sort boards into bins by the confidence that was said; bins without boards are left out."""
    shares, hits = np.array(said, np.float64), np.array(right, np.bool_)
    at = np.clip(np.searchsorted(BOUNDS, shares, side="right") - 1, 0, len(BOUNDS) - 2)
    return [
        Bin(
            low=low, high=high, boards=int((at == i).sum()),
            said=float(shares[at == i].mean()), right=float(hits[at == i].mean()),
        )
        for i, (low, high) in enumerate(pairwise(BOUNDS)) if (at == i).any()
    ]  # fmt: skip


def losses(said: Sequence[float], right: Sequence[bool]) -> Losses:
    """Measure confidences as forecasts; all are 0 without boards."""
    shares, hits = np.array(said, np.float64), np.array(right, np.bool_)
    if not len(shares):
        return Losses(log_loss=0.0, brier=0.0, error=0.0)
    told = np.clip(np.where(hits, shares, 1 - shares), LEAST, 1.0)
    return Losses(
        log_loss=float(-np.log(told).mean()),
        brier=float(((shares - hits) ** 2).mean()),
        error=sum(one.boards * abs(one.said - one.right) for one in bins(said, right))
        / len(shares),
    )
