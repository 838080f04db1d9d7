"""Scores of pieces and costs of components: how likely a board's maker meant them.

Hundredths of a decade of probability, as integers, so that sums are exact and ties are ties.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import I32, I64
from nightgrid.solvers.lexicon.lexicon import CERTAIN_CENTIZIPF, Lexicon

COMMON_CENTIZIPF = 350
"""From here on, a word that is ten times as frequent counts less than a decade more."""
COMMON_DIVISOR = 3
PHRASE_DIVISOR = 2
"""Divides the score of a phrase: lists of phrases come from other texts."""
MORE_COMPONENTS_CENTIBELS = 100
"""Penalty of a compound for every component beyond the first."""
SHORT_COMPONENT_LETTERS = 3
COMPONENT_RELIEF_CENTIZIPF = 50
"""How much rarer a component may be for every letter beyond SHORT_COMPONENT_LETTERS. Rare
components of real phrases are long (CRAWLIES, DUCKLING); rare and short ones are abbreviations."""
NO_COMPONENT = 2**15 - 1
"""Cost of a word that is not a component: more than any limit on a compound."""


def score_words(lexicon: Lexicon, words: npt.NDArray[Any]) -> I64:
    """Score pieces that are words of the lexicon, given by index, by their log probability.

    A share of it counts above COMMON_CENTIZIPF: boards use rare words rarely, but common words
    hardly more often than middling ones. In a lexicon without frequencies everything scores 0.
    """
    if not lexicon.has_frequencies:
        return np.zeros(len(words), np.int64)
    centizipf = lexicon.centizipf[words].astype(np.int64)
    common = np.maximum(0, centizipf - COMMON_CENTIZIPF)
    return centizipf - common + common // COMMON_DIVISOR - CERTAIN_CENTIZIPF


def score_components(lexicon: Lexicon) -> I64:
    """Score every word as a component of a compound, common words without a discount."""
    if not lexicon.has_frequencies:
        return np.zeros(len(lexicon), np.int64)
    scores: I64 = lexicon.centizipf.astype(np.int64) - CERTAIN_CENTIZIPF
    return np.minimum(0, scores)


def score_phrases(lexicon: Lexicon) -> I64:
    """Score every phrase by how much more often its words meet than by chance.

    It is added if both words are consecutive components.
    """
    firsts = np.repeat(np.arange(len(lexicon)), np.diff(lexicon.phrase_offsets))
    components = score_components(lexicon)
    together = lexicon.phrase_centizipf.astype(np.int64) - CERTAIN_CENTIZIPF
    bonus = together - components[firsts] - components[lexicon.phrase_second]
    return np.maximum(0, bonus) // PHRASE_DIVISOR


def score_counts(lexicon: Lexicon, components_max: int) -> I64:
    """Score numbers of components, 0 to `components_max`: a charge for all but the first."""
    if not lexicon.has_frequencies:
        return np.zeros(components_max + 1, np.int64)
    return -MORE_COMPONENTS_CENTIBELS * np.maximum(0, np.arange(components_max + 1) - 1)


def component_costs(lexicon: Lexicon, part_centizipf: int) -> I32:
    """Price every word as a component of a compound: int32[words], in centibels.

    The cost is what the word takes from the logarithm of the compound's probability, so that the
    costs of components add up; a compound is then held to a limit, however many components it has.
    NO_COMPONENT for a word rarer than `part_centizipf` (the longer it is, the rarer it may be). In
    a lexicon without frequencies every word costs nothing.
    """
    if not lexicon.has_frequencies:
        return np.zeros(len(lexicon), np.int32)
    sizes = np.diff(lexicon.offsets)
    relief = COMPONENT_RELIEF_CENTIZIPF * np.maximum(0, sizes - SHORT_COMPONENT_LETTERS)
    centizipf = lexicon.centizipf.astype(np.int32)
    costs = np.maximum(0, CERTAIN_CENTIZIPF - centizipf)
    # A word of unknown frequency (0) is not a component, whatever its length.
    known = (centizipf >= part_centizipf - relief) & (centizipf > 0)
    return np.where(known, costs, NO_COMPONENT)
