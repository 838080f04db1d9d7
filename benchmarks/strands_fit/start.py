"""Where fitting starts: weights by hand, from studies of the same boards (nats).

A ridge leaves kinds of words that few boards have where they start: words of a list for spelling
alone, stems and pairs start near where they are as frequent as on the first 518 boards (2, 1 and 2
of 3,219 theme words).
"""

from __future__ import annotations

from nightgrid.solvers.strands.ranking.weighed_terms import WeighedTerms

WEIGHTS: dict[str, float] = {
    "zipf": 1.49,
    "below_1.5": -1.83,
    "below_3": -1.51,
    "above_4": -0.92,
    "above_5": 0.55,
    "letters_4": -0.81,
    "letters_7": 0.77,
    "beyond_7": 0.49,
    "ing": -1.06,
    "ed": -1.68,
    "s": -1.47,
    "spelling": 4.0,
    "stem": -4.0,
    "pair": -6.0,
    "unlisted": -1.0,
    "crosses_itself": -2.5,
    "crosses_again": -1.0,
    "diagonal": -0.3,
    "turns": -0.1,
    "edges": 0.1,
    "compound": 7.44,
    "compound_text": 1.0,
    "spangram_zipf": 1.49,
    "spangram_below_1.5": -1.83,
    "spangram_below_3": -1.5,
    "spangram_above_4": -0.9,
    "spangram_unlisted": -1.0,
    "spangram_spelling": -1.0,
    "spangram_stem": -5.0,
    "spangram_crosses_itself": -2.5,
    "spangram_diagonal": -0.3,
    "spangram_turns": -0.1,
    "spangram_ed": -1.0,
    "spangram_ing": -0.5,
    "clue": 3.5,
    "spangram_clue": 3.5,
}
SCORE = WeighedTerms("by-hand-2", WEIGHTS)
