"""Count the chains that a graph of states holds."""

from __future__ import annotations

import numpy as np

from nightgrid.solvers.kernel import wide
from nightgrid.solvers.kernel.codes import COUNT_TOO_LARGE, DONE
from nightgrid.solvers.kernel.compiling import I32, I64, U64, Int, search_kernel
from nightgrid.solvers.kernel.machine import ONE, ZERO
from nightgrid.solvers.letterboxed.states import graph as graphs
from nightgrid.solvers.letterboxed.states.graph import Graph, Step, spend, word_cost


@search_kernel
def count_cheapest(graph: Graph, step: Step, order: I64, high: U64, low: U64, out: U64) -> Int:
    """Count the chains of cost LIMIT, the least there is.

    `order` are the expanded states by ascending cost, `high` and `low` zeros for every state. `out`
    gets the halves of the count.
    """
    low[0] = ONE
    limit = graph.control[graphs.LIMIT]
    total_hi = total_lo = ZERO
    for state in order:
        from_hi, from_lo = high[state], low[state]
        if (from_hi | from_lo) == ZERO:
            continue
        lo, hi = graph.lo[state], graph.hi[state]
        code = spend(graph, hi - lo + 1)
        if code != DONE:
            return code
        at = graph.base[state] - lo
        for word in range(lo, hi):
            target = graph.edges[at + word]
            reached = graph.cost[state] + word_cost(graph, state, word, step)
            if target == graphs.COMPLETE:
                if reached == limit:
                    total_hi, total_lo = wide.add(total_hi, total_lo, from_hi, from_lo)
            elif target >= 0 and graph.cost[target] == reached:
                high[target], low[target] = wide.add(high[target], low[target], from_hi, from_lo)
    out[0], out[1] = total_hi, total_lo
    return COUNT_TOO_LARGE if wide.over_limit(total_hi, total_lo) else DONE


@search_kernel
def count_within(
    graph: Graph, most: Int, here: I64, high: U64,
    low: U64, active: I32, out: U64,
) -> Int:  # fmt: skip
    """Count the chains of at most `most` words.

    Two layers of scratch: `high` and `low` (uint64[2, states], zeros), `active` (int32[2, states])
    the states of a layer, `here` (int64[states], zeros) the layer in which a state was last
    reached. `out` gets the halves of the count and the words of the shortest chain, 0 for none.
    """
    low[0, 0] = ONE
    active[0, 0] = 0
    count = 1
    now = 0
    total_hi = total_lo = ZERO
    out[2] = ZERO
    for words in range(1, most + 1):
        then = 1 - now
        new = 0
        for i in range(count):
            state = active[now, i]
            from_hi, from_lo = high[now, state], low[now, state]
            high[now, state] = low[now, state] = ZERO
            if graph.base[state] < 0:
                continue
            lo, hi = graph.lo[state], graph.hi[state]
            code = spend(graph, hi - lo + 1)
            if code != DONE:
                return code
            at = graph.base[state] - lo
            for word in range(lo, hi):
                target = graph.edges[at + word]
                if target == graphs.COMPLETE:
                    total_hi, total_lo = wide.add(total_hi, total_lo, from_hi, from_lo)
                    if out[2] == ZERO:
                        out[2] = np.uint64(words)
                elif target >= 0 and words < most:
                    if here[target] != words:
                        here[target] = words
                        active[then, new] = target
                        new += 1
                    high[then, target], low[then, target] = wide.add(
                        high[then, target], low[then, target], from_hi, from_lo
                    )
        if wide.over_limit(total_hi, total_lo):
            return COUNT_TOO_LARGE
        count = new
        now = then
        if count == 0:
            break
    out[0], out[1] = total_hi, total_lo
    return DONE
