"""Compounds as ranking finds them: up to four components, and of those the best-scored ones.

A compound's score is the log probability of its words in a row, in thousandths of a nat.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from nightgrid.solvers.kernel.compiling import I32, I64, U64
from nightgrid.solvers.stop import Stop
from nightgrid.solvers.strands import score as scores
from nightgrid.solvers.strands.paths import best_cut
from nightgrid.solvers.strands.pieces.components import Components, components_of, spelled_codes
from nightgrid.solvers.strands.pieces.compounds import (
    ANY_SCORE,
    FULL,
    JoinLimits,
    ScoreWeights,
    join_components,
    phrase_of,
)
from nightgrid.solvers.strands.pieces.pieces import Pieces, find_paths, merge_rows, no_pieces
from nightgrid.solvers.strands.pieces.words import Grid
from nightgrid.solvers.strands.ranking.vocabulary import Kind, Vocabulary
from nightgrid.solvers.strands.rules import COMPONENTS_MAX, Rules

KEPT = 30_000
"""Compounds of a board that are searched, those with the highest scores: the others, hundreds of
thousands on some boards, are hardly ever meant and would take most of the time."""
KEPT_WIDE = 4 * KEPT
"""Compounds that are searched if the theme words leave few covers."""
ROWS_MAX = 1 << 19
"""Rows of compounds in memory. Beyond them the worst are dropped."""
JOINTS_MAX = 1 << 26
"""Components that are tried in all; beyond them the next of LIMITS is used."""
FLOORS = (-20_500, -23_200)
"""Scores below which compounds are left out until there are too few: on most boards KEPT score at
least the first, and KEPT_WIDE the second."""
LIMITS = ((4, 1475), (3, 1250), (2, 1000))
"""Components and centibels that a compound may have; the first of them that a board allows."""
PART_CENTIZIPF = 300
NATS = 1000
"""Scores are thousandths of a nat."""
PER_DECADE = 1.5
RARE_ZIPF, PER_RARE_DECADE = 3.5, 1.0
PER_PHRASE_DECADE = 1.58
SHORT_LETTERS, SHORT_NATS = 2, 1.2
COUNT_NATS = (0.0, 0.0, 0.0, -2.0, -3.0)
"""By the number of components."""


@lru_cache(maxsize=4)
def weights_of(vocabulary: Vocabulary) -> tuple[I32, ScoreWeights]:
    """Price every word as a component: its cost and its score."""
    lexicon = vocabulary.lexicon
    costs = scores.component_costs(lexicon, PART_CENTIZIPF).astype(np.int32)
    zipf = lexicon.centizipf / 100
    letters = np.diff(lexicon.offsets)
    parts = (
        PER_DECADE * (zipf - 9)
        - PER_RARE_DECADE * np.maximum(0, RARE_ZIPF - zipf)
        - SHORT_NATS * (letters <= SHORT_LETTERS)
    )
    firsts = np.repeat(np.arange(len(lexicon)), np.diff(lexicon.phrase_offsets))
    met = lexicon.phrase_centizipf / 100 - 9
    bonus = np.maximum(0, met - (zipf[firsts] - 9) - (zipf[lexicon.phrase_second] - 9))
    weights = ScoreWeights(
        components=np.rint(NATS * parts).astype(np.int64),
        phrase_offsets=lexicon.phrase_offsets,
        phrase_second=lexicon.phrase_second,
        phrases=np.rint(NATS * PER_PHRASE_DECADE * bonus).astype(np.int64),
        counts=np.rint(NATS * np.array(COUNT_NATS)).astype(np.int64),
    )
    return costs, weights


def pair_scores(vocabulary: Vocabulary) -> I64:
    """Score words that are two in one as compounds; 0 for all others."""
    _, weights = weights_of(vocabulary)
    values = np.zeros(len(vocabulary.kind), np.int64)
    for word in np.flatnonzero(vocabulary.kind == Kind.PAIR).tolist():
        first, second = int(vocabulary.first[word]), int(vocabulary.second[word])
        values[word] = (
            weights.components[first] + weights.components[second]
            + phrase_of(first, second, weights) + weights.counts[2]
        )  # fmt: skip
    return values


def find_compounds(
    vocabulary: Vocabulary,
    grid: Grid,
    rules: Rules,
    words: Pieces,
    kept: int = KEPT,
    stop: Stop | None = None,
) -> tuple[Pieces, U64, int]:
    """Find the `kept` best-scored compounds of a board: pieces, codes, and which of LIMITS it took.

    A board on which even two components can be joined in too many ways has none.
    """
    lexicon = vocabulary.lexicon
    costs, weights = weights_of(vocabulary)
    paths = find_paths(lexicon, grid, 1, stop)
    spelled = spelled_codes(lexicon, np.unique(words.word[words.spans]))
    for tier, (most, centibels) in enumerate(LIMITS):
        components = components_of(paths, lexicon, costs, centibels)
        limits = JoinLimits(
            min_letters=rules.min_letters, components_max=min(most, COMPONENTS_MAX),
            cost_max=centibels, crossing=rules.crossing, rows_max=ROWS_MAX, steps_max=JOINTS_MAX,
            score_min=ANY_SCORE,
        )  # fmt: skip
        joined = _joined(components, weights, spelled, grid, limits, kept)
        if joined is not None:
            return *joined, tier
    return no_pieces(), np.empty((0, 2), np.uint64), len(LIMITS)


def _joined(
    components: Components,
    weights: ScoreWeights,
    spelled: U64,
    grid: Grid,
    limits: JoinLimits,
    kept: int,
) -> tuple[Pieces, U64] | None:
    """Join components and keep the best compounds; None beyond the limits.

    Compounds below a floor are left out, and hardly cost time. The floor falls until there are
    `kept`; if that takes too much memory, it rises to a score that `kept` ones are known to reach.
    """
    floors = [*FLOORS[kept > KEPT :], ANY_SCORE]
    while True:
        limits = limits._replace(score_min=floors.pop(0))
        found, masks, numbers = join_components(components, weights, grid, limits)
        if found < 0 and found != FULL:
            return None
        pieces, codes = best_of(masks[:found], numbers[:found], spelled, kept)
        if found == FULL:
            floor = int(pieces.score.min()) if len(pieces) == kept else ANY_SCORE
            if floor <= limits.score_min:
                return None
            floors = [floor]
        elif len(pieces) == kept or not floors:
            return pieces, codes


def best_of(masks: U64, numbers: I64, spelled: U64, kept: int) -> tuple[Pieces, U64]:
    """Merge rows, and keep the pieces with the highest scores and their codes, in canonical order.

    Of equal ones the first are kept. Rows of the highest scores are merged first, as many as give
    `kept` pieces: merging takes as much memory again as the rows do, and hardly any are kept. Rows
    of one score are merged together, so the result is as if all rows had been merged.
    """
    rows = 2 * kept
    while True:
        best = np.arange(len(masks))
        if rows < len(masks):
            floor = np.partition(numbers[:, 1], len(masks) - rows)[len(masks) - rows]
            best = np.flatnonzero(numbers[:, 1] >= floor)
        pieces, codes = merge_rows(masks[best], numbers[best], spelled)
        if len(pieces) >= kept or len(best) == len(masks):
            first = np.sort(np.argsort(-pieces.score, kind="stable")[:kept])
            return pieces.take(first), codes[first]
        rows *= 2


@lru_cache(maxsize=1 << 15)
def reading(vocabulary: Vocabulary, text: str) -> tuple[int, tuple[str, ...]]:
    """Cut a text into the components of the highest score: (score, components).

    Of equal ones, the fewest. A text without an allowed cut is one component of score 0.
    """
    costs, weights = weights_of(vocabulary)
    return best_cut(text, vocabulary.lexicon, costs, weights, *LIMITS[0]) or (0, (text,))
