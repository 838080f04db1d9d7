"""The first chain in canonical order, without counting: a way of playing at a time.

Article 000, Theorem 7: a shortest path over (side, letters left), found by A*. Its states are far
fewer than the sets of them that counting needs.
"""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import I32, I64, Int, search_kernel
from nightgrid.solvers.letterboxed.rules import Chains
from nightgrid.solvers.letterboxed.search.general import NO_WORD
from nightgrid.solvers.letterboxed.search.search import Root, Search
from nightgrid.solvers.letterboxed.states import graph as graphs
from nightgrid.solvers.letterboxed.states.graph import Graph, Step, word_cost


def shortest_chain(search: Search, root: Root, at: range, chains: Chains) -> list[int] | None:
    """Find the first of the best chains in alphabetical order; None if there is no chain.

    Raises BudgetSpentError.
    """
    tables = search.explore_each(root, at, chains)
    if tables is None:
        return None
    step = search.step(chains)._replace(each=True)
    graph = tables.graph
    states = int(graph.control[graphs.STATES])
    expanded = np.flatnonzero(graph.base[:states] >= 0)
    order = expanded[np.argsort(-graph.cost[expanded], kind="stable")]
    good = np.zeros(states, np.uint8)
    began = time.perf_counter_ns()
    mark_good(graph, step, order, good)
    members = np.zeros((2, states), np.int32)
    seen = np.full(states, -1, np.int64)
    chain: list[int] = []
    count: Int = 1
    while count:
        word, count = follow(graph, step, good, members, count, seen, len(chain))
        chain.append(int(word))
    search.spent(0, began, len(expanded), 0, tables.bytes + 17 * states)
    return chain


@search_kernel
def mark_good(graph: Graph, step: Step, order: I64, good: npt.NDArray[np.uint8]) -> None:
    """Mark the states from which a best chain goes on; `order` is by falling cost."""
    limit = graph.control[graphs.LIMIT]
    for state in order:
        edge = graph.base[state]
        while graph.edges[edge] != NO_WORD:
            word, target = graph.edges[edge], graph.edges[edge + 1]
            reached = graph.cost[state] + word_cost(graph, state, word, step)
            if target == graphs.COMPLETE:
                if reached == limit:
                    good[state] = 1
                    break
            elif good[target] and graph.cost[target] == reached:
                good[state] = 1
                break
            edge += 2


@search_kernel
def follow(
    graph: Graph, step: Step, good: npt.NDArray[np.uint8], members: I32,
    count: Int, seen: I64, turn: Int,
) -> tuple[Int, Int]:  # fmt: skip
    """Choose the first word with which a best chain goes on from some of the members.

    `members` are the states that the words so far may lead to: row `turn % 2` is read, the other
    one written. Returns the word and how many members there are then, 0 at the end of the chain.
    """
    limit = graph.control[graphs.LIMIT]
    here, there = turn & 1, 1 - (turn & 1)
    best = np.int64(len(step.sizes))
    new = 0
    for i in range(count):
        state = members[here, i]
        edge = graph.base[state]
        while graph.edges[edge] != NO_WORD:
            word, target = graph.edges[edge], graph.edges[edge + 1]
            edge += 2
            if word > best:
                break  # Edges are in the order of words.
            reached = graph.cost[state] + word_cost(graph, state, word, step)
            if target == graphs.COMPLETE:
                if reached != limit:
                    continue
            elif not good[target] or graph.cost[target] != reached:
                continue
            if word < best:
                best = np.int64(word)
                new = 0
            if target == graphs.COMPLETE:
                continue
            if seen[target] != turn * np.int64(len(step.sizes)) + best:
                seen[target] = turn * np.int64(len(step.sizes)) + best
                members[there, new] = target
                new += 1
    return best, new
