"""The hash table of all kernels against a dictionary: find, enter, grow, and keys that collide."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.solvers.kernel.compiling import search_kernel
from nightgrid.solvers.kernel.hash_table import (
    EMPTY,
    clear,
    enter,
    enter_new,
    first_slot,
    hash_row,
    hash_span,
    is_crowded,
    is_same_row,
    next_slot,
    seek,
)
from tests.drawn import drawn

SMALLEST_BITS = 2
MOST_KEYS = 512


@search_kernel
def intern_rows(width, rows, index, bits, keys, numbers):
    """Number every key on first occurrence; return (distinct keys, bits of the index)."""
    held = 0
    clear(index, bits)
    for at in range(len(keys)):
        mixed = hash_row(width, keys, at)
        slot = first_slot(mixed, bits)
        while True:
            slot, row = seek(index, bits, mixed, slot)
            if row < 0 or is_same_row(width, rows, row, keys, at):
                break
            slot = next_slot(slot, bits)
        if row < 0:
            row = held
            for i in range(len(width)):
                rows[row, i] = keys[at, i]
            enter(index, slot, mixed, row)
            held += 1
            if is_crowded(held, bits):
                bits += 1
                clear(index, bits)
                for known in range(held):
                    enter_new(index, bits, hash_row(width, rows, known), known)
        numbers[at] = row
    return held, bits


@search_kernel
def find_span(words, begins, index, bits, mixed, key):
    """Look up words[begins[number]:begins[number + 1]]: a key of the caller's own form."""
    slot = first_slot(mixed, bits)
    while True:
        slot, number = seek(index, bits, mixed, slot)
        if number < 0:
            break
        begin = begins[number]
        same = begins[number + 1] - begin == len(key)
        for i in range(len(key)):
            same = same and words[begin + i] == key[i]
        if same:
            break
        slot = next_slot(slot, bits)
    return slot, number


def hash_of(key):
    return _hash_of(np.uint64(len(key)), key)


@search_kernel
def _hash_of(seed, key):
    return hash_span(seed, key, 0, len(key))


@search_kernel
def enter_at(index, slot, mixed, number):
    enter(index, slot, mixed, number)


words = st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1))


@pytest.mark.parametrize("width", [(0,), (0, 0), (0, 0, 0, 0)])
@settings(max_examples=drawn(60), deadline=None)
@given(data=st.data())
def test_rows_get_the_numbers_that_a_dictionary_gives(width, data):
    keys = data.draw(
        st.lists(st.tuples(*[words] * len(width)), min_size=1, max_size=MOST_KEYS // 2)
    )
    index = np.zeros(4 * MOST_KEYS, np.uint32)
    rows = np.zeros((MOST_KEYS, len(width)), np.uint64)
    numbers = np.full(len(keys), -1)
    held, bits = intern_rows(width, rows, index, SMALLEST_BITS, np.array(keys, np.uint64), numbers)
    known = {}
    expected = [known.setdefault(key, len(known)) for key in keys]
    assert numbers.tolist() == expected
    assert held == len(known)
    assert 2 * held <= 1 << bits <= max(4 * held, 1 << SMALLEST_BITS)
    assert (index[: 1 << bits] != EMPTY).sum() == held


@settings(max_examples=drawn(60), deadline=None)
@given(
    keys=st.lists(st.lists(words, max_size=5), min_size=1, max_size=60),
    alike=st.booleans(),
)
def test_keys_of_any_form_are_distinguished_even_if_all_hashes_are_alike(keys, alike):
    bits = 7
    index = np.full(1 << bits, EMPTY)
    pool = np.zeros(5 * len(keys), np.uint64)
    begins = np.zeros(len(keys) + 1, np.int64)
    known = {}
    for key in keys:
        array = np.array(key, np.uint64)
        mixed = np.uint64(2**64 - 1) if alike else np.uint64(hash_of(array))
        slot, number = find_span(pool, begins, index, bits, mixed, array)
        assert number == known.get(tuple(key), -1)
        if number < 0:
            number = known.setdefault(tuple(key), len(known))
            begins[number + 1] = begins[number] + len(key)
            pool[begins[number] : begins[number + 1]] = array
            enter_at(index, slot, mixed, number)
