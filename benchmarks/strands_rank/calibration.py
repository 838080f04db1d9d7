"""How sure a ranking says it is of its first cover, beside how often that cover is right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

EDGES = (0.0, 0.3, 0.5, 0.7, 0.85, 0.95, 1.0)
"""Bins of the confidence that was said; .85 to .95 are the boards said to be 90 % sure."""
LEAST = 1e-12
Z_95 = 1.96
HEAD = ["confidence of the first", "boards", "said, mean", "right", "right, 95 %"]


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


def bins(said: Sequence[float], right: Sequence[bool], edges: Sequence[float] = EDGES) -> list[Bin]:
    """Sort boards into bins by the confidence that was said; bins without boards are left out."""
    shares, hits = np.array(said, np.float64), np.array(right, np.bool_)
    at = np.clip(np.searchsorted(edges, shares, side="right") - 1, 0, len(edges) - 2)
    return [
        Bin(
            low=low, high=high, boards=int((at == i).sum()),
            said=float(shares[at == i].mean()), right=float(hits[at == i].mean()),
        )
        for i, (low, high) in enumerate(pairwise(edges)) if (at == i).any()
    ]  # fmt: skip


def losses(said: Sequence[float], right: Sequence[bool]) -> Losses:
    """Measure confidences as forecasts."""
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


def table(said: Sequence[float], right: Sequence[bool]) -> list[list[object]]:
    """Write bins as rows under HEAD."""
    rows: list[list[object]] = []
    for one in bins(said, right):
        low, high = one.interval
        rows.append(
            [
                f"{one.low:.2f} to {one.high:.2f}", one.boards, f"{one.said:.1%}",
                f"{one.right:.1%}", f"{low:.0%} - {high:.0%}",
            ]
        )  # fmt: skip
    return rows


def sentence(said: Sequence[float], right: Sequence[bool]) -> str:
    """Say the losses."""
    own = losses(said, right)
    return (
        f"Log loss {own.log_loss:.3f} nats, Brier score {own.brier:.3f}, expected calibration "
        f"error {own.error:.1%}."
    )
