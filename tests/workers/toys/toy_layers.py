"""A double of a count by layers: how many walks of so many steps a small crowded graph has."""

from collections import Counter

import numpy as np

from nightgrid.solvers.algebra import Statistics
from nightgrid.solvers.reasons import ReasonCode

LAYERS = 10
PLACES = 200
"""States of a layer at most."""
BUCKETS = 16


def children(number, layer, place):
    # Grows to nearly all places, then shrinks towards one; now and then a step leads nowhere.
    width = min(3 ** (layer + 1), PLACES, 3 ** (LAYERS - layer - 1))
    steps = [step for step in range(4) if (place + step + number * layer) % 7]
    return [(place * 7 + step * step * 11 + number + layer) % width for step in steps]


def walks(number):
    """Count without any machinery."""
    here = {0: 1}
    for layer in range(LAYERS):
        there = Counter()
        for place, count in here.items():
            for child in children(number, layer, place):
                there[child] += count
        here = there
    return sum(here.values())


def states(number):
    """Count the states before the last layer."""
    here, found = {0}, 0
    for layer in range(LAYERS):
        found += len(here)
        here = {child for place in here for child in children(number, layer, place)}
    return found


class ToyLayers:
    layers = LAYERS
    row_words = 3
    buckets = BUCKETS
    layout = "toy"

    def __init__(self, number, budget):
        self._number = number
        self._room = budget.table_bytes // (8 * self.row_words)
        self._here = {}
        self.statistics = Statistics()

    @property
    def rows(self):
        rows = [(place, count >> 64, count & 2**64 - 1) for place, count in self._here.items()]
        return np.array(rows, np.uint64).reshape(-1, 3)

    def begin(self):
        self._here = {0: 1}

    def clear(self):
        self._here = {}

    def gather(self, rows):
        for place, hi, lo in rows.tolist():
            self._here[place] = self._here.get(place, 0) + (hi << 64 | lo)
        return len(self._here) <= self._room

    def hold(self, rows, begins):
        assert begins[0] == 0
        assert begins[-1] == len(rows)
        return self.gather(rows)

    def gather_held(self):
        return len(self._here) <= self._room

    def renew(self, budget):
        self.clear()
        self.statistics = Statistics()

    def advance(self, first, last, rows_max=None):
        for layer in range(first, last):
            there = Counter()
            for place, count in self._here.items():
                for child in children(self._number, layer, place):
                    there[child] += count
            most = len(self._here) + len(there)
            self.statistics += Statistics(
                states=len(self._here), nodes=3 * len(self._here), kernel_ns=1, table_bytes=most
            )
            if most > self._room:
                return layer, ReasonCode.TABLE_BYTES
            self._here = dict(there)
            if rows_max is not None and len(there) > rows_max:
                return layer + 1, None
        return last, None

    def by_bucket(self):
        rows = self.rows
        bucket = rows[:, 0] * 7 % BUCKETS
        begins = np.zeros(BUCKETS + 1, np.int64)
        np.cumsum(np.bincount(bucket.astype(np.int64), minlength=BUCKETS), out=begins[1:])
        return rows[np.argsort(bucket, kind="stable")], begins

    def total(self):
        return sum(self._here.values())
