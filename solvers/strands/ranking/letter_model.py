"""The probability of letters in a row: an n-gram model of words and joined words.

Prices of compounds are based on words. A strip of letters in no list, such as an invented name, is
priced only by its letters.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import I32, I64
from nightgrid.solvers.strands.ranking.compounds import NATS
from nightgrid.solvers.strands.ranking.vocabulary import Kind, Vocabulary

F64 = npt.NDArray[np.float64]

BEFORE = 3
"""Letters of context for the next one."""
ORDER = BEFORE + 1
CENTIZIPF_MIN = 100
"""Words of at least this frequency are counted."""
FLATTENED = 0.65
"""Power of a word's frequency that weighs it: spangrams are rarer words than those of texts.
Compounds are priced alike (1.5 nats a decade instead of 2.3)."""
TOGETHER = 1.0
"""How often a word is followed by another one of the spangram, for each time that it is the last.
"""
WORDS_AT_ONCE = 8192
"""Words that are counted at once: counting all would take 100 MB."""
SMOOTHED = 3.0
"""Weight of shorter contexts in a longer one, in letters."""


@lru_cache(maxsize=2)
def letter_prices(vocabulary: Vocabulary) -> I32:
    """Price letters given the previous ones, in thousandths of a nat, all negative: int32[symbols]
    * ORDER.

    Symbols are codes of the lexicon. The number after the last code stands before the first letter
    of a text and after the last one.
    """
    counts = _counts(vocabulary)
    sums = [counts]
    for _ in range(BEFORE):
        sums.append(sums[-1].sum(axis=0))
    chances: F64 = np.full(counts.shape[-1], 1 / counts.shape[-1])
    for own in reversed(sums):
        chances = (own + SMOOTHED * chances) / (own.sum(axis=-1, keepdims=True) + SMOOTHED)
    prices: I32 = np.minimum(np.rint(NATS * np.log(chances)), -1).astype(np.int32)
    prices.flags.writeable = False
    return prices


def _counts(vocabulary: Vocabulary) -> F64:
    """Count letters given the previous ones, within words and across two words."""
    lexicon = vocabulary.lexicon
    sizes = np.diff(lexicon.offsets)
    used = np.flatnonzero(
        (vocabulary.kind == Kind.WORD) & (lexicon.centizipf >= CENTIZIPF_MIN) & (sizes > 0)
    )
    symbols = len(lexicon.alphabet) + 1
    counts = np.zeros(symbols**ORDER)
    if not len(used):
        return counts.reshape((symbols,) * ORDER)
    weights = 10 ** (FLATTENED * lexicon.centizipf[used] / 100)
    weights *= len(used) / weights.sum()
    lasts = [np.zeros(symbols**before) for before in range(1, ORDER)]
    firsts = [np.zeros(symbols ** (ORDER - before)) for before in range(1, ORDER)]
    for start in range(0, len(used), WORDS_AT_ONCE):
        some = slice(start, start + WORDS_AT_ONCE)
        _count_words(vocabulary, used[some], weights[some], counts, lasts, firsts)
    for last, first in zip(lasts, firsts, strict=True):
        counts += TOGETHER * np.outer(last, first / max(first.sum(), 1e-9)).ravel()
    return counts.reshape((symbols,) * ORDER)


def _count_words(
    vocabulary: Vocabulary, words: I64, weights: F64, counts: F64, lasts: list[F64],
    firsts: list[F64],
) -> None:  # fmt: skip
    """Add the counts of words: letters given the previous ones, last ones, and first ones."""
    lexicon = vocabulary.lexicon
    symbols = len(lexicon.alphabet) + 1
    sizes = np.diff(lexicon.offsets)[words].astype(np.int64)
    # Word by word with BEFORE edges before it and one behind.
    bounds = np.concatenate([[0], np.cumsum(sizes + ORDER)])
    text = np.full(bounds[-1], symbols - 1, np.int64)
    inside = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    text[np.repeat(bounds[:-1] + BEFORE, sizes) + inside] = lexicon.letters[
        np.repeat(lexicon.offsets[words].astype(np.int64), sizes) + inside
    ]
    starts = np.repeat(bounds[:-1], sizes + 1) + (
        np.arange(sizes.sum() + len(sizes)) - np.repeat(np.cumsum(sizes + 1) - sizes - 1, sizes + 1)
    )
    counts += np.bincount(
        _numbered(text, starts, ORDER, symbols), np.repeat(weights, sizes + 1), len(counts)
    )
    ends = bounds[1:] - 1
    for before in range(1, ORDER):
        after = ORDER - before
        is_last, is_first = sizes >= before, sizes >= after
        lasts[before - 1] += np.bincount(
            _numbered(text, ends[is_last] - before, before, symbols), weights[is_last],
            symbols**before,
        )  # fmt: skip
        firsts[before - 1] += np.bincount(
            _numbered(text, bounds[:-1][is_first] + BEFORE, after, symbols), weights[is_first],
            symbols**after,
        )  # fmt: skip


def _numbered(text: I64, starts: I64, size: int, symbols: int) -> I64:
    """Number the `size` symbols from each of `starts` on."""
    numbers = np.zeros(len(starts), np.int64)
    for i in range(size):
        numbers = numbers * symbols + text[starts + i]
    return numbers
