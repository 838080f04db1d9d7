"""Tables that grow on demand, within the budget's bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from nightgrid.solvers.kernel.hash_table import EMPTY, MOST_NUMBERS
from nightgrid.solvers.kernel.machine import CLOCK_WORDS, STOP_AT
from nightgrid.solvers.letterboxed.states import graph as graphs
from nightgrid.solvers.letterboxed.states.graph import Graph
from nightgrid.solvers.letterboxed.states.ways_of_playing import Plays

STATES_FIRST = 1 << 10
EDGES_FIRST = 1 << 15
ROWS_FIRST = 1 << 8


def larger(array: Any, least: int) -> Any:
    """Copy an array into one at least twice as long, of at least `least` rows."""
    new = np.empty((max(2 * len(array), least), *array.shape[1:]), array.dtype)
    new[: len(array)] = array
    return new


def table_bytes(*tables: Any) -> int:
    """Add up the bytes of all arrays."""
    return sum(a.nbytes for table in tables for a in table if isinstance(a, np.ndarray))


class GrowingGraph:
    """The graph of one search. State 0 is its root, with the possible first words."""

    def __init__(self, key: Any, left: int, words: range, limit: int, most_bytes: int) -> None:
        size = max(len(words), 1)
        states = STATES_FIRST
        self.most_bytes = most_bytes
        self.plays: Any = None
        self.graph = Graph(
            control=np.zeros(graphs.CONTROL_SIZE, np.int64),
            last=np.empty(states, np.int32),
            lo=np.empty(states, np.int32),
            hi=np.empty(states, np.int32),
            cost=np.empty(states, np.int64),
            left=np.empty(states, np.int32),
            base=np.full(states, -1, np.int64),
            key=np.empty(states, np.int64),
            key_size=np.empty(states, np.int32),
            pool=np.empty(max(len(key), 2 * states), np.uint64),
            slots=np.full(4 * states, EMPTY, np.uint32),
            edges=np.empty(min(EDGES_FIRST, 64 * size), np.int32),
            heap_key=np.empty(states, np.int64),
            heap_state=np.empty(states, np.int32),
            clock=np.zeros(CLOCK_WORDS, np.int64),
        )
        graph, control = self.graph, self.graph.control
        graph.last[0], graph.lo[0], graph.hi[0] = -1, words.start, words.stop
        graph.cost[0], graph.left[0], graph.base[0] = 0, left, -1
        graph.key[0], graph.key_size[0] = 0, len(key)
        graph.pool[: len(key)] = key
        graph.heap_key[0] = graph.heap_state[0] = 0
        control[graphs.STATES], control[graphs.POOL], control[graphs.HEAP] = 1, len(key), 1
        control[graphs.LIMIT] = limit
        control[graphs.INDEX_BITS] = (4 * states).bit_length() - 1

    def allow(self, nodes: int, deadline_ns: int, stop_address: int = 0) -> None:
        """Set the rest of the budget, and the address of the stop flag."""
        control = self.graph.control
        self.graph.clock[STOP_AT] = stop_address
        control[graphs.NODES_MAX], control[graphs.DEADLINE_NS] = nodes, deadline_ns
        control[graphs.TICK] = graphs.CLOCK_STRIDE - 1

    def make_plays(self, size: int, longest: int, letters: int) -> None:
        """Make the scratch of the general engine."""
        self.plays = Plays(
            rows=np.empty((ROWS_FIRST, size), np.uint64),
            begins=np.zeros(longest + 3, np.int64),
            slots=np.empty(2 * ROWS_FIRST, np.int32),
            stamps=np.zeros(2 * ROWS_FIRST, np.int64),
            state=np.zeros(1, np.int64),
            to_come=np.zeros(letters, np.int32),
        )

    @property
    def bytes(self) -> int:
        """Bytes of the tables."""
        return table_bytes(self.graph, self.plays or ())

    def grow(self) -> bool:
        """Enlarge the tables for the next state; False if that exceeds the budget."""
        graph, control = self.graph, self.graph.control
        state = int(graph.heap_state[0])
        words = int(graph.hi[state] - graph.lo[state])
        states = int(control[graphs.STATES]) + words
        heap = int(control[graphs.HEAP]) + words + 1
        pool = int(control[graphs.POOL]) + words + 1
        short = int(control[graphs.SHORT])
        control[graphs.SHORT] = 0
        if short == graphs.SHORT_POOL:
            pool = 2 * len(graph.pool)
        new: dict[str, Any] = {}
        if states > MOST_NUMBERS:
            return False
        if states > len(graph.last) or 2 * states > len(graph.slots):
            for name in ("last", "lo", "hi", "cost", "left", "base", "key", "key_size"):
                new[name] = larger(getattr(graph, name), states)
            control[graphs.INDEX_BITS] = (4 * states - 1).bit_length()
            new["slots"] = np.full(1 << int(control[graphs.INDEX_BITS]), EMPTY, np.uint32)
        if control[graphs.EDGES] + words > len(graph.edges):
            new["edges"] = larger(graph.edges, int(control[graphs.EDGES]) + words)
        if heap > len(graph.heap_key):
            new["heap_key"] = larger(graph.heap_key, heap)
            new["heap_state"] = larger(graph.heap_state, heap)
        if pool > len(graph.pool):
            new["pool"] = larger(graph.pool, pool)
        if self.plays is not None:
            rows = self.plays.rows
            ways = int(graph.key_size[state]) // rows.shape[1] + 1
            if short == graphs.SHORT_ROWS:
                ways = 2 * len(rows)
            if ways > len(rows):
                self._grow_plays(ways)
        self.graph = graph._replace(**new)
        if "slots" in new:
            graphs.index_anew(self.graph)
        return self.bytes <= self.most_bytes

    def _grow_plays(self, ways: int) -> None:
        rows = larger(self.plays.rows, ways)
        slots = 1 << (2 * len(rows) - 1).bit_length()
        self.plays = self.plays._replace(
            rows=rows, slots=np.empty(slots, np.int32), stamps=np.zeros(slots, np.int64)
        )

    def release(self) -> None:
        """Release the tables that only the search for states needs."""
        self.plays = None


def warm() -> None:
    """Compile or load the kernel that only growing tables need."""
    graphs.index_anew(GrowingGraph(np.zeros(1, np.uint64), 0, range(0), 1, 0).graph)
