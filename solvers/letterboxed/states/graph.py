"""The graph of states that chains lead through: its tables, and how kernels write them.

A state is the letter that the next word begins with, and the letters left to collect. State 0 is
the root of the search. The words of a state are a range of the sorted playable words, and edge
`base + word - lo` says where a word leads: to a state, to COMPLETE, or nowhere. States are expanded
in the order of cost so far plus what is needed at least (A*, with an estimate that never falls
short by more than a word costs), so that only states of chains as good as wanted are expanded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel import hash_table
from nightgrid.solvers.kernel.codes import DONE, OUT_OF_NODES, OUT_OF_SECONDS
from nightgrid.solvers.kernel.compiling import I32, I64, U64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.hash_table import Index
from nightgrid.solvers.kernel.machine import is_late

COMPLETE, DEAD = -2, -1
"""Edges that lead to no state."""

GROW = -1
"""A table is too small; call the kernel again with larger ones."""

(
    STATES, EDGES, POOL, HEAP, NODES, LIMIT, FOUND, NODES_MAX, DEADLINE_NS, TICK, SHORT, INDEX_BITS,
) = range(12)  # fmt: skip
"""Fields of `control`."""
SHORT_POOL, SHORT_ROWS = 1, 2
"""Which table was full in the middle of a state."""
CONTROL_SIZE = 16
CLOCK_STRIDE = 1 << 14
"""Nodes between two clock checks."""
NO_LIMIT = 2**30
"""More than the cost of any wanted chain."""
UNREACHED = 2**62
"""Cost of a state not reached yet."""


class Graph(NamedTuple):
    """Flat tables of states, their keys, and edges."""

    control: I64
    """int64[CONTROL_SIZE]: how much of the tables is in use, and the limits."""
    last: I32
    """int32[states]: the letter that the next word begins with; -1 at the beginning of a chain."""
    lo: I32
    hi: I32
    """int32[states]: the words that may follow."""
    cost: I64
    """int64[states]: words (or letters) so far."""
    left: I32
    """int32[states]: least number of letters still to collect."""
    base: I64
    """int64[states]: the first edge; -1 if not expanded."""
    key: I64
    """int64[states]: where the state's key begins in the pool."""
    key_size: I32
    """int32[states]: words of the key."""
    pool: U64
    """The keys of all states."""
    slots: Index
    """Finds states by their keys (nightgrid.solvers.kernel.hash_table): control[INDEX_BITS] says
    how many."""
    edges: I32
    """Targets, one for each word of each expanded state."""
    heap_key: I64
    heap_state: I32
    """The states to expand, the least key first."""
    clock: I64


class Step(NamedTuple):
    """Cost and letters of words."""

    begins: I64
    """int64[letters + 1]: the words that begin with each letter."""
    sizes: I32
    """int32[words]: letters of each word."""
    last: I32
    """int32[words]: the letter that each word ends on."""
    weights: I32
    """int32[words]: what each word adds to the order of chains of equal cost, shared letters
    counted twice; 0 if nothing."""
    by_letters: bool
    """Whether a chain costs its letters instead of its words."""
    fewest: bool
    """Whether only the cheapest chains are wanted."""
    gain: int
    """The most letters that a word can collect after its first."""


@inlined_kernel
def spend(graph: Graph, nodes: Int) -> Int:
    """Deduct nodes from the budget; return DONE or what ran out."""
    control = graph.control
    control[NODES] += nodes
    if control[NODES] > control[NODES_MAX]:
        return OUT_OF_NODES
    control[TICK] += nodes
    if control[TICK] >= CLOCK_STRIDE:
        control[TICK] = 0
        if is_late(graph.clock, control[DEADLINE_NS]):
            return OUT_OF_SECONDS
    return DONE


@inlined_kernel
def needed(left: Int, step: Step) -> Int:
    """Return a lower bound on what a chain still costs."""
    return left if step.by_letters else (left + step.gain - 1) // step.gain


