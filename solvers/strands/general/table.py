"""States of any length with their values: one record after the other, found by hash.

A record is its hash, the length of its key, the key, and the value: a 128-bit count and a score.

The index is not that of nightgrid.solvers.kernel.hash_table, which finds keys by numbers below
2^28: an entry is the place of a record among up to 2^33 words, so that no array of places is read
between the two.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nightgrid.solvers.kernel.codes import OUT_OF_BYTES
from nightgrid.solvers.kernel.compiling import I64, U64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.machine import CLOCK_WORDS
from nightgrid.solvers.strands.states import table as tables

R_HASH, R_LENGTH, R_KEY = range(3)
VALUE_WORDS = 3
"""Behind the key: count, count, best score."""
PENDING = -(2**63)
"""Best score of a state whose value is not known yet."""
USED_WORDS, WORDS_MAX, LOWEST = 10, 11, 12
"""Fields of the control beside those of nightgrid.solvers.strands.states.table: record words used
and allowed, and the least first cell of a state whose value is known."""
TABLE_BYTES_MAX = 1 << 36
"""The most that is asked of the operating system, whatever the budget."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_2 = np.uint64(0xBF58476D1CE4E5B9)


class Records(NamedTuple):
    """Records, their index, and what the search counts and must not exceed."""

    words: U64
    slots: I64
    """Where a state's record begins; -1: nowhere."""
    control: I64
    clock: I64


def new_records(table_bytes: int) -> Records:
    """Make an empty table. Memory is taken by the operating system's leave only as it is used."""
    while True:
        try:
            return _allocate(min(table_bytes, TABLE_BYTES_MAX))
        except MemoryError:
            # More than this machine can promise: what it can is the budget then.
            table_bytes = min(table_bytes, TABLE_BYTES_MAX) // 2


def _allocate(table_bytes: int) -> Records:
    # The shortest record has seven words, and two to four places in the index.
    slots = 1 << max(tables.INDEX_BITS_FIRST, int(table_bytes // 32).bit_length() - 1)
    records = Records(
        words=np.empty(max(64, table_bytes // 8), np.uint64),
        slots=np.empty(slots, np.int64),
        control=np.zeros(max(tables.CONTROL_WORDS, LOWEST + 1), np.int64),
        clock=np.zeros(CLOCK_WORDS, np.int64),
    )
    records.control[tables.INDEX_BITS] = tables.INDEX_BITS_FIRST
    records.slots[: 1 << tables.INDEX_BITS_FIRST] = -1
    records.control[WORDS_MAX] = table_bytes // 8
    return records


@inlined_kernel
def hash_key(key: U64, length: Int) -> np.uint64:
    """Mix a key into 64 bits."""
    h = np.uint64(length)
    for i in range(length):
        h = (h ^ key[i]) * _MIX
        h ^= h >> np.uint64(32)
    return h * _MIX_2


@search_kernel
def find_record(key: U64, length: Int, h: np.uint64, records: Records) -> Int:
    """Look a state up; return where its value stands, or -1."""
    bits = records.control[tables.INDEX_BITS]
    last = (1 << bits) - 1
    slot = np.int64(h >> np.uint64(64 - bits))
    words = records.words
    while True:
        at = records.slots[slot]
        if at < 0:
            return -1
        if words[at + R_HASH] == h and words[at + R_LENGTH] == np.uint64(length):
            i = 0
            while i < length and words[at + R_KEY + i] == key[i]:
                i += 1
            if i == length:
                return at + R_KEY + length
        slot = (slot + 1) & last


@search_kernel
def add_record(key: U64, length: Int, h: np.uint64, records: Records) -> Int:
    """Write a state whose value is pending; return where its value stands, -1 without room."""
    control, words = records.control, records.words
    at = control[USED_WORDS]
    end = at + R_KEY + length + VALUE_WORDS
    grown = 2 * (control[tables.STATES] + 1) > (1 << control[tables.INDEX_BITS])
    index = np.int64(1) << (control[tables.INDEX_BITS] + np.int64(grown))
    if end + index > control[WORDS_MAX] or index > len(records.slots):
        control[tables.STATUS] = OUT_OF_BYTES
        return -1
    words[at + R_HASH], words[at + R_LENGTH] = h, np.uint64(length)
    for i in range(length):
        words[at + R_KEY + i] = key[i]
    words[end - 1] = np.uint64(PENDING)
    control[USED_WORDS] = end
    control[tables.STATES] += 1
    if grown:
        control[tables.INDEX_BITS] += 1
        records.slots[: 1 << control[tables.INDEX_BITS]] = -1
        other = np.int64(0)
        while other < end:
            _place(other, records)
            other += R_KEY + np.int64(words[other + R_LENGTH]) + VALUE_WORDS
    else:
        _place(at, records)
    return at + R_KEY + length


@search_kernel
def _place(at: Any, records: Records) -> None:
    bits = records.control[tables.INDEX_BITS]
    last = (1 << bits) - 1
    slots = records.slots
    slot = np.int64(records.words[at + R_HASH] >> np.uint64(64 - bits))
    while slots[slot] >= 0:
        slot = (slot + 1) & last
    slots[slot] = at
