"""Scores: weights of terms, by a name that changes whenever a score could."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.strands.ranking.terms import SPANGRAM_TERMS, THEME_TERMS

PRIORS = {"strip": -3.5, "strip_text": 1.0}
"""Default weights of terms that no fit has seen. Strips are only searched on boards with few
covers: of some 35 early ones none needs one, so at most one in 36 does."""


class WeighedTerms:
    """A score given as weights by the names of terms; missing ones get PRIORS, or 0."""

    def __init__(self, name: str, weights: Mapping[str, Any]) -> None:
        """Raise PermanentError for an unknown term."""
        self.name = name
        unknown = sorted(set(weights) - {*THEME_TERMS, *SPANGRAM_TERMS})
        if unknown:
            raise PermanentError(f"score {name} weighs {unknown[0]!r}; expected names of terms")
        weights = {**PRIORS, **weights}
        # Nats by THEME_TERMS and SPANGRAM_TERMS: what a unit of each term adds in a role.
        self.theme = np.array([float(weights.get(term, 0)) for term in THEME_TERMS])
        self.spangram = np.array([float(weights.get(term, 0)) for term in SPANGRAM_TERMS])

    def weights(self) -> dict[str, float]:
        """Return the weights by name."""
        values = zip((*THEME_TERMS, *SPANGRAM_TERMS), (*self.theme, *self.spangram), strict=True)
        return {name: float(value) for name, value in values}
