"""The graph of states that chains lead through: its tables, and how kernels write them.

A state is what matters of the words played so far: the letter that the next word begins with, and
what is left to collect. State 0 is the root of the search. The words of a state are a range of the
sorted playable words, and edge `base + word - lo` says where a word leads: to a state, to
COMPLETE, or nowhere. States are expanded in the order of cost so far plus what is needed at least
(A*, with an estimate that never falls short by more than a word costs), so that nothing is looked
at that cannot be part of a chain as good as wanted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from solvers.clock import monotonic_ns
from solvers.compiling import inlined_kernel, search_kernel
from solvers.kernel_codes import DONE, OUT_OF_NODES, OUT_OF_SECONDS

COMPLETE, DEAD = -2, -1
"""Edges that lead to no state."""

GROW = -1
"""A kernel has too little room, and goes on when it has more."""

STATES, EDGES, POOL, HEAP, NODES, LIMIT, FOUND, NODES_MAX, DEADLINE_NS, TICK, EXPAND_MAX, SHORT = (
    range(12)
)
"""What `control` holds."""
SHORT_STATES, SHORT_EDGES, SHORT_POOL, SHORT_ROWS = 1, 2, 3, 4
"""What there was too little of, in the middle of a state."""
CONTROL_SIZE = 16
CLOCK_STRIDE = 1 << 14
"""Nodes between two looks at the clock."""
NO_LIMIT = 2**30
"""More than any chain that is looked for costs."""
UNREACHED = 2**62
"""Cost of a state that is not reached yet."""
LEFT_BITS = 13
"""Letters left fit into these bits (solvers.letterboxed.puzzle.LETTERS_MAX)."""
PAIR_BITS = 24
"""Where costs are pairs, (words, letters) or (letters, words), the second takes these bits."""


class Graph(NamedTuple):
    """Flat tables of states, their keys, and edges."""

    control: Any
    last: Any
    """int32[states]: the letter that the next word begins with; -1 at the beginning of a chain."""
    lo: Any
    hi: Any
    """int32[states]: the words that may follow."""
    cost: Any
    """int64[states]: words (or letters) that it takes to get there."""
    left: Any
    """int32[states]: letters that are still to be collected, at least."""
    base: Any
    """int64[states]: the first edge, -1 for a state that is not expanded."""
    key: Any
    """int64[states]: where the state's key begins in the pool."""
    key_size: Any
    """int32[states]: words of the key."""
    pool: Any
    index: Any
    """int32[power of two]: hash table of states, 0 for none."""
    edges: Any
    heap_key: Any
    heap_state: Any
    timespec: Any


class Step(NamedTuple):
    """What words cost and bring."""

    begins: Any
    """int64[letters + 1]: the words that begin with each letter."""
    sizes: Any
    """int32[words]: letters of each word."""
    last: Any
    """int32[words]: the letter that each word ends on."""
    by_letters: Any
    """Whether a chain costs its letters instead of its words."""
    fewest: Any
    """Whether only the cheapest chains are wanted."""
    gain: Any
    """The most letters that a word can collect beside its first."""
    each: Any
    """Whether every way of playing is a state of its own. Then costs are pairs."""


@inlined_kernel
def spend(graph: Graph, nodes: int) -> int:
    """Take nodes off the budget; return DONE or what ran out."""
    control = graph.control
    control[NODES] += nodes
    if control[NODES] > control[NODES_MAX]:
        return OUT_OF_NODES
    control[TICK] += nodes
    if control[TICK] >= CLOCK_STRIDE:
        control[TICK] = 0
        if monotonic_ns(graph.timespec) > control[DEADLINE_NS]:
            return OUT_OF_SECONDS
    return DONE


@inlined_kernel
def needed(left: Any, step: Step) -> int:
    """Bound from below what a chain still costs."""
    words = (left + step.gain - 1) // step.gain
    if step.each:
        return (left << PAIR_BITS) + words if step.by_letters else (words << PAIR_BITS) + left
    return left if step.by_letters else words


