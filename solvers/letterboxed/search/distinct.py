"""Boards of distinct letters: a state is the set of letters left and the last letter.

The state space of article 000, Theorem 7, without sides: each letter has only one.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel import wide
from nightgrid.solvers.kernel.codes import DONE, OUT_OF_NODES, OUT_OF_SECONDS
from nightgrid.solvers.kernel.compiling import I64, U64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.machine import ONE, ZERO, is_late, popcount
from nightgrid.solvers.letterboxed.states import graph as graphs
from nightgrid.solvers.letterboxed.states.graph import Graph, Step

_kept = threading.local()

LETTERS_MAX = 14
"""Most letters for which tables of every set of them are small."""
SEEN_MAX = 255
"""More words than a shortest chain of LETTERS_MAX letters has: each letter after the first word
comes at most LETTERS_MAX words after the one before (article 000, Lemma 9)."""


def table_bytes(letters: int) -> int:
    """Return what the tables of `count_chains` take."""
    return (letters << letters) * (8 + 2 * 2 * 8 + 1)


class SetTables(NamedTuple):
    """Tables for every set of letters, indexed by (last letter, letters left)."""

    letters: int
    covers: I64
    """int64[letters * 2^letters]: the words that collect all that is left."""
    high: U64
    low: U64
    """uint64[2, letters * 2^letters]: halves of the number of chains that get there, for two
    lengths of chains."""
    seen: npt.NDArray[np.uint8]
    """uint8[letters * 2^letters]: the number of words with which a state was first reached."""


class Limits(NamedTuple):
    """Limits of counting."""

    words: int
    """Most words of a chain."""
    nodes: int
    deadline_ns: int
    """On the monotonic clock."""
    clock: I64


def tables_for(letters: int) -> SetTables:
    """Make the tables of `count_chains`, or take those that were made for the last board."""
    kept = _kept.__dict__.setdefault("tables", {})
    if letters not in kept:
        size = letters << letters
        kept[letters] = SetTables(
            letters,
            np.empty(size, np.int64),
            np.empty((2, size), np.uint64),
            np.empty((2, size), np.uint64),
            np.empty(size, np.uint8),
        )
    found: SetTables = kept[letters]
    return found


@search_kernel
def explore(graph: Graph, step: Step, masks: U64) -> Int:
    """Expand states until no chain as good as wanted is missed.

    `masks` are the letters of each word. Returns DONE, GROW, or what ran out; after GROW it goes
    on when called with larger tables.
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
                # It collects nothing that the word beside it does not.
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
    """Find every chain of one word, or where there is none, every chain of two.

    `rows` gets as many of them as it holds, in the order of the alphabet. `out` (int64[3]) gets the
    words of a chain (0: there is no such chain), the number of chains, and nodes. Returns DONE or
    what ran out.
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


@search_kernel
def count_chains(
    root: FirstWords, step: Step, masks: U64, tables: SetTables, limits: Limits,
    out: U64,
) -> Int:  # fmt: skip
    """Count chains of at most `limits.words` words, or only the shortest ones if `step.fewest`.

    `masks` are the letters of each word. `out` (uint64[5]) gets the halves of the count, the words
    of the shortest chain (0 for none), nodes and states. Returns DONE or what ran out.
    """
    start, lo, hi = root.left, root.begin, root.end
    letters, most = tables.letters, limits.words
    covers, high, low, seen = tables.covers, tables.high, tables.low, tables.seen
    subsets = 1 << letters
    width = np.uint64(letters)
    covers[:] = 0
    seen[:] = 0
    high[:] = ZERO
    low[:] = ZERO
    cover_words(step, masks, letters, covers)
    total_hi = total_lo = ZERO
    shortest: Int = np.int64(0)
    states = now = 0
    active = False
    for word in range(lo, hi):
        rest = start & ~masks[word]
        if rest == ZERO:
            total_lo += ONE
            shortest = 1
        else:
            at = (np.uint64(step.last[word]) << width) | rest
            low[now, at] += ONE
            states += seen[at] == 0
            seen[at] = 1
            active = True
    words = 1
    nodes: Int = hi - lo
    looked: Int = np.int64(0)
    while active and words < most and not (step.fewest and shortest > 0):
        words += 1
        for at in range(letters * subsets):
            done = covers[at]
            if done > 0 and (low[now, at] | high[now, at]) != ZERO:
                add_hi, add_lo = wide.times(high[now, at], low[now, at], ZERO, np.uint64(done))
                total_hi, total_lo = wide.add(total_hi, total_lo, add_hi, add_lo)
                if shortest == 0:
                    shortest = words
        nodes += letters * subsets
        if wide.over_limit(total_hi, total_lo):
            break
        if words == most or (step.fewest and shortest > 0):
            break
        active = False
        then = 1 - now
        for letter in range(letters):
            row = letter << letters
            first, stop = step.begins[letter], step.begins[letter + 1]
            for left in range(1, subsets):
                from_hi, from_lo = high[now, row + left], low[now, row + left]
                if (from_hi | from_lo) == ZERO:
                    continue
                nodes += stop - first
                # A layer of a large dictionary takes seconds.
                if nodes - looked >= graphs.CLOCK_STRIDE:
                    looked = nodes
                    if is_late(limits.clock, limits.deadline_ns):
                        return OUT_OF_SECONDS
                for word in range(first, stop):
                    rest = np.uint64(left) & ~masks[word]
                    at = (np.uint64(step.last[word]) << width) | rest
                    if rest == ZERO or (step.fewest and seen[at] != 0 and seen[at] != words):
                        continue
                    if seen[at] == 0:
                        seen[at] = min(words, SEEN_MAX)
                        states += 1
                    active = True
                    high[then, at], low[then, at] = wide.add(
                        high[then, at], low[then, at], from_hi, from_lo
                    )
            if nodes > limits.nodes:
                return OUT_OF_NODES
            if is_late(limits.clock, limits.deadline_ns):
                return OUT_OF_SECONDS
        high[now, :] = ZERO
        low[now, :] = ZERO
        now = then
    out[0], out[1], out[2] = total_hi, total_lo, np.uint64(shortest)
    out[3], out[4] = np.uint64(nodes), np.uint64(states)
    return DONE


@inlined_kernel
def cover_words(step: Step, masks: U64, letters: Int, covers: I64) -> None:
    """Count, for each letter and each set, the words from that letter that hold the set."""
    for letter in range(letters):
        row = letter << letters
        for word in range(step.begins[letter], step.begins[letter + 1]):
            covers[row + np.int64(masks[word])] += 1
        for bit in range(letters):
            b = 1 << bit
            for block in range(row, row + (1 << letters), 2 * b):
                for at in range(block, block + b):
                    covers[at] += covers[at + b]
