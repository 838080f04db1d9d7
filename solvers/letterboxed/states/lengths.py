"""Count and list the chains of a graph of states, by their possible lengths.

For a state and a number of words, a set of bits holds the lengths that exactly so many words can
add to complete the chain. Lengths are letters; if words have doubts, these are the higher digits.
With these sets, listing meets no dead end. They are computed backwards from the last word: those of
n words from those of n - 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel import wide
from nightgrid.solvers.kernel.codes import COUNT_TOO_LARGE, DONE
from nightgrid.solvers.kernel.compiling import I32, I64, U64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.machine import ONE, ZERO
from nightgrid.solvers.letterboxed.states import graph as graphs
from nightgrid.solvers.letterboxed.states.graph import Graph, Step


@inlined_kernel
def leads_on(graph: Graph, state: Int, word: Int, target: Int, step: Step) -> bool:
    """Return whether an edge may belong to a chain that counts."""
    complete = target == graphs.COMPLETE
    if not complete and (target < 0 or graph.base[target] < 0):
        return False
    if not step.by_letters:
        return True
    wanted = graph.control[graphs.LIMIT] if complete else graph.cost[target]
    return bool(graph.cost[state] + graphs.word_cost(graph, state, word, step) == wanted)


@search_kernel
def count_walks(graph: Graph, step: Step, most: Int, high: U64, low: U64, out: U64) -> Int:
    """Count the chains of at most `most` words that count.

    `high` and `low` are scratch (uint64[2, states], zeros): how often each state is reached, by
    numbers of words that are odd or even. `out` (zeros) gets the halves of the count and the words
    of the shortest chain, 0 for none.
    """
    states = low.shape[1]
    low[0, 0] = ONE
    total_hi = total_lo = ZERO
    for words in range(1, most + 1):
        now, then = (words - 1) & 1, words & 1
        more = False
        for state in range(states):
            from_hi, from_lo = high[now, state], low[now, state]
            high[now, state] = low[now, state] = ZERO
            if (from_hi | from_lo) == ZERO:
                continue
            lo, hi = graph.lo[state], graph.hi[state]
            code = graphs.spend(graph, hi - lo + 1)
            if code != DONE:
                return code
            for word in range(lo, hi):
                target = graph.edges[graph.base[state] + word - lo]
                if not leads_on(graph, state, word, target, step):
                    continue
                if target == graphs.COMPLETE:
                    total_hi, total_lo = wide.add(total_hi, total_lo, from_hi, from_lo)
                    if out[2] == ZERO:
                        out[2] = np.uint64(words)
                elif words < most:
                    more = True
                    high[then, target], low[then, target] = wide.add(
                        high[then, target], low[then, target], from_hi, from_lo
                    )
        if wide.over_limit(total_hi, total_lo):
            return COUNT_TOO_LARGE
        code = graphs.spend(graph, states)
        if code != DONE:
            return code
        if not more:
            break
    out[0], out[1] = total_hi, total_lo
    return DONE


class Lengths(NamedTuple):
    """The bits of every expanded state, by number of words."""

    row: I32
    """int32[states]: the row of each expanded state, -1 for others."""
    rows: int
    begins: I64
    """int64[words + 1]: row r of n words is bits[begins[n] + r * width(n):][:width(n)]."""
    bits: U64
    longest: int
    """Most letters that a word adds; 0 if lengths do not matter."""

    @property
    def nbytes(self) -> int:
        """Bytes of the tables."""
        return self.row.nbytes + self.begins.nbytes + self.bits.nbytes

    def of_root(self) -> Iterator[int]:
        """Yield the lengths of the chains of the most words from the root, ascending."""
        # The root is the first expanded state, so its row is the first.
        first = int(self.begins[-1])
        for i in range(_width(len(self.begins) - 1, self.longest)):
            bits = int(self.bits[first + i])
            while bits:
                yield 64 * i + (bits & -bits).bit_length() - 1
                bits &= bits - 1


def no_lengths(graph: Graph, longest: int) -> Lengths:
    """Make the tables of a graph for no words."""
    states = int(graph.control[graphs.STATES])
    expanded = graph.base[:states] >= 0
    row = np.where(expanded, np.cumsum(expanded) - 1, -1).astype(np.int32)
    return Lengths(row, int(expanded.sum()), np.zeros(1, np.int64), np.zeros(0, np.uint64), longest)


def one_word_more(lengths: Lengths) -> Lengths:
    """Add rows of zeros for one word more."""
    size = lengths.rows * _width(len(lengths.begins), lengths.longest)
    return lengths._replace(
        begins=np.append(lengths.begins, len(lengths.bits)),
        bits=np.concatenate([lengths.bits, np.zeros(size, np.uint64)]),
    )


def _width(words: int, longest: int) -> int:
    return (words * longest + 64) >> 6


@inlined_kernel
def added(graph: Graph, state: Int, word: Int, step: Step) -> Int:
    """Return the length that a word adds: its weight without the shared letter."""
    shares = not step.by_letters and graph.last[state] >= 0
    return step.weights[word] - (1 if shares else 0)


@inlined_kernel
def width(words: Int, lengths: Lengths) -> Int:
    """Return the number of 64-bit words for the lengths of chains of some words."""
    return (words * lengths.longest + 64) >> 6


@search_kernel
def work_out(graph: Graph, step: Step, lengths: Lengths, most: Int) -> Int:
    """Set the bits of the most words in the tables; return DONE or what ran out.

    States too far from the root for chains of at most `most` words are left out.
    """
    words = len(lengths.begins) - 1
    size = width(words, lengths)
    before = width(words - 1, lengths)
    bits = lengths.bits
    for state in range(graph.control[graphs.STATES]):
        row = lengths.row[state]
        if row < 0 or (not step.by_letters and graph.cost[state] + words > most):
            continue
        lo, hi = graph.lo[state], graph.hi[state]
        code = graphs.spend(graph, hi - lo + 1)
        if code != DONE:
            return code
        here = lengths.begins[words] + row * size
        for word in range(lo, hi):
            target = graph.edges[graph.base[state] + word - lo]
            if not leads_on(graph, state, word, target, step):
                continue
            letters = added(graph, state, word, step)
            to, part = here + (letters >> 6), np.uint64(letters & 63)
            if target == graphs.COMPLETE:
                if words == 1:
                    bits[to] |= ONE << part
            elif words > 1:
                at = lengths.begins[words - 1] + lengths.row[target] * before
                for i in range(before):
                    other = bits[at + i]
                    if other == ZERO:
                        continue
                    bits[to + i] |= other << part
                    if part != ZERO:
                        over = other >> (np.uint64(64) - part)
                        if over != ZERO:
                            bits[to + i + 1] |= over
    return DONE


class Walk(NamedTuple):
    """Position of a listing, with one entry for each word of the chain."""

    state: I64
    """The state before the word."""
    word: I64
    """The word to try next."""
    left: I64
    """Letters left to add."""
    place: I64
    """int64[2]: the depth (-1 at the end), and the number of rows written last."""


@search_kernel
def list_chains(
    graph: Graph, step: Step, lengths: Lengths, words: Int, walk: Walk, out: I64
) -> Int:
    """Write the next chains of `words` words, in alphabetical order.

    Rows of `out` are chains. Returns DONE or what ran out.
    """
    walk_state, walk_word, walk_left, place = walk.state, walk.word, walk.left, walk.place
    place[1] = 0
    depth = place[0]
    while depth >= 0 and place[1] < len(out):
        state, left = walk_state[depth], walk_left[depth]
        lo, hi = graph.lo[state], graph.hi[state]
        word = max(walk_word[depth], lo)
        more = words - depth - 1
        begun = word
        down = False
        while word < hi:
            target = graph.edges[graph.base[state] + word - lo]
            if not leads_on(graph, state, word, target, step):
                word += 1
                continue
            rest = left - added(graph, state, word, step)
            if target == graphs.COMPLETE:
                if more == 0 and rest == 0:
                    break
            elif more > 0 and rest >= 0:
                size = width(more, lengths)
                at = lengths.begins[more] + lengths.row[target] * size
                if (
                    rest >> 6 < size
                    and (lengths.bits[at + (rest >> 6)] >> np.uint64(rest & 63)) & ONE != ZERO
                ):
                    down = True
                    break
            word += 1
        code = graphs.spend(graph, word - begun + 1)
        if code != DONE:
            return code
        if word >= hi:
            depth -= 1
            continue
        walk_word[depth] = word + 1
        if down:
            depth += 1
            walk_state[depth] = target
            walk_word[depth] = -1
            walk_left[depth] = rest
        else:
            row = place[1]
            for i in range(words):
                out[row, i] = walk_word[i] - 1
            place[1] = row + 1
    place[0] = depth
    return DONE
