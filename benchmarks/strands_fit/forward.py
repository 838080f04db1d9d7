"""Choose what scores are divided by, forward in time: fit on the first boards, try on the next.

Cross-validation over blocks of dates also fits on boards that are later than those it tries. Later
boards are harder, so that confidence has to be fitted on boards that come after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.strands_fit.data import say
from benchmarks.strands_fit.fit import Fit
from benchmarks.strands_fit.learn import Choice
from benchmarks.strands_fit.lists import features_of
from nightgrid.archive.games.strands.ranking.ranker import LISTED

F64 = npt.NDArray[np.float64]
CUTS = 3
AFTER_MAX = 100
"""Boards that follow each cut: of the 518 early boards, those after the first 218, 318 and 418."""
TEMPERATURES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Later:
    """A board with the scores of its covers under weights of the boards before it."""

    scores: F64
    """float64[covers], in nats."""
    meant: npt.NDArray[np.int64]
    """Rows of the covers that were meant; none if the list lacks them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Temperatures:
    """Divisor of scores before they become probabilities."""

    theme: float
    """For scores of everything, the language model included."""
    alone: float
    """For scores without the models."""
    report: dict[str, Any]
    """The cuts, and all that were tried."""


def temperatures_of(fit: Fit) -> Temperatures:
    """Choose both temperatures on the boards of a fit."""
    alone, alone_tried = chosen(later_alone(fit))
    say(f"alone: {alone}, {alone_tried}")
    theme, theme_tried = chosen(later_read(fit))
    say(f"theme: {theme}, {theme_tried}")
    report = {"cuts": cuts(len(fit.listed)), "alone": alone_tried, "theme": theme_tried}
    return Temperatures(theme=theme, alone=alone, report=report)


def cuts(count: int) -> list[tuple[int, int]]:
    """Return how many boards are fitted on, and how many with those that are then tried."""
    after = min(AFTER_MAX, count // (CUTS + 2))
    return [(count - n * after, count - (n - 1) * after) for n in range(CUTS, 0, -1)]


def later_alone(fit: Fit) -> list[Later]:
    """Score later boards by the search's weights without the models."""
    later = []
    choices = fit.choices(alone=True)
    for cut, end in cuts(len(fit.listed)):
        weights, _ = fit.before(cut).search(alone=True)
        for choice in choices[cut:end]:
            scores = choice.features @ weights
            order = np.argsort(-scores, kind="stable")[:LISTED]
            meant = np.flatnonzero(np.isin(order, choice.meant))
            later.append(Later(scores=scores[order], meant=meant))
    return later


def later_read(fit: Fit) -> list[Later]:
    """Score later boards by everything, the language model included."""
    later = []
    for cut, end in cuts(len(fit.listed)):
        early = fit.before(cut)
        search, folds = early.search(alone=False)
        cover, own, choices = early.covers(folds)
        theme = early.themes(folds, own, choices)
        learned = early.learned(None)
        for i in range(cut, end):
            rows, meant = features_of(
                fit.listed[i], fit.sums[i] @ search, LISTED, fit.meanings, learned
            )
            choice = fit.as_read(i, search, cover, Choice(features=rows, meant=meant))
            later.append(Later(scores=choice.features @ theme, meant=choice.meant))
        say(f"forward to {end} boards")
    return later


def chosen(later: Sequence[Later]) -> tuple[float, dict[str, Any]]:
    """Choose the temperature under which the meant covers are likeliest; list all that were tried.

    `nats` is the mean log probability of the meant cover where the list has it. `log_loss` is that
    of whether the first cover is right, boards whose list lacks the meant cover included.
    """
    tried = [one for one in later if len(one.scores)]
    right = np.array([int(np.argmax(one.scores)) in one.meant for one in tried])
    trials: dict[float, dict[str, float]] = {}
    for temperature in TEMPERATURES:
        shares = [_shares(one.scores / temperature) for one in tried]
        nats = [
            np.log(max(share[one.meant].sum(), 1e-300))
            for share, one in zip(shares, tried, strict=True)
            if len(one.meant)
        ]
        said = np.clip([share.max() for share in shares], 1e-12, 1 - 1e-12)
        loss = -np.log(np.where(right, said, 1 - said)).mean()
        trials[temperature] = {"nats": round(float(np.mean(nats)), 4),
                               "log_loss": round(float(loss), 4)}  # fmt: skip
    best = max(TEMPERATURES, key=lambda value: trials[value]["nats"])
    return best, {
        "boards": len(tried),
        "first": round(float(right.mean()), 4),
        "trials": {f"{value:g}": found for value, found in trials.items()},
    }


def _shares(scores: F64) -> F64:
    mass = np.exp(scores - scores.max())
    shares: F64 = mass / mass.sum()
    return shares