@inlined_kernel
def word_cost(graph: Graph, state: Int, word: Int, step: Step) -> Int:
    """Return the cost of a word from a state; shared letters count once."""
    return step.sizes[word] - (1 if graph.last[state] >= 0 else 0) if step.by_letters else 1


@inlined_kernel
def push(graph: Graph, key: Int, state: Int) -> None:
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
def pop(graph: Graph) -> Int:
    """Pop the state of the lowest key."""
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
def order_key(cost: Int, left: Int, step: Step) -> Int:
    """Return a state's key: the least estimated cost first, then the most progress."""
    return ((cost + needed(left, step)) << 32) | (NO_LIMIT - cost)


@inlined_kernel
def next_state(graph: Graph, step: Step) -> Int:
    """Return the state to expand next without popping it; -1 if no wanted chain is left."""
    control = graph.control
    while control[HEAP] > 0:
        state = graph.heap_state[0]
        if graph.base[state] < 0:
            promised = graph.cost[state] + needed(graph.left[state], step)
            return state if promised <= control[LIMIT] else -1
        pop(graph)
    return -1


@inlined_kernel
def is_full(graph: Graph, more: Int) -> bool:
    """Return whether this many more states do not fit into the tables or the heap."""
    control = graph.control
    states = control[STATES] + more
    return bool(
        states > len(graph.last)
        or hash_table.is_crowded(states, control[INDEX_BITS])
        or control[HEAP] + more + 1 > len(graph.heap_key)
    )


@inlined_kernel
def _mixed(graph: Graph, at: Int, size: Int, last: Int) -> np.uint64:
    return hash_table.hash_span(np.uint64(last + 1), graph.pool, at, size)


@search_kernel
def index_anew(graph: Graph) -> None:
    """Enter every state but the root, which is never looked up, into an empty index."""
    bits = graph.control[INDEX_BITS]
    for state in range(1, graph.control[STATES]):
        mixed = _mixed(graph, graph.key[state], graph.key_size[state], graph.last[state])
        hash_table.enter_new(graph.slots, bits, mixed, state)


@inlined_kernel
def _has_key(graph: Graph, state: Int, at: Int, size: Int, last: Int) -> bool:
    """Return whether the key of a state is `pool[at:at + size]`, and the letter `last`."""
    if graph.last[state] != last or graph.key_size[state] != size:
        return False
    pool, other = graph.pool, graph.key[state]
    for i in range(size):
        if pool[other + i] != pool[at + i]:
            return False
    return True


@inlined_kernel
def intern(graph: Graph, at: Int, size: Int, last: Int) -> Int:
    """Find or add the state whose key was written behind the pool; return it.

    The key is `pool[at:at + size]` with `at` the pool's end. A new state has cost UNREACHED.
    """
    control, slots = graph.control, graph.slots
    bits = control[INDEX_BITS]
    mixed = _mixed(graph, at, size, last)
    slot = hash_table.first_slot(mixed, bits)
    while True:
        slot, state = hash_table.seek(slots, bits, mixed, slot)
        if state < 0:
            break
        if _has_key(graph, state, at, size, last):
            return state
        slot = hash_table.next_slot(slot, bits)
    state = control[STATES]
    control[STATES] = state + 1
    control[POOL] = at + size
    hash_table.enter(slots, slot, mixed, state)
    graph.last[state] = last
    graph.key[state] = at
    graph.key_size[state] = size
    graph.cost[state] = UNREACHED
    graph.base[state] = -1
    return state


@inlined_kernel
def arrive(graph: Graph, state: Int, cost: Int, left: Int, step: Step) -> None:
    """Record that a state can be reached at a cost."""
    if cost < graph.cost[state]:
        last = graph.last[state]
        graph.lo[state] = step.begins[last]
        graph.hi[state] = step.begins[last + 1]
        graph.cost[state] = cost
        graph.left[state] = left
        push(graph, order_key(cost, left, step), state)
