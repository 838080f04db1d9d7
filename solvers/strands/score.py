"""The default score of pieces: how probable it is that somebody meant them.

Hundredths of a decade of probability, as integers, so that sums are exact and ties are ties.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.lexicon.components import CERTAIN_CENTIZIPF
from nightgrid.solvers.lexicon.lexicon import Lexicon

COMMON_CENTIZIPF = 350
"""From here on, a word that is ten times as frequent counts less than a decade more."""
COMMON_DIVISOR = 3
PHRASE_DIVISOR = 2
"""Of what is known about a phrase this much counts: lists of phrases are of other texts."""
MORE_COMPONENTS_CENTIBELS = 100
"""What a compound loses for every component beyond the first."""


class Scoring(Protocol):
    """Any additive score: a whole number for every piece, the higher the better."""

    name: str
    """Changes whenever a score could."""

    def words(self, lexicon: Lexicon, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Score pieces that are words of the lexicon, given by index."""

    def components(self, lexicon: Lexicon) -> npt.NDArray[np.int64]:
        """Score every word of the lexicon as a component of a compound."""

    def phrases(self, lexicon: Lexicon) -> npt.NDArray[np.int64]:
        """Score every phrase of the lexicon: added where its words are components in a row."""

    def counts(self, lexicon: Lexicon, components_max: int) -> npt.NDArray[np.int64]:
        """Score numbers of components, 0 to `components_max`: added to a compound of so many."""


class Frequency:
    """Log probability of a word in running text, less of it for common words (not for components).

    Somebody who makes a board takes rare words rarely, but common words hardly more often than
    middling ones. In a lexicon without frequencies everything scores 0.
    """

    name = "frequency-2"

    def words(self, lexicon: Lexicon, words: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Score words by their frequency; above COMMON_CENTIZIPF a share of it counts."""
        if not lexicon.has_frequencies:
            return np.zeros(len(words), np.int64)
        centizipf = lexicon.centizipf[words].astype(np.int64)
        common = np.maximum(0, centizipf - COMMON_CENTIZIPF)
        return centizipf - common + common // COMMON_DIVISOR - CERTAIN_CENTIZIPF

    def components(self, lexicon: Lexicon) -> npt.NDArray[np.int64]:
        """Score components by their frequency: of phrases, common words are no less a component."""
        if not lexicon.has_frequencies:
            return np.zeros(len(lexicon), np.int64)
        scores: npt.NDArray[np.int64] = lexicon.centizipf.astype(np.int64) - CERTAIN_CENTIZIPF
        return np.minimum(0, scores)

    def phrases(self, lexicon: Lexicon) -> npt.NDArray[np.int64]:
        """Score phrases by how much more often their words meet than chance would have it."""
        firsts = np.repeat(np.arange(len(lexicon)), np.diff(lexicon.phrase_offsets))
        components = self.components(lexicon)
        together = lexicon.phrase_centizipf.astype(np.int64) - CERTAIN_CENTIZIPF
        bonus = together - components[firsts] - components[lexicon.phrase_second]
        return np.maximum(0, bonus) // PHRASE_DIVISOR

    def counts(self, lexicon: Lexicon, components_max: int) -> npt.NDArray[np.int64]:
        """Charge every component of a compound but the first."""
        if not lexicon.has_frequencies:
            return np.zeros(components_max + 1, np.int64)
        return -MORE_COMPONENTS_CENTIBELS * np.maximum(0, np.arange(components_max + 1) - 1)


FREQUENCY = Frequency()
