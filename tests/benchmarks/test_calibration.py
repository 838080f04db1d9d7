"""Bins say how sure boards were said to be, and how often they were right."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.strands_rank.calibration import Losses, interval, losses
from nightgrid.archive.results.gold.rank_accuracy import BOUNDS, bins


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


def test_a_bin_has_its_lower_bound_and_the_last_has_one():
    found = bins(list(BOUNDS), [True] * len(BOUNDS))
    assert [one.low for one in found] == list(BOUNDS[:-1])
    assert [one.boards for one in found] == [1, 1, 1, 1, 1, 2]
    assert bins([], []) == []


def test_the_interval_of_a_bin_is_wilsons():
    (one,) = bins([0.9] * 10, [True] * 9 + [False])
    low, high = interval(one)
    # Both bounds solve (p - right)^2 = z^2 p (1 - p) / n.
    for bound in (low, high):
        assert (bound - 0.9) ** 2 == pytest.approx(1.96**2 * bound * (1 - bound) / 10)
    assert low < 0.9 < high <= 1


def test_losses_are_those_of_forecasts():
    found = losses([0.8, 0.6], [True, False])
    assert found.log_loss == pytest.approx(-(math.log(0.8) + math.log(0.4)) / 2)
    assert found.brier == pytest.approx((0.2**2 + 0.6**2) / 2)
    assert found.error == pytest.approx((0.2 + 0.6) / 2)
    assert losses([], []) == Losses(log_loss=0, brier=0, error=0)


def test_figures_of_five_boards_are_those_found_by_hand():
    """Given two boards in one bin and three in another, Then each sum is as written here."""
    said, right = [0.6, 0.64, 0.96, 0.98, 1.0], [True, False, True, True, False]
    low, high = bins(said, right)
    assert (low.low, low.high, low.boards, low.right) == (0.5, 0.7, 2, 0.5)
    assert low.said == pytest.approx(0.62)
    assert (high.low, high.high, high.boards) == (0.95, 1.0, 3)
    assert (high.said, high.right) == (pytest.approx(0.98), pytest.approx(2 / 3))
    # Wilson's interval of 1 of 2: 0.5 +- 1.96 sqrt(0.125 + 0.96040 / 4) / (1 + 1.9208)
    assert interval(low) == (pytest.approx(0.0945, abs=5e-5), pytest.approx(0.9055, abs=5e-5))
    found = losses(said, right)
    # 0.16 + 0.4096 + 0.0016 + 0.0004 + 1 = 1.5716
    assert found.brier == pytest.approx(1.5716 / 5)
    # (2 * 0.12 + 3 * (0.98 - 0.66667)) / 5 = (0.24 + 0.94) / 5
    assert found.error == pytest.approx(1.18 / 5)
    # -ln 0.6, -ln 0.36, -ln 0.96, -ln 0.98, and a certain board that is wrong: -ln 1e-12
    told = 0.510826 + 1.021651 + 0.040822 + 0.020203 + 27.631021
    assert found.log_loss == pytest.approx(told / 5, abs=1e-6)


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
