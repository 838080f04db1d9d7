"""Boards of distinct letters: a state is the set of letters left and the last letter.

The state space of article 000, Theorem 7, without sides: each letter has only one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel.codes import DONE
from nightgrid.solvers.kernel.compiling import I32, I64, U64, Int, search_kernel
from nightgrid.solvers.kernel.machine import ONE, ZERO, popcount, trailing_zeros
from nightgrid.solvers.letterboxed.states import graph as graphs
from nightgrid.solvers.letterboxed.states.graph import Graph, Step


@search_kernel
def explore(graph: Graph, step: Step, lacking: U64) -> Int:
    """Expand states until no chain as good as wanted is missed.

    `lacking` are the letters that each word lacks. Returns DONE, GROW, or what ran out; after GROW,
    call it again with larger tables.
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
            rest = left & lacking[word]
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


@search_kernel
def pair_words(step: Step, begin: Int, end: Int, lacking: U64, rows: I64) -> Int:
    """Find every chain of two words of which the first is one of [begin, end); return how many.

    `lacking` are the letters that each word lacks. `rows` gets as many chains as it holds, in the
    order of the alphabet.
    """
    found = 0
    for word in range(begin, end):
        lo, hi = step.begins[step.last[word]], step.begins[step.last[word] + 1]
        # Without a branch, so that several words are compared at once.
        some = 0
        for other in range(lo, hi):
            some += lacking[word] & lacking[other] == ZERO
        if some == 0:
            continue
        for other in range(lo, hi):
            if lacking[word] & lacking[other] == ZERO:
                if found < len(rows):
                    rows[found, 0], rows[found, 1] = word, other
                found += 1
    return found


class Within(NamedTuple):
    """Scratch of `count_chains`: the words within some letters, and how they follow one another."""

    words: I32
    """int32[letters + 1, words]: row i has the words within the last set whose lowest missing
    letter is i; the last row has all words."""
    held: I64
    """int64[letters + 1]: how many words are in each row."""
    ways: U64
    """uint64[2, letters]: sequences by their last letter, for two numbers of words."""
    lost: U64
    """uint64[letters]: words that are not within the set, by their first letter."""


@search_kernel
def count_chains(
    step: Step, begin: Int, end: Int, first: I32, lacking: U64, within: Within, out: U64
) -> None:
    """Count chains by inclusion and exclusion: add those of n + 1 words to out[n], modulo 2^64.

    Sequences of words that have every letter are those of all words, less those without the letter
    a, ...: a sum over all sets of missing letters, with signs. Chains have every letter with their
    last word and not before, so of n + 1 words there are as many as sequences of n + 1 words that
    have every letter, less those of n words that do, with any word behind: for each set, a sequence
    within it counts for the words behind it that are not.
    The first word of a chain is one of [begin, end); `first` are the first letters of words.
    """
    words, held, ways, lost = within
    letters = len(held) - 1
    held[letters] = len(lacking)
    for word in range(len(lacking)):
        words[letters, word] = word
    for missing in range(1 << letters):
        row: Int = letters
        if missing:
            # Without its lowest letter, this set is the last of its row.
            row = trailing_zeros(np.uint64(missing))
            fewer = missing & (missing - 1)
            source: Int = trailing_zeros(np.uint64(fewer)) if fewer else letters
            kept = 0
            for i in range(held[source]):
                word = words[source, i]
                words[row, kept] = word
                kept += lacking[word] & (ONE << np.uint64(row)) != ZERO
            held[row] = kept
        sign = ONE if popcount(np.uint64(missing)) & 1 == 0 else ~ZERO
        for letter in range(letters):
            ways[0, letter] = ZERO
            lost[letter] = np.uint64(step.begins[letter + 1] - step.begins[letter])
        for i in range(held[row]):
            word = words[row, i]
            lost[first[word]] -= ONE
            if begin <= word < end:
                ways[0, step.last[word]] += ONE
                out[0] += sign
        for n in range(1, len(out)):
            now, then = (n - 1) & 1, n & 1
            for letter in range(letters):
                out[n] -= sign * ways[now, letter] * lost[letter]
                ways[then, letter] = ZERO
            if n + 1 < len(out):
                for i in range(held[row]):
                    word = words[row, i]
                    ways[then, step.last[word]] += ways[now, first[word]]
