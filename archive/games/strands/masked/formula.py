"""The formula of reference 004, to compare with: likeness to the clue, language model, frequency.

A cover scores the mean over its words of 0.5 times the likeness to the clue, 0.3 times the
probability by the masked language model, and 0.2 times the frequency. No weight is fitted. Likeness
is MiniLM's, where 004 takes all-mpnet-base-v2, which no package of the index carries.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.masked.masked_model import MaskedModel
from nightgrid.archive.games.strands.ranking.features import texts_of
from nightgrid.archive.games.strands.ranking.meaning import Meanings
from nightgrid.solvers.strands.ranking.board import RankedBoard
from nightgrid.solvers.strands.ranking.search import Scored

LIKENESS, PROBABILITY, FREQUENCY = 0.5, 0.3, 0.2
ZIPF_MAX = 8.0
"""The highest frequency on the Zipf scale, by which frequencies are scaled to 0 to 1."""


def formula_scores(
    board: RankedBoard,
    covers: Sequence[Scored],
    clue: str | None,
    meanings: Meanings,
    model: MaskedModel | None,
) -> npt.NDArray[np.float64]:
    """Score covers by 004's formula: float64[covers]; without a model its term is left out.

    The probability of a word is the geometric mean of those of its pieces, scaled so that the most
    probable word of the list has 1. The frequency of a spangram of several words is that of its
    rarest one.
    """
    if not covers:
        return np.zeros(0)
    vocabulary = meanings.vocabulary
    texts = texts_of(board, covers, vocabulary)
    zipf: dict[str, float] = {}
    listed: list[list[str]] = []
    for words, parts in zip(texts.words, texts.spangrams, strict=True):
        own = {meanings.text_of(word): float(vocabulary.zipf[word]) for word in words}
        found = [vocabulary.lexicon.find(part) for part in parts]
        rarest = min(float(vocabulary.zipf[word]) if word >= 0 else 0.0 for word in found)
        own[" ".join(parts).lower()] = rarest
        zipf |= own
        listed.append(list(own))
    names = sorted(zipf)
    about = (clue or "").lower()
    likeness = meanings.embed(names) @ meanings.embed([about])[0]
    score = LIKENESS * likeness + FREQUENCY * np.array([zipf[name] for name in names]) / ZIPF_MAX
    if model is not None:
        nats = model.log_likelihoods(about, names)
        score = score + PROBABILITY * np.exp(nats - nats.max())
    of = dict(zip(names, score.tolist(), strict=True))
    return np.array([float(np.mean([of[name] for name in words])) for words in listed])
