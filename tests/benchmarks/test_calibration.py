"""Bins say how sure boards were said to be, and how often they were right."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.strands_rank.calibration import bins, losses, table


def test_boards_said_to_be_90_percent_sure_are_one_row():
    said = [0.85, 0.90, 0.95 - 1e-9, 0.95, 1.0, 0.2]
    right = [True, False, True, True, True, False]
    found = {(one.low, one.high): one for one in bins(said, right)}
    assert set(found) == {(0.0, 0.3), (0.85, 0.95), (0.95, 1.0)}
    ninety = found[0.85, 0.95]
    assert ninety.boards == 3
    assert ninety.said == pytest.approx(0.9)
    assert ninety.right == pytest.approx(2 / 3)
    assert found[0.95, 1.0].boards == 2
    assert [row[:2] for row in table(said, right)] == [
        ["0.00 to 0.30", 1], ["0.85 to 0.95", 3], ["0.95 to 1.00", 2],
    ]  # fmt: skip


def test_the_interval_of_a_bin_is_wilsons():
    (one,) = bins([0.9] * 10, [True] * 9 + [False])
    low, high = one.interval
    # Both bounds solve (p - right)^2 = z^2 p (1 - p) / n.
    for bound in (low, high):
        assert (bound - 0.9) ** 2 == pytest.approx(1.96**2 * bound * (1 - bound) / 10)
    assert low < 0.9 < high <= 1


def test_losses_are_those_of_forecasts():
    found = losses([0.8, 0.6], [True, False])
    assert found.log_loss == pytest.approx(-(math.log(0.8) + math.log(0.4)) / 2)
    assert found.brier == pytest.approx((0.2**2 + 0.6**2) / 2)
    assert found.error == pytest.approx((0.2 + 0.6) / 2)
    assert losses([], []).log_loss == 0


def test_calibrated_forecasts_have_no_error_and_overconfident_ones_have():
    rng = np.random.default_rng(5)
    chance = rng.uniform(0.3, 1.0, 40_000)
    right = (rng.uniform(size=len(chance)) < chance).tolist()
    assert losses(chance.tolist(), right).error < 0.01
    for one in bins(chance.tolist(), right):
        assert abs(one.said - one.right) < 0.02
    sharpened = (chance**3 / (chance**3 + (1 - chance) ** 3)).tolist()
    assert losses(sharpened, right).error > 0.05
    assert losses(sharpened, right).log_loss > losses(chance.tolist(), right).log_loss
