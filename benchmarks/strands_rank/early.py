"""Features learnt from the boards of a fit, to fit weights of covers without some."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from benchmarks.strands_fit import start
from benchmarks.strands_fit.data import dates, say
from benchmarks.strands_fit.fit import Fit
from benchmarks.strands_fit.learn import Choice, learn
from benchmarks.strands_fit.lists import lists
from nightgrid.archive.games.strands.ranking.features import (
    CLUE,
    COHERENCE,
    FEATURES,
    PLDA,
    SPANGRAM,
)
from nightgrid.archive.games.strands.ranking.fit import FIT
from nightgrid.archive.games.strands.ranking.meaning import Meanings
from nightgrid.archive.games.strands.ranking.phrases import PHRASE
from nightgrid.archive.games.strands.ranking.weights import Weights
from nightgrid.solvers.kernel.cache_folder import cache_base

F64 = npt.NDArray[np.float64]
OF_MINILM = (
    *COHERENCE, *FIT, *PLDA, *CLUE, *SPANGRAM, *PHRASE, "parts_alike", "parts_least_alike",
)  # fmt: skip
"""Features of covers that are taken of MiniLM's vectors."""
TERMS_OF_MINILM = frozenset({"clue", "wordness", "spangram_clue", "spangram_wordness"})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Early:
    """The early boards as choices among covers."""

    choices: list[Choice]
    """On lists in the order of the search."""
    alone: list[Choice]
    """On lists in the order of the search that knows no meaning of words."""


def early_boards(weights: Weights, meanings: Meanings, state: str) -> Early:
    """Take the features of the early boards, kept on disk for one state of weights and source."""
    path = cache_base() / "strands-fit" / f"early-{state}.pickle"
    if not path.exists():
        say("features of the early boards")
        listed = lists(dates()[0], meanings, start.SCORE)
        fit = Fit(listed, meanings, weights.learned.phrases)
        found = [fit.cover_choices(fit.search(alone=alone)[1]) for alone in (False, True)]
        plain = [[(one.features, one.meant) for one in choices] for choices in found]
        path.write_bytes(pickle.dumps(plain, 5))
    full, alone = (
        [Choice(features=rows, meant=meant) for rows, meant in choices]
        for choices in pickle.loads(path.read_bytes())
    )
    return Early(choices=full, alone=alone)


def refitted(choices: list[Choice], without: tuple[str, ...], ridge: float) -> F64:
    """Fit the weights of covers without some features: float64[FEATURES], 0 for these."""
    keep = [i for i, feature in enumerate(FEATURES) if feature not in without]
    origin = np.array([float(FEATURES[i] == "additive") for i in keep])
    fewer = [Choice(features=one.features[:, keep], meant=one.meant) for one in choices]
    weights = np.zeros(len(FEATURES))
    weights[keep] = learn(fewer, ridge, origin)
    return weights


def without_minilm(weights: Weights, early: Early, ridge: float) -> Weights:
    """Take MiniLM out as a whole: of the search, and of covers, whose weights are fitted again."""
    return replace(
        weights,
        search=weights.search_alone.without(TERMS_OF_MINILM),
        cover=refitted(early.alone, OF_MINILM, ridge),
    )
