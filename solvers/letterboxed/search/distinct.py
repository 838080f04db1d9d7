"""Boards of distinct letters: a state is the set of letters left and the last letter.

The state space of article 000, Theorem 7, without sides: each letter has only one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel.codes import DONE, OUT_OF_NODES, OUT_OF_SECONDS
from nightgrid.solvers.kernel.compiling import I64, U64, Int, search_kernel
from nightgrid.solvers.kernel.machine import ZERO, is_late, popcount
from nightgrid.solvers.letterboxed.states import graph as graphs
from nightgrid.solvers.letterboxed.states.graph import Graph, Step


class Limits(NamedTuple):
    """Limits of `short_chains`."""

    nodes: int
    deadline_ns: int
    """On the monotonic clock."""
    clock: I64


@search_kernel
def explore(graph: Graph, step: Step, masks: U64) -> Int:
    """Expand states until no chain as good as wanted is missed.

    `masks` are the letters of each word. Returns DONE, GROW, or what ran out; after GROW, call it
    again with larger tables.
    """
    control = graph.control
    while True:
        state = graphs.next_state(graph, step)
        if state < 0:
            return DONE
        cost = graph.cost[state]
        lo, hi = graph.lo[state], graph.hi[state]
        words = hi - lo
        if (
            control[graphs.EDGES] + words > len(graph.edges)
            or graphs.is_full(graph, words)
            or control[graphs.POOL] + words + 1 > len(graph.pool)
        ):
            return graphs.GROW
        code = graphs.spend(graph, words + 1)
        if code != DONE:
            return code
        graphs.pop(graph)
        base = control[graphs.EDGES]
        control[graphs.EDGES] = base + words
        graph.base[state] = base
        left = graph.pool[graph.key[state]]
        begun = graph.last[state] >= 0
        for word in range(lo, hi):
            rest = left & ~masks[word]
            reached = cost + graphs.word_cost(graph, state, word, step)
            target: Int = graphs.DEAD
            if step.by_letters and step.sizes[word] == 1 and (begun or rest != ZERO):
                # It collects nothing that the next word does not.
                target = graphs.DEAD
            elif rest == ZERO:
                if reached <= control[graphs.LIMIT]:
                    target = graphs.COMPLETE
                    control[graphs.FOUND] = 1
                    if step.fewest:
                        control[graphs.LIMIT] = reached
            else:
                count = popcount(rest)
                if reached + graphs.needed(count, step) <= control[graphs.LIMIT]:
                    at = control[graphs.POOL]
                    graph.pool[at] = rest
                    target = graphs.intern(graph, at, 1, step.last[word])
                    graphs.arrive(graph, target, reached, count, step)
            graph.edges[base + word - lo] = target


class FirstWords(NamedTuple):
    """Where chains begin."""

    left: np.uint64
    """Mask of the letters left before the first word."""
    begin: Int
    end: Int
    """The first word is one of [begin, end)."""


@search_kernel
def short_chains(
    root: FirstWords, step: Step, masks: U64, limits: Limits, rows: I64, out: I64
) -> Int:
    """Find every chain of one word, or if there is none, every chain of two.

    Writes them to `rows` in alphabetical order until it is full, and to `out` (int64[3]) the words
    of a chain (0: none found), the number of chains, and nodes. Returns DONE or what ran out.
    """
    found = nodes = 0
    words = 1
    for word in range(root.begin, root.end):
        if root.left & ~masks[word] == ZERO:
            if found < len(rows):
                rows[found, 0] = word
            found += 1
    looked: Int = np.int64(0)
    if found == 0:
        words = 2
        for word in range(root.begin, root.end):
            rest = root.left & ~masks[word]
            last = step.last[word]
            lo, hi = step.begins[last], step.begins[last + 1]
            nodes += hi - lo + 1
            if nodes > limits.nodes:
                return OUT_OF_NODES
            if nodes - looked >= graphs.CLOCK_STRIDE:
                looked = nodes
                if is_late(limits.clock, limits.deadline_ns):
                    return OUT_OF_SECONDS
            # Without a branch, so that several words are compared at once.
            some = 0
            for other in range(lo, hi):
                some += rest & ~masks[other] == ZERO
            if some == 0:
                continue
            for other in range(lo, hi):
                if rest & ~masks[other] == ZERO:
                    if found < len(rows):
                        rows[found, 0], rows[found, 1] = word, other
                    found += 1
    out[0], out[1], out[2] = words if found > 0 else 0, found, nodes + root.end - root.begin
    return DONE
