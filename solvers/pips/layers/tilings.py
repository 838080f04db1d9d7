"""The forest of tilings, folded into a graph of the tiles that can follow without a dead end.

A node is a set of covered cells that is reached by always filling the first free cell, and from
which the board can still be tiled; an edge is the next tile. It is the article's forest of tiling
trees (002, "Tiling") with equal subtrees shared, built once for each board, so that the search over
pips never meets a stranded cell or an odd component.
"""

from __future__ import annotations

import numpy as np

from nightgrid.solvers.kernel.compiling import Int, search_kernel
from nightgrid.solvers.kernel.hash_table import clear, enter, first_slot, mix_first, next_slot, seek
from nightgrid.solvers.kernel.machine import ONE, is_late, trailing_zeros
from nightgrid.solvers.pips.layers import space as spaces
from nightgrid.solvers.pips.layers.board import EMPTY, EQUALS, SUM, Board
from nightgrid.solvers.pips.layers.space import Forest

SMALLEST_BITS = 4
"""The index of the smallest layer has 2^4 slots."""
CLOCK_NODES = 256
"""A layer with this many nodes checks the clock first."""
MAX_WINDOW = 62
"""Covered positions are at most this far after the first free one: a window is one word."""


@search_kernel
def place_cells(board: Board) -> Int:
    """Fill the arrays that depend on the cell order; return the order's reach.

    The reach is the largest distance between the positions of two neighbours.
    """
    n = board.cells
    for p in range(n):
        board.position[board.order[p]] = p
    reach = 0
    for g in range(board.regions):
        board.first[g] = n
        board.last[g] = -1
    for p in range(n):
        cell = board.order[p]
        count = 0
        earliest = p
        for j in range(4):
            other = board.neighbours[cell, j]
            if other < 0:
                continue
            q = board.position[other]
            if q < p:
                earliest = min(earliest, q)
                continue
            at = count
            while at > 0 and board.later[p, at - 1] > q:
                board.later[p, at] = board.later[p, at - 1]
                at -= 1
            board.later[p, at] = q
            count += 1
            reach = max(reach, q - p)
        board.later_count[p] = count
        g = board.cell_region[cell]
        board.region[p] = -1 if board.kind[g] == EMPTY else g
        board.first[g] = min(board.first[g], earliest)
        board.last[g] = max(board.last[g], p)
    return reach


@search_kernel
def build_tilings(board: Board, forest: Forest, deadline_ns: Int) -> Int:
    """Build the graph layer by layer, then drop every node without a tiling.

    Returns READY, UNTILEABLE, ORDER_TOO_WIDE (the order's reach exceeds a window), FOREST_TOO_LARGE
    (nodes exceed the forest's capacity) or TIME_IS_UP (the deadline has passed).
    """
    n = board.cells
    layers = board.dominoes
    capacity = len(forest.nodes) - 1
    board.layer[0] = 0
    board.layer[1] = 1
    forest.nodes[0, spaces.POSITION] = 0
    forest.nodes[0, spaces.WINDOW] = 0
    nodes: Int = np.int64(1)
    edges = 0
    for k in range(layers):
        start, stop = board.layer[k], board.layer[k + 1]
        if stop - start > CLOCK_NODES and is_late(board.clock, deadline_ns):
            return spaces.TIME_IS_UP
        bits = SMALLEST_BITS
        while 1 << bits < 8 * (stop - start) and 1 << bits < len(forest.slots):
            bits += 1
        clear(forest.slots, bits)
        for node in range(start, stop):
            forest.nodes[node, spaces.EDGE] = edges
            p = forest.nodes[node, spaces.POSITION]
            window = np.uint64(forest.nodes[node, spaces.WINDOW])
            for j in range(board.later_count[p]):
                q = board.later[p, j]
                far = q - p - 1
                if board.tile[p] != q and (board.tile[p] >= 0 or board.tile[q] >= 0):
                    continue
                if far > MAX_WINDOW:
                    return spaces.ORDER_TOO_WIDE
                bit = np.uint64(1) << np.uint64(far)
                if window & bit:
                    continue
                covered = window | bit
                run = trailing_zeros(~covered)
                after = p + 1 + run
                # In two steps, since a shift by a whole word is undefined.
                rest = (covered >> np.uint64(run)) >> np.uint64(1)
                child = _intern(forest, bits, nodes, after, rest)
                if child == nodes:
                    nodes += 1
                    if nodes >= capacity:
                        return spaces.FOREST_TOO_LARGE
                if edges >= len(forest.edges):
                    return spaces.FOREST_TOO_LARGE
                forest.edges[edges, spaces.PARTNER] = q
                forest.edges[edges, spaces.CHILD] = child
                edges += 1
        board.layer[k + 2] = nodes
        if nodes == stop:
            return spaces.UNTILEABLE
    # The last layer holds the one node with every cell covered, or was never reached.
    forest.nodes[board.layer[layers], spaces.EDGE] = edges
    forest.nodes[nodes, spaces.EDGE] = edges
    if forest.nodes[board.layer[layers], spaces.POSITION] != n:
        return spaces.UNTILEABLE
    return _keep_live(board, forest, nodes, layers)


