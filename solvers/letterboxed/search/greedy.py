"""The greedy search of article 003: always the word with the most letters that are missing.

From every word a chain is begun, and goes on with the one next word that leaves the fewest letters
missing (of equal ones the longest, then the last of the alphabet), never from a letter on which a
word of the chain has ended before, until nothing is missing or the chain is too long. As in the
article words are taken as tiles allow: no letter more often than it stands on the board.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel.compiling import I32, I64, U64, kernel
from nightgrid.solvers.kernel.machine import ONE, popcount
from nightgrid.solvers.letterboxed.model import Model

WORDS_MAX = 6
"""The article speaks of five words; its code gives up after six."""


def greedy_chains(
    model: Model,
    words_max: int = WORDS_MAX,
    *,
    starts: range | None = None,
    starts_max: int | None = None,
    only_first: bool = False,
) -> list[tuple[int, ...]]:
    """Find the chains that the greedy search finds, in its order: longest first words first.

    Chains are words of the model, by number, without those that use a letter more often than it
    stands on the board. Chains are begun from the first `starts_max` words in that order, those of
    them that are in `starts`; with `only_first` until one is found. Takes boards with distinct
    letters, at most 64; finds nothing on others.
    """
    letters = len(model.alphabet)
    if not model.distinct or letters > 64 or not len(model):
        return []
    masks, order = _ordered(model)
    first = model.letters[model.offsets[:-1]][order]
    by_first = np.argsort(first, kind="stable")
    begins = np.searchsorted(first[by_first], np.arange(letters + 1))
    last = model.letters[model.offsets[1:] - 1]
    following = order[by_first]
    order = order[:starts_max]
    if starts is not None:
        order = order[(order >= starts.start) & (order < starts.stop)]
    # No letter is ended on twice but the last.
    out = np.zeros((len(order), min(words_max, letters + 1)), np.int64)
    lengths = np.zeros(len(order), np.int64)
    words = _Words(following, begins, masks, last, letters)
    run_greedy(words, order, only_first, out, lengths)
    return [tuple(out[i, :n].tolist()) for i, n in enumerate(lengths) if n]


def _ordered(model: Model) -> tuple[U64, I64]:
    sizes = np.diff(model.offsets)
    bits = ONE << model.letters.astype(np.uint64)
    masks = np.bitwise_or.reduceat(bits, model.offsets[:-1])
    order = np.lexsort((-np.arange(len(model)), -sizes))
    return masks, order[np.bitwise_count(masks)[order] == sizes[order]]


class _Words(NamedTuple):
    """The words that the greedy search chooses from."""

    following: I64
    """int64[words]: those that begin with one letter together, in the order of preference."""
    begins: I64
    """int64[letters + 1]: following[begins[a]:begins[a + 1]] begin with letter a."""
    masks: U64
    """uint64[words]: the letters of each word."""
    last: I32
    """int32[words]: the letter that each word ends on."""
    letters: int


@kernel
def run_greedy(words: _Words, starts: I64, only_first: bool, out: I64, lengths: I64) -> None:
    """Follow every start; row i of `out` gets its chain and `lengths[i]` its words, 0 for none."""
    following, begins, masks, last = words.following, words.begins, words.masks, words.last
    letters = words.letters
    full = (ONE << np.uint64(letters)) - ONE if letters < 64 else ~np.uint64(0)
    for i in range(len(starts)):
        word = starts[i]
        left = full & ~masks[word]
        used = np.uint64(0)
        out[i, 0] = word
        n = 1
        while left != np.uint64(0):
            ended = ONE << np.uint64(last[word])
            if used & ended != np.uint64(0) or n == out.shape[1]:
                break
            used |= ended
            best, missing = -1, 65
            for at in range(begins[last[word]], begins[last[word] + 1]):
                now = popcount(left & ~masks[following[at]])
                if now < missing:
                    best, missing = following[at], now
            if best < 0:
                break
            word = best
            left &= ~masks[word]
            out[i, n] = word
            n += 1
        if left == np.uint64(0):
            lengths[i] = n
            if only_first:
                return
