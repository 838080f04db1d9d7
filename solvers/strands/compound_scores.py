"""What is looked up while compounds are joined: phrases of the board, and words it spells."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from solvers.compiling import kernel, search_kernel
from solvers.strands.component_paths import WORD, Components

_ZERO = np.uint64(0)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_2 = np.uint64(0xBF58476D1CE4E5B9)
_LEAST_SLOTS = 64


class ScoreWeights(NamedTuple):
    """What a compound scores: its components, the phrases they make, and how many they are."""

    components: np.ndarray
    """int64[words]."""
    phrase_offsets: np.ndarray
    """int32[words + 1], as in the lexicon."""
    phrase_second: np.ndarray
    phrases: np.ndarray
    """int64[phrases]: added for two components in a row that are a phrase."""
    counts: np.ndarray
    """int64: entry n is added to a compound of n components."""


def phrase_of(first: int, second: int, weights: ScoreWeights) -> int:
    """Look up in the lexicon what two words in a row score as a phrase; 0 when they are none."""
    start, stop = weights.phrase_offsets[first], weights.phrase_offsets[first + 1]
    at = start + np.searchsorted(weights.phrase_second[start:stop], second)
    if at < stop and weights.phrase_second[at] == second:
        return int(weights.phrases[at])
    return 0


@search_kernel
def hash_slot(mask: np.uint64, low: int, hi: np.uint64, lo: np.uint64, size: int) -> Any:
    """Mix a mask, a number and a code into a slot of a table of `size` slots, a power of two."""
    h = (mask ^ (hi * _MIX)) * _MIX_2
    h ^= h >> np.uint64(29)
    h = (h ^ lo ^ np.uint64(low)) * _MIX
    h ^= h >> np.uint64(32)
    return np.int64(h & np.uint64(size - 1))


@kernel
def hash_phrases(components: Components, weights: ScoreWeights) -> Any:
    """Hash the pairs of words on the board that are phrases: (keys, -1 for none, scores)."""
    words = len(weights.components)
    fields, offsets, seconds = (
        components.fields,
        weights.phrase_offsets,
        weights.phrase_second,
    )
    here = np.zeros(words, np.uint8)
    for i in range(len(fields)):
        here[fields[i, WORD]] = 1
    count = 0
    for turn in range(2):
        if turn == 1:
            size = _LEAST_SLOTS
            while size < 4 * count:
                size *= 2
            keys = np.full(size, -1, np.int64)
            scores = np.zeros(size, np.int64)
        for word in range(words):
            if not here[word]:
                continue
            for p in range(offsets[word], offsets[word + 1]):
                second = seconds[p]
                if not here[second]:
                    continue
                if turn == 0:
                    count += 1
                    continue
                key = np.int64(word) * words + second
                slot = hash_slot(np.uint64(key), 0, _ZERO, _ZERO, size)
                while keys[slot] >= 0:
                    slot = (slot + 1) & (size - 1)
                keys[slot] = key
                scores[slot] = weights.phrases[p]
    return keys, scores


@search_kernel
def phrase_score(first: int, second: int, words: int, keys: np.ndarray, scores: np.ndarray) -> Any:
    """Look up what two words in a row score as a phrase; 0 when they are none."""
    key = np.int64(first) * words + second
    size = len(keys)
    slot = hash_slot(np.uint64(key), 0, _ZERO, _ZERO, size)
    while keys[slot] >= 0:
        if keys[slot] == key:
            return scores[slot]
        slot = (slot + 1) & (size - 1)
    return np.int64(0)


@kernel
def hash_codes(codes: np.ndarray) -> np.ndarray:
    """Keep codes in a hash table: uint64[size, 2], 0 where there is none."""
    size = _LEAST_SLOTS
    while size < 4 * len(codes):
        size *= 2
    table = np.zeros((size, 2), np.uint64)
    for i in range(len(codes)):
        slot = hash_slot(_ZERO, 0, codes[i, 0], codes[i, 1], size)
        while table[slot, 0] | table[slot, 1]:
            slot = (slot + 1) & (size - 1)
        table[slot] = codes[i]
    return table


@search_kernel
def is_known(hi: np.uint64, lo: np.uint64, table: np.ndarray) -> bool:
    """Tell whether a code is in a table of `hash_codes`."""
    slot = hash_slot(_ZERO, 0, hi, lo, len(table))
    while table[slot, 0] | table[slot, 1]:
        if table[slot, 0] == hi and table[slot, 1] == lo:
            return True
        slot = (slot + 1) & (len(table) - 1)
    return False
