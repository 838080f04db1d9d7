"""Any board: a state is every way of playing the words so far that may still matter.

Article 000, Theorem 7, walks over (place in a word, side, letters left). Counting sequences of
words once, however they can be played, takes sets of these: a state is an antichain of ways of
playing, each a side and the letters left; a way that has collected less than another on the same
side is never better. Words are played along their trie, so shared beginnings are played once.
"""

from __future__ import annotations

import numpy as np

from nightgrid.solvers.kernel.codes import DONE
from nightgrid.solvers.kernel.compiling import I32, I64, Int, search_kernel
from nightgrid.solvers.kernel.machine import ONE, ZERO
from nightgrid.solvers.letterboxed.states import graph as graphs
from nightgrid.solvers.letterboxed.states import ways_of_playing
from nightgrid.solvers.letterboxed.states.graph import Graph, Step
from nightgrid.solvers.letterboxed.states.ways_of_playing import Fields, Plays

LONG_WORD = 32
"""Least letters of a last word that is played separately, pruned by what it cannot collect."""

_SIDE = np.uint64((1 << ways_of_playing.SIDE_BITS) - 1)
_SIDE_BITS = np.uint64(ways_of_playing.SIDE_BITS)


@search_kernel
def explore(
    graph: Graph, step: Step, fields: Fields, plays: Plays, letters: I32,
    offsets: I64, shared: I64,
) -> Int:  # fmt: skip
    """Expand states until no chain as good as wanted is missed.

    Word w is letters[offsets[w]:offsets[w + 1]]; its first `shared[w]` letters are those of the
    word before. Returns DONE, GROW, or what ran out; after GROW, call it again with larger tables.
    """
    control, rows, begins = graph.control, plays.rows, plays.begins
    size = len(fields.spare)
    capacity = len(rows)
    kinds = len(step.begins) - 1
    while True:
        state = graphs.next_state(graph, step)
        if state < 0:
            return DONE
        cost = graph.cost[state]
        lo, hi = graph.lo[state], graph.hi[state]
        words = hi - lo
        ways = graph.key_size[state] // size
        if (
            control[graphs.EDGES] + words > len(graph.edges)
            or graphs.is_full(graph, words)
            or ways + 1 > capacity
        ):
            return graphs.GROW
        graphs.pop(graph)
        base = control[graphs.EDGES]
        key = graph.key[state]
        for row in range(ways):
            for i in range(size):
                rows[row, i] = graph.pool[key + row * size + i]
        # Depth d holds the ways after d letters of the word; its rows end where d + 1 begins.
        begun = graph.last[state] >= 0
        begins[0] = 0
        begins[1] = ways if not begun else 0
        if begun:
            begins[2] = ways
        known = 1 if begun else 0
        code: Int = DONE
        for word in range(lo, hi):
            start = offsets[word]
            length = offsets[word + 1] - start
            reached = cost + graphs.word_cost(graph, state, word, step)
            target: Int = graphs.DEAD
            last = step.last[word]
            final = (
                reached + 1 > control[graphs.LIMIT] or step.begins[last] == step.begins[last + 1]
            )
            if word > lo:
                known = min(known, shared[word])
            known = max(known, 1 if begun else 0)
            if reached > control[graphs.LIMIT] or (step.by_letters and length == 1 and begun):
                graph.edges[base + word - lo] = target
                continue
            alone = final and length >= LONG_WORD
            if alone:
                known = 1 if begun else 0
                for kind in range(kinds):
                    plays.to_come[kind] = 0
                for i in range(start + known, start + length):
                    plays.to_come[letters[i]] += 1
                if not ways_of_playing.some_can_complete(
                    rows, begins[known], begins[known + 1], kinds, plays, fields
                ):
                    graph.edges[base + word - lo] = target
                    continue
            depth = known
            while depth < length and begins[depth + 1] > begins[depth]:
                letter = letters[start + depth]
                first = begins[depth + 1]
                end = first
                if alone:
                    plays.to_come[letter] -= 1
                tried = 0
                for row in range(begins[depth], first):
                    from_side = rows[row, 0] & _SIDE
                    for at in range(fields.stands_at[letter], fields.stands_at[letter + 1]):
                        side = fields.stands[at]
                        if depth > 0 and np.uint64(side) == from_side:
                            continue
                        if end >= capacity:
                            control[graphs.SHORT] = graphs.SHORT_ROWS
                            code = graphs.GROW
                            break
                        tried += 1
                        ways_of_playing.enter(rows, row, end, side, letter, fields)
                        if alone and ways_of_playing.lacks_letter(
                            rows, end, letter, plays.to_come[letter], fields
                        ):
                            continue
                        end = ways_of_playing.keep(rows, first, end, fields, plays)
                    if code != DONE:
                        break
                if code == DONE:
                    code = graphs.spend(graph, tried + 1)
                if code != DONE:
                    break
                depth += 1
                if alone and depth > 1:
                    # The depth before is done with: its rows are reused.
                    before = begins[depth - 1]
                    if not (begun and depth == 2):
                        for row in range(end - first):
                            for i in range(size):
                                rows[before + row, i] = rows[first + row, i]
                        end -= first - before
                        first = before
                        begins[depth] = first
                begins[depth + 1] = end
            if code != DONE:
                break
            known = depth
            if depth == length:
                first, end = begins[length], begins[length + 1]
                left = rows[first, 0] >> _SIDE_BITS if end > first else ONE
                for row in range(first + 1, end):
                    left = min(left, rows[row, 0] >> _SIDE_BITS)
                if end > first and left == ZERO:
                    target = graphs.COMPLETE
                    control[graphs.FOUND] = 1
                    if step.fewest:
                        control[graphs.LIMIT] = min(control[graphs.LIMIT], reached)
                elif (
                    end > first
                    and not (step.by_letters and length == 1)
                    and step.begins[last] < step.begins[last + 1]
                    and reached + graphs.needed(np.int64(left), step) <= control[graphs.LIMIT]
                ):
                    at = control[graphs.POOL]
                    if at + (end - first) * size > len(graph.pool):
                        control[graphs.SHORT] = graphs.SHORT_POOL
                        code = graphs.GROW
                        break
                    ways_of_playing.write_key(rows, first, end, size, graph.pool, at)
                    target = graphs.intern(graph, at, (end - first) * size, last)
                    graphs.arrive(graph, target, reached, np.int64(left), step)
            if alone:
                known = 1 if begun else 0
            graph.edges[base + word - lo] = target
        if code != DONE:
            # Keep what was found, and expand the state again.
            graphs.push(graph, graphs.order_key(cost, graph.left[state], step), state)
            return code
        control[graphs.EDGES] = base + words
        graph.base[state] = base


def shared_beginnings(letters: I32, offsets: I64) -> I64:
    """Return the length of the prefix that each word shares with the previous one."""
    sizes = np.diff(offsets)
    shared = np.zeros(len(sizes), np.int64)
    words = np.arange(1, len(sizes))
    length = 0
    while len(words):
        words = words[np.minimum(sizes[words], sizes[words - 1]) > length]
        at, before = offsets[words] + length, offsets[words - 1] + length
        words = words[letters[at] == letters[before]]
        length += 1
        shared[words] = length
    return shared


def most_gained(letters: I32, offsets: I64, times: I64) -> int:
    """Bound the letters that one word can collect after its first.

    `times`: how often each letter occurs on the board.
    """
    sizes = np.diff(offsets) - 1
    words = np.repeat(np.arange(len(sizes)), sizes)
    later = np.delete(letters, offsets[:-1])
    pairs, counts = np.unique(words * len(times) + later, return_counts=True)
    word, letter = np.divmod(pairs, len(times))
    return int(np.bincount(word, np.minimum(counts, times[letter])).max(initial=0))
