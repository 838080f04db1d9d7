"""Any board: a state is every way of playing the words so far that may still matter.

Article 000, Theorem 7, walks over (place in a word, side, letters left). Counting sequences of
words once, however they can be played, takes sets of these: a state is an antichain of ways of
playing, each a side and what is left to collect; a way that has collected less than another on the
same side is never better. Words are played along the trie that they form: what two words share is
played once.
"""

from __future__ import annotations

import numpy as np

from nightgrid.solvers.kernel.codes import DONE
from nightgrid.solvers.kernel.compiling import I32, I64, U64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.machine import ONE, ZERO
from nightgrid.solvers.letterboxed.states import graph as graphs
from nightgrid.solvers.letterboxed.states import ways_of_playing
from nightgrid.solvers.letterboxed.states.graph import Graph, Step
from nightgrid.solvers.letterboxed.states.ways_of_playing import Fields, Plays

NO_WORD = -1
"""Ends the edges of a state whose ways of playing are states of their own."""
LONG_WORD = 32
"""Letters from which a last word is played by itself, with an eye on what it cannot collect."""

_SIDE = np.uint64((1 << ways_of_playing.SIDE_BITS) - 1)
_SIDE_BITS = np.uint64(ways_of_playing.SIDE_BITS)


@inlined_kernel
def leave_each(
    graph: Graph, step: Step, rows: U64, first: Int, end: Int, word: Int, reached: Int
) -> Int:
    """Make a state of each way of playing a word, rows [first, end); return DONE or GROW."""
    control, size = graph.control, rows.shape[1]
    edge = control[graphs.EDGES]
    ways = end - first
    if edge + 2 * ways + 2 > len(graph.edges):
        control[graphs.SHORT] = graphs.SHORT_EDGES
        return graphs.GROW
    if graphs.is_full(graph, ways):
        control[graphs.SHORT] = graphs.SHORT_STATES
        return graphs.GROW
    if control[graphs.POOL] + ways * size > len(graph.pool):
        control[graphs.SHORT] = graphs.SHORT_POOL
        return graphs.GROW
    for row in range(first, end):
        left = np.int64(rows[row, 0] >> _SIDE_BITS)
        if reached + graphs.needed(left, step) > control[graphs.LIMIT]:
            continue
        at = control[graphs.POOL]
        for i in range(size):
            graph.pool[at + i] = rows[row, i]
        target = graphs.intern(graph, at, size, step.last[word])
        graphs.arrive(graph, target, reached, left, step)
        graph.edges[edge], graph.edges[edge + 1] = word, target
        edge += 2
    control[graphs.EDGES] = edge
    return DONE


@search_kernel
def explore(
    graph: Graph, step: Step, fields: Fields, plays: Plays, letters: I32,
    offsets: I64, shared: I64,
) -> Int:  # fmt: skip
    """Expand states until no chain as good as wanted is missed.

    With `step.each` every way of playing is a state of its own, and the edges of a state are pairs
    of word and target behind one another, up to NO_WORD. Word w is
    letters[offsets[w]:offsets[w + 1]]; its first `shared[w]` letters are those of the
    word before. Returns DONE, GROW, or what ran out; after GROW it goes on when called with larger
    tables.
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
            (not step.each and control[graphs.EDGES] + words > len(graph.edges))
            or graphs.is_full(graph, words)
            or ways + 1 > capacity
        ):
            return graphs.GROW
        graphs.pop(graph)
        base = control[graphs.EDGES]
        edge = base
        least = 1 << graphs.PAIR_BITS if step.each else 1
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
                reached + least > control[graphs.LIMIT]
                or step.begins[last] == step.begins[last + 1]
            )
            if word > lo:
                known = min(known, shared[word])
            known = max(known, 1 if begun else 0)
            if reached > control[graphs.LIMIT] or (step.by_letters and length == 1 and begun):
                if not step.each:
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
                    if not step.each:
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
                    # The depth before is not read again: its rows are used again.
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
                    if step.each:
                        code = leave_each(graph, step, rows, first, end, word, reached)
                        if code != DONE:
                            break
                        edge = control[graphs.EDGES]
                    else:
                        at = control[graphs.POOL]
                        if at + (end - first) * size > len(graph.pool):
                            control[graphs.SHORT] = graphs.SHORT_POOL
                            code = graphs.GROW
                            break
                        ways_of_playing.write_key(rows, first, end, size, graph.pool, at)
                        target = graphs.intern(graph, at, (end - first) * size, last)
                        graphs.arrive(graph, target, reached, np.int64(left), step)
                if step.each and target == graphs.COMPLETE:
                    if edge + 4 > len(graph.edges):
                        control[graphs.SHORT] = graphs.SHORT_EDGES
                        code = graphs.GROW
                        break
                    graph.edges[edge], graph.edges[edge + 1] = word, graphs.COMPLETE
                    edge += 2
                    control[graphs.EDGES] = edge
            if alone:
                known = 1 if begun else 0
            if not step.each:
                graph.edges[base + word - lo] = target
        if code == DONE and step.each and edge + 2 > len(graph.edges):
            control[graphs.SHORT] = graphs.SHORT_EDGES
            code = graphs.GROW
        if code != DONE:
            control[graphs.EDGES] = base
            # What was found stays; the state is expanded again.
            graphs.push(graph, graphs.order_key(cost, graph.left[state], step), state)
            return code
        if step.each:
            graph.edges[edge] = NO_WORD
            control[graphs.EDGES] = edge + 1
        else:
            control[graphs.EDGES] = base + words
        graph.base[state] = base
        control[graphs.EXPAND_MAX] -= 1


@search_kernel
def shared_beginnings(letters: I32, offsets: I64, shared: I64) -> None:
    """Store the length of the beginning that each word shares with the word before it."""
    for word in range(1, len(shared)):
        one, other = offsets[word - 1], offsets[word]
        most = min(other - one, offsets[word + 1] - other)
        n = 0
        while n < most and letters[one + n] == letters[other + n]:
            n += 1
        shared[word] = n


@search_kernel
def most_gained(letters: I32, offsets: I64, times: I64, counts: I64) -> Int:
    """Bound what one word can collect beside its first letter: no letter more often than it is.

    `times`: how often each letter stands on the board; `counts` is as long, all 0, and is scratch.
    """
    most: Int = np.int64(0)
    for word in range(len(offsets) - 1):
        gained: Int = np.int64(0)
        for i in range(offsets[word] + 1, offsets[word + 1]):
            letter = letters[i]
            counts[letter] += 1
            if counts[letter] <= times[letter]:
                gained += 1
        for i in range(offsets[word] + 1, offsets[word + 1]):
            counts[letters[i]] = 0
        most = max(most, gained)
    return most
