"""The default score of pieces: how probable it is that somebody meant them.

Hundredths of a decade of probability, as integers, so that sums are exact and ties are ties.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from solvers.lexicon.lexicon import Lexicon
from solvers.lexicon.parts import CERTAIN_CENTIZIPF


class Scoring(Protocol):
    """Any additive score: a whole number for every piece, the higher the better."""

    name: str
    """Changes whenever a score could."""

    def words(self, lexicon: Lexicon, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Score pieces that are words of the lexicon, given by index."""

    def parts(self, lexicon: Lexicon) -> npt.NDArray[np.int64]:
        """Score every word of the lexicon as a part of a compound."""

    def phrases(self, lexicon: Lexicon) -> npt.NDArray[np.int64]:
        """Score every phrase of the lexicon: added where its words are parts in a row."""

    def counts(self, parts_max: int) -> npt.NDArray[np.int64]:
        """Score numbers of parts, 0 to `parts_max`: added to a compound of so many."""


class Frequency:
    """Log probability of a word in running text; of a compound, that of its parts together."""

    name = "frequency-1"

    def words(self, lexicon: Lexicon, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Score words by their frequency; in a lexicon without frequencies all alike."""
        if not lexicon.has_frequencies:
            return np.zeros(len(words), np.int64)
        scores: npt.NDArray[np.int64] = lexicon.centizipf[words].astype(np.int64)
        return scores - CERTAIN_CENTIZIPF

    def parts(self, lexicon: Lexicon) -> npt.NDArray[np.int64]:
        """Score parts by their frequency."""
        if not lexicon.has_frequencies:
            return np.zeros(len(lexicon), np.int64)
        scores: npt.NDArray[np.int64] = lexicon.centizipf.astype(np.int64) - CERTAIN_CENTIZIPF
        return np.minimum(0, scores)

    def phrases(self, lexicon: Lexicon) -> npt.NDArray[np.int64]:
        """Score no phrase."""
        return np.zeros(len(lexicon.phrase_second), np.int64)

    def counts(self, parts_max: int) -> npt.NDArray[np.int64]:
        """Score all numbers of parts alike."""
        return np.zeros(parts_max + 1, np.int64)


FREQUENCY = Frequency()
