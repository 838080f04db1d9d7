"""Which words may be run together into a compound, and what each costs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.lexicon.lexicon import Lexicon

CERTAIN_CENTIZIPF = 900
"""Zipf frequency of a word that is every word: costs are counted from there."""
SHORT_COMPONENT_LETTERS = 3
COMPONENT_RELIEF_CENTIZIPF = 50
"""By how much rarer a component may be for every letter beyond SHORT_COMPONENT_LETTERS. Rare
components of real phrases are long (CRAWLIES, DUCKLING); what is rare and short is an
abbreviation."""
NO_COMPONENT = 2**15 - 1
"""Cost of a word that is no component: more than any limit on a compound."""


def component_costs(lexicon: Lexicon, part_centizipf: int) -> npt.NDArray[np.int32]:
    """Price every word as a component of a compound: int32[words], in centibels.

    The cost is what the word takes from the logarithm of the compound's probability, so that the
    costs of components add up; a compound is then held to a limit, however many components it has.
    NO_COMPONENT for a word rarer than `part_centizipf` (the longer it is, the rarer it may be). A
    lexicon without frequencies knows no difference: every word costs nothing.
    """
    if not lexicon.has_frequencies:
        return np.zeros(len(lexicon), np.int32)
    sizes = np.diff(lexicon.offsets)
    relief = COMPONENT_RELIEF_CENTIZIPF * np.maximum(0, sizes - SHORT_COMPONENT_LETTERS)
    centizipf = lexicon.centizipf.astype(np.int32)
    costs = np.maximum(0, CERTAIN_CENTIZIPF - centizipf)
    # A word of which no frequency is known (0) is no component, whatever its length.
    known = (centizipf >= part_centizipf - relief) & (centizipf > 0)
    return np.where(known, costs, NO_COMPONENT)
