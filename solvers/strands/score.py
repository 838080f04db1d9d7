"""The default score of pieces: how probable it is that somebody meant them.

Hundredths of a decade of probability, as integers, so that sums are exact and ties are ties.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from solvers.lexicon.lexicon import Lexicon
from solvers.lexicon.parts import CERTAIN_CENTIZIPF

COMPOUND_PRIOR = 0
"""Added to every compound."""


class Scoring(Protocol):
    """Any additive score: a whole number for every piece, the higher the better."""

    name: str
    """Changes whenever a score could."""

    def words(self, lexicon: Lexicon, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Score pieces that are words of the lexicon, given by index."""

    def compounds(self, costs: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Score compounds, given the costs of their parts together (solvers.lexicon.parts)."""


class Frequency:
    """Log probability of a word in running text; of a compound, that of its parts together."""

    name = "frequency-1"

    def words(self, lexicon: Lexicon, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Score words by their frequency; in a lexicon without frequencies all alike."""
        if not lexicon.has_frequencies:
            return np.zeros(len(words), np.int64)
        scores: npt.NDArray[np.int64] = lexicon.centizipf[words].astype(np.int64)
        return scores - CERTAIN_CENTIZIPF

    def compounds(self, costs: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Score compounds by the frequencies of their parts."""
        return COMPOUND_PRIOR - costs.astype(np.int64)


FREQUENCY = Frequency()
