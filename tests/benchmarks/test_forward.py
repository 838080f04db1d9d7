"""Temperatures are chosen on boards after those of the fit."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.strands_fit.forward import TEMPERATURES, Later, chosen, cuts


def test_the_518_early_boards_are_split_before_the_last_100():
    assert cuts(518) == [(218, 318), (318, 418), (418, 518)]
    assert cuts(5) == [(2, 3), (3, 4), (4, 5)]


@pytest.mark.parametrize("true", [0.8, 1.2, 2.0])
def test_the_temperature_is_found_by_which_scores_are_too_large(true: float):
    rng = np.random.default_rng(1)
    later = []
    for _ in range(1500):
        scores = rng.normal(0, 2, 6)
        mass = np.exp(scores)
        meant = rng.choice(6, p=mass / mass.sum())
        later.append(Later(scores=scores * true, meant=np.array([meant])))
    found, report = chosen(later)
    assert abs(TEMPERATURES.index(found) - TEMPERATURES.index(true)) <= 1
    assert report["boards"] == len(later)
    assert report["trials"].keys() == {f"{value:g}" for value in TEMPERATURES}
    best = max(trial["nats"] for trial in report["trials"].values())
    assert report["trials"][f"{found:g}"]["nats"] == best


def test_a_board_whose_list_lacks_the_meant_cover_counts_as_wrong():
    known = Later(scores=np.array([3.0, 0.0]), meant=np.array([0]))
    lacking = Later(scores=np.array([3.0, 0.0]), meant=np.array([], np.int64))
    empty = Later(scores=np.array([]), meant=np.array([], np.int64))
    _, report = chosen([known, lacking, empty])
    assert report["boards"] == 2
    assert report["first"] == 0.5
    trial = report["trials"]["1"]
    share = np.exp(3) / (1 + np.exp(3))
    assert trial["nats"] == pytest.approx(np.log(share), abs=1e-4)
    assert trial["log_loss"] == pytest.approx(-(np.log(share) + np.log(1 - share)) / 2, abs=1e-4)