@search_kernel
def _intern(forest: Forest, bits: Int, nodes: Int, position: Int, window: np.uint64) -> Int:
    mixed = mix_first(window ^ (np.uint64(position) << np.uint64(52)))
    slot = first_slot(mixed, bits)
    while True:
        slot, node = seek(forest.slots, bits, mixed, slot)
        if node < 0:
            enter(forest.slots, slot, mixed, nodes)
            forest.nodes[nodes, spaces.POSITION] = position
            forest.nodes[nodes, spaces.WINDOW] = np.int64(window)
            return nodes
        if (
            np.uint64(forest.nodes[node, spaces.WINDOW]) == window
            and forest.nodes[node, spaces.POSITION] == position
        ):
            return node
        slot = next_slot(slot, bits)


@search_kernel
def _keep_live(board: Board, forest: Forest, nodes: Int, layers: Int) -> Int:
    for node in range(nodes):
        forest.nodes[node, spaces.LIVE] = -1
    forest.nodes[board.layer[layers], spaces.LIVE] = 0
    for k in range(layers - 1, -1, -1):
        for node in range(board.layer[k], board.layer[k + 1]):
            for e in range(forest.nodes[node, spaces.EDGE], forest.nodes[node + 1, spaces.EDGE]):
                if forest.nodes[forest.edges[e, spaces.CHILD], spaces.LIVE] >= 0:
                    forest.nodes[node, spaces.LIVE] = 0
    if forest.nodes[0, spaces.LIVE] < 0:
        return spaces.UNTILEABLE
    # Renumber the live nodes, then move nodes and edges down over the dead ones.
    live = 0
    start = 0
    for k in range(layers + 1):
        stop = board.layer[k + 1]
        board.layer[k] = live
        for node in range(start, stop):
            if forest.nodes[node, spaces.LIVE] >= 0:
                forest.nodes[node, spaces.LIVE] = live
                live += 1
        start = stop
    board.layer[layers + 1] = live
    edges = 0
    opens: Int = np.int64(0)
    reached: Int = np.int64(0)
    for g in range(board.regions + 2):
        board.rest[g] = 0
    for p in range(board.cells):
        # After the regions: cells whose pips a part fixes, and those that nothing constrains.
        loose = board.regions + (board.fixed[p] < 0)
        board.slot[p] = board.region[p] if board.region[p] >= 0 else loose
        board.rest[board.slot[p]] += 1
    for node in range(nodes):
        to = forest.nodes[node, spaces.LIVE]
        if to < 0:
            continue
        first_edge, last_edge = forest.nodes[node, spaces.EDGE], forest.nodes[node + 1, spaces.EDGE]
        p, window = forest.nodes[node, spaces.POSITION], forest.nodes[node, spaces.WINDOW]
        forest.nodes[to, spaces.POSITION] = p
        forest.nodes[to, spaces.WINDOW] = window
        # `to` is never ahead of `node`, so no unread entry is overwritten.
        forest.nodes[to, spaces.EDGE] = edges
        forest.nodes[to, spaces.OPEN] = opens
        # Free cells of each region: those from the first free position on but the covered ones.
        while reached < p:
            board.rest[board.slot[reached]] -= 1
            reached += 1
        while reached > p:
            reached -= 1
            board.rest[board.slot[reached]] += 1
        covered = np.uint64(window)
        while covered:
            board.rest[board.slot[p + 1 + trailing_zeros(covered)]] -= 1
            covered &= covered - ONE
        opens = _list_opens(board, forest, to, opens)
        if opens < 0:
            return spaces.FOREST_TOO_LARGE
        a = board.region[p]
        for e in range(first_edge, last_edge):
            child = forest.nodes[forest.edges[e, spaces.CHILD], spaces.LIVE]
            if child < 0:
                continue
            q = forest.edges[e, spaces.PARTNER]
            b = board.region[q]
            forest.edges[edges, spaces.PARTNER] = q
            forest.edges[edges, spaces.CHILD] = child
            forest.edges[edges, spaces.REST_A] = 0 if a < 0 else board.rest[a]
            forest.edges[edges, spaces.REST_B] = 0 if b < 0 else board.rest[b]
            edges += 1
        covered = np.uint64(window)
        while covered:
            board.rest[board.slot[p + 1 + trailing_zeros(covered)]] += 1
            covered &= covered - ONE
    forest.nodes[live, spaces.EDGE] = edges
    forest.nodes[live, spaces.OPEN] = opens
    return spaces.READY


@search_kernel
def _list_opens(board: Board, forest: Forest, node: Int, opens: Int) -> Int:
    regions = board.regions
    if opens + regions > len(forest.opens):
        return -1
    free = board.rest[regions]
    others = 0
    for g in range(regions):
        rest = board.rest[g]
        if rest == 0:
            continue
        free += rest
        started = rest < board.size[g]
        if rest == 1 if board.kind[g] == SUM else started and board.kind[g] == EQUALS:
            forest.opens[opens, spaces.OPEN_REGION] = g
            forest.opens[opens, spaces.OPEN_REST] = rest
            opens += 1
        elif started or others < spaces.OPENS:
            board.sort_key[others] = g
            others += 1
    forest.nodes[node, spaces.FREE] = free
    forest.nodes[node, spaces.KNOWN] = opens
    for i in range(others):
        forest.opens[opens, spaces.OPEN_REGION] = board.sort_key[i]
        forest.opens[opens, spaces.OPEN_REST] = board.rest[board.sort_key[i]]
        opens += 1
    return opens