@inlined_kernel
def word_cost(graph: Graph, state: int, word: int, step: Step) -> int:
    """Say what a word costs from a state: the letter that two words share counts once."""
    letters = np.int64(step.sizes[word]) - (1 if graph.last[state] >= 0 else 0)
    if step.each:
        return (letters << PAIR_BITS) + 1 if step.by_letters else (1 << PAIR_BITS) + letters
    return letters if step.by_letters else 1


@inlined_kernel
def push(graph: Graph, key: int, state: int) -> None:
    """Put a state on the heap."""
    keys, states = graph.heap_key, graph.heap_state
    at = graph.control[HEAP]
    graph.control[HEAP] = at + 1
    while at > 0:
        above = (at - 1) >> 1
        if keys[above] <= key:
            break
        keys[at] = keys[above]
        states[at] = states[above]
        at = above
    keys[at] = key
    states[at] = state


@inlined_kernel
def pop(graph: Graph) -> int:
    """Take the state of the lowest key off the heap."""
    keys, states = graph.heap_key, graph.heap_state
    top = states[0]
    size = graph.control[HEAP] - 1
    graph.control[HEAP] = size
    key, state = keys[size], states[size]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and keys[below + 1] < keys[below]:
            below += 1
        if keys[below] >= key:
            break
        keys[at] = keys[below]
        states[at] = states[below]
        at = below
    keys[at] = key
    states[at] = state
    return top


@inlined_kernel
def order_key(cost: int, left: int, step: Step) -> int:
    """Order states: the least promised cost first, of equal ones those that have come furthest."""
    if step.each:
        return ((cost + needed(left, step)) << LEFT_BITS) + left
    return ((cost + needed(left, step)) << 32) | (NO_LIMIT - cost)


@inlined_kernel
def mixed(pool: np.ndarray, at: int, size: int, last: int) -> np.uint64:
    """Hash a key."""
    value = np.uint64(last + 1) * np.uint64(0x9E3779B97F4A7C15)
    for i in range(at, at + size):
        value = (value ^ pool[i]) * np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> np.uint64(32)
    return value


@search_kernel
def index_anew(graph: Graph) -> None:
    """Enter every state into an empty index. The root is not looked for."""
    mask = np.uint64(len(graph.index) - 1)
    for state in range(1, graph.control[STATES]):
        slot = mixed(graph.pool, graph.key[state], graph.key_size[state], graph.last[state]) & mask
        while graph.index[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        graph.index[slot] = state


@inlined_kernel
def intern(graph: Graph, at: int, size: int, last: int) -> int:
    """Find the state whose key was written behind the pool, or add it; return it.

    The key is `pool[at:at + size]` with `at` the pool's end. A new state has cost UNREACHED.
    """
    control, pool, index = graph.control, graph.pool, graph.index
    mask = np.uint64(len(index) - 1)
    slot = mixed(pool, at, size, last) & mask
    while index[slot] != 0:
        state = index[slot]
        if graph.last[state] == last and graph.key_size[state] == size:
            other = graph.key[state]
            same = True
            for i in range(size):
                if pool[other + i] != pool[at + i]:
                    same = False
                    break
            if same:
                return state
        slot = (slot + np.uint64(1)) & mask
    state = control[STATES]
    control[STATES] = state + 1
    control[POOL] = at + size
    index[slot] = state
    graph.last[state] = last
    graph.key[state] = at
    graph.key_size[state] = size
    graph.cost[state] = UNREACHED
    graph.base[state] = -1
    return state


@inlined_kernel
def arrive(graph: Graph, state: int, cost: int, left: Any, step: Step) -> None:
    """Note that a state can be reached at a cost."""
    if cost < graph.cost[state]:
        last = graph.last[state]
        graph.lo[state] = step.begins[last]
        graph.hi[state] = step.begins[last + 1]
        graph.cost[state] = cost
        graph.left[state] = left
        push(graph, order_key(cost, left, step), state)
