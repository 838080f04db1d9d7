"""How good confidences are as forecasts of whether the first cover is right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nightgrid.archive.results.gold.rank_accuracy import Bin, bins

LEAST = 1e-12
"""The least probability that a log loss takes."""
Z_95 = 1.96
"""Standard deviations of the normal distribution on both sides of 95 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """How good confidences are as forecasts of whether the first cover is right; 0 is best."""

    log_loss: float
    """Mean of minus the log probability, in nats, that was said of what was the case."""
    brier: float
    """Mean square of the difference from what was the case."""
    error: float
    """Expected calibration error: the mean over boards of how far their bin's mean is off."""


def interval(one: Bin) -> tuple[float, float]:
    """Bound the share of a bin that is right: Wilson's interval of 95 %."""
    n, z = one.boards, Z_95
    middle = (one.right + z * z / (2 * n)) / (1 + z * z / n)
    spread = math.sqrt(one.right * (1 - one.right) / n + (z / (2 * n)) ** 2)
    half = z * spread / (1 + z * z / n)
    return middle - half, middle + half


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
