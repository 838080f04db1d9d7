"""What is looked up while compounds are joined: phrases of the board, and words it spells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import Int, inlined_kernel, kernel, search_kernel
from nightgrid.solvers.kernel.hash_table import (
    EMPTY,
    Index,
    enter,
    enter_new,
    first_slot,
    mix_first,
    mix_last,
    mix_next,
    next_slot,
    seek,
)
from nightgrid.solvers.strands.pieces.component_paths import WORD, Components

_LEAST_BITS = 6
"""The least table has 2^6 slots."""


class ScoreWeights(NamedTuple):
    """What a compound scores: its components, the phrases they make, and how many they are."""

    components: npt.NDArray[np.int64]
    """int64[words]."""
    phrase_offsets: npt.NDArray[np.int32]
    """int32[words + 1], as in the lexicon."""
    phrase_second: npt.NDArray[np.int32]
    """int32[phrases], as in the lexicon."""
    phrases: npt.NDArray[np.int64]
    """int64[phrases]: added for two components in a row that are a phrase."""
    counts: npt.NDArray[np.int64]
    """int64: entry n is added to a compound of n components."""


class Phrases(NamedTuple):
    """The pairs of words on a board that are phrases, found by their key."""

    keys: npt.NDArray[np.int64]
    """int64[pairs]: first word * words of the lexicon + second word."""
    scores: npt.NDArray[np.int64]
    """int64[pairs]."""
    slots: Index
    bits: Int


class Codes(NamedTuple):
    """Distinct codes of letters, found by their hash."""

    codes: npt.NDArray[np.uint64]
    """uint64[n, 2]."""
    slots: Index
    bits: Int


def phrase_of(first: int, second: int, weights: ScoreWeights) -> int:
    """Look up in the lexicon what two words in a row score as a phrase; 0 when they are none."""
    start, stop = weights.phrase_offsets[first], weights.phrase_offsets[first + 1]
    at = start + np.searchsorted(weights.phrase_second[start:stop], second)
    if at < stop and weights.phrase_second[at] == second:
        return int(weights.phrases[at])
    return 0


@kernel
def _bits_for(keys: Int) -> Int:
    """Return how many bits number the slots of which so many keys take at most a quarter."""
    bits = np.int64(_LEAST_BITS)
    while 1 << bits < 4 * keys:
        bits += 1
    return bits


@kernel
def hash_phrases(components: Components, weights: ScoreWeights) -> Phrases:
    """Index the pairs of words on the board that are phrases."""
    words = len(weights.components)
    fields, offsets, seconds = components.fields, weights.phrase_offsets, weights.phrase_second
    here = np.zeros(words, np.uint8)
    for i in range(len(fields)):
        here[fields[i, WORD]] = 1
    count = 0
    for word in range(words):
        if here[word]:
            for p in range(offsets[word], offsets[word + 1]):
                count += here[seconds[p]]
    bits = _bits_for(count)
    keys, scores = np.empty(count, np.int64), np.empty(count, np.int64)
    slots = np.full(1 << bits, EMPTY, np.uint32)
    number = 0
    for word in range(words):
        if not here[word]:
            continue
        for p in range(offsets[word], offsets[word + 1]):
            if here[seconds[p]]:
                keys[number] = np.int64(word) * words + seconds[p]
                scores[number] = weights.phrases[p]
                enter_new(slots, bits, mix_first(np.uint64(keys[number])), number)
                number += 1
    return Phrases(keys, scores, slots, bits)


@search_kernel
def phrase_score(first: Int, second: Int, words: Int, phrases: Phrases) -> Int:
    """Look up what two words in a row score as a phrase; 0 when they are none."""
    key = np.int64(first) * words + second
    mixed = mix_first(np.uint64(key))
    slot = first_slot(mixed, phrases.bits)
    while True:
        slot, number = seek(phrases.slots, phrases.bits, mixed, slot)
        if number < 0:
            return np.int64(0)
        if phrases.keys[number] == key:
            return phrases.scores[number]
        slot = next_slot(slot, phrases.bits)


@inlined_kernel
def _find_code(hi: np.uint64, lo: np.uint64, mixed: np.uint64, known: Codes) -> tuple[Int, Int]:
    """Look a code up; return its slot and number, or the slot that is free for it and -1."""
    slot = first_slot(mixed, known.bits)
    while True:
        slot, number = seek(known.slots, known.bits, mixed, slot)
        if number < 0 or (known.codes[number, 0] == hi and known.codes[number, 1] == lo):
            return slot, number
        slot = next_slot(slot, known.bits)


@inlined_kernel
def _mixed_code(hi: np.uint64, lo: np.uint64) -> np.uint64:
    return mix_last(mix_next(mix_first(hi), lo))


@kernel
def hash_codes(codes: npt.NDArray[np.uint64]) -> Codes:
    """Index distinct codes (uint64[n, 2])."""
    bits = _bits_for(len(codes))
    slots = np.full(1 << bits, EMPTY, np.uint32)
    for i in range(len(codes)):
        enter_new(slots, bits, _mixed_code(codes[i, 0], codes[i, 1]), i)
    return Codes(codes, slots, bits)


@search_kernel
def is_known(hi: np.uint64, lo: np.uint64, known: Codes) -> bool:
    """Tell whether a code is among those of `hash_codes`."""
    return bool(_find_code(hi, lo, _mixed_code(hi, lo), known)[1] >= 0)


@kernel
def number_codes(codes: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Number equal codes (uint64[n, 2]) alike, in the order of their first rows: int64[n]."""
    bits = _bits_for(len(codes))
    known = Codes(codes, np.full(1 << bits, EMPTY, np.uint32), bits)
    numbers = np.empty(len(codes), np.int64)
    count = 0
    for i in range(len(codes)):
        mixed = _mixed_code(codes[i, 0], codes[i, 1])
        slot, first = _find_code(codes[i, 0], codes[i, 1], mixed, known)
        if first >= 0:
            numbers[i] = numbers[first]
        else:
            enter(known.slots, slot, mixed, i)
            numbers[i] = count
            count += 1
    return numbers
