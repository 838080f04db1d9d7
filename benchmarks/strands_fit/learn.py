"""Conditional softmax over lists of covers: weights under which the meant cover is likeliest.

Method: McFadden's conditional logit, by Newton steps, with a ridge against few boards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.ranking.plda import Plda

F64 = npt.NDArray[np.float64]
STEPS = 40
TOLERANCE = 1e-6
SHRINK = 0.1
"""Share of a covariance that is spread evenly over its directions, against few examples."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choice:
    """One board: the features of its covers, and which of them were meant."""

    features: F64
    """float64[covers, features]."""
    meant: npt.NDArray[np.int64]
    """Rows of the covers that were meant; none if the list lacks them."""


def spreads(choices: Sequence[Choice]) -> F64:
    """Measure features: their standard deviation within a board, on average over boards."""
    sums = [choice.features.var(axis=0) for choice in choices if len(choice.features) > 1]
    spread = np.sqrt(np.mean(sums, axis=0))
    return np.where(spread > 1e-9, spread, 1.0)


def learn(choices: Sequence[Choice], ridge: float | F64, start: F64 | None = None) -> F64:
    """Fit weights; a ridge of r charges r/2 for every squared weight of a standardised feature.

    Weights come back per unit of the feature itself. Boards whose list lacks the meant cover teach
    nothing. `start`: weights towards which the ridge draws, by default 0.
    """
    taught = [choice for choice in choices if 0 < len(choice.meant) < len(choice.features)]
    scale = spreads(taught)
    scaled = [choice.features / scale for choice in taught]
    origin = np.zeros(len(scale)) if start is None else start * scale
    weights = origin.copy()
    value = _loss(weights, scaled, taught, origin, ridge)
    trial, after = weights, value
    for _ in range(STEPS):
        gradient, hessian = _slopes(weights, scaled, taught, origin, ridge)
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > 1e-4:
            trial = weights - size * step
            after = _loss(trial, scaled, taught, origin, ridge)
            if after < value:
                break
            size /= 2
        else:
            break
        done = value - after < TOLERANCE
        weights, value = trial, after
        if done:
            break
    return weights / scale


def chances(choice: Choice, weights: F64, temperature: float = 1.0) -> F64:
    """Return the probability of each cover of a board."""
    scores = choice.features @ weights / temperature
    mass = np.exp(scores - scores.max())
    shares: F64 = mass / mass.sum()
    return shares


def _loss(
    weights: F64, scaled: list[F64], choices: list[Choice], origin: F64, ridge: float | F64
) -> float:
    total = 0.5 * float((ridge * (weights - origin) ** 2).sum())
    for x, choice in zip(scaled, choices, strict=True):
        scores = x @ weights
        total += _log_sum(scores) - _log_sum(scores[choice.meant])
    return total


def _slopes(
    weights: F64, scaled: list[F64], choices: list[Choice], origin: F64, ridge: float | F64
) -> tuple[F64, F64]:
    gradient = ridge * (weights - origin)
    hessian = np.diag(np.broadcast_to(ridge, len(weights)).astype(np.float64))
    for x, choice in zip(scaled, choices, strict=True):
        scores = x @ weights
        mass = np.exp(scores - scores.max())
        mass /= mass.sum()
        mean = mass @ x
        meant = np.exp(scores[choice.meant] - scores[choice.meant].max())
        meant /= meant.sum()
        gradient += mean - meant @ x[choice.meant]
        hessian += (x * mass[:, None]).T @ x - np.outer(mean, mean)
    return gradient, hessian


def _log_sum(values: F64) -> float:
    top = values.max()
    return float(top + np.log(np.exp(values - top).sum()))


def learn_plda(
    sets: Sequence[npt.NDArray[np.float32]], background: npt.NDArray[np.float32], directions: int
) -> Plda:
    """Learn from sets of centred vectors; `background` are centred vectors of the vocabulary."""
    _, vectors = np.linalg.eigh(np.cov(background.T.astype(np.float64)))
    main = vectors[:, : -directions - 1 : -1]
    within = np.zeros((directions, directions))
    freedom = 0
    for one in sets:
        x = one.astype(np.float64) @ main
        if len(x) > 1:
            centred = x - x.mean(axis=0)
            within += centred.T @ centred
            freedom += len(x) - 1
    within = _shrunk(within / max(1, freedom))
    total = np.cov((background.astype(np.float64) @ main).T)
    values, vectors = np.linalg.eigh(within)
    white = vectors / np.sqrt(values)
    between, rotate = np.linalg.eigh(white.T @ total @ white)
    return Plda(basis=main @ white @ rotate, spread=np.maximum(between - 1, 1e-3))


def _shrunk(covariance: F64) -> F64:
    size = len(covariance)
    even = np.eye(size) * np.trace(covariance) / size
    shrunk: F64 = (1 - SHRINK) * covariance + SHRINK * even
    return shrunk
