"""Backtrack along tiling trees with the pruning of the F# article, compiled.

The algorithm of "Solving the NY Times Pips game with F#" (sections Backtracking, Tiling, Pruning):
a forest of tiling trees says which tile comes next, every domino left is tried on it in both
directions, and after each placement ALL regions are checked with the article's rules, the knapsack
check last. Differences, each in the algorithm's favour: it is compiled with Numba and changes its
board in place; equal subtrees of the forest are stored once (the same nodes are visited); solutions
are counted and not collected; building the forest is not part of the time. Of equal dominoes only
the first one left is tried, since the article assumes that there are none.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

I64 = npt.NDArray[np.int64]

EMPTY, SUM, LESS, GREATER, EQUALS, UNEQUAL = range(6)
_KINDS = ("empty", "sum", "less", "greater", "equals", "unequal")
_NODES_PER_CALL = 2_000_000
_KNAPSACK_BITS = 63
"""The knapsack keeps reachable sums as bits of one word; larger targets rely on the bounds."""


class Forest(NamedTuple):
    """Tiling trees with equal subtrees shared: node i has the edges start[i]..start[i + 1]."""

    start: I64
    cell_a: I64
    cell_b: I64
    child: I64


class Board(NamedTuple):
    """A board as arrays; pips are named by their index in the ascending list of distinct pips."""

    pips: I64
    left: I64
    right: I64
    region_start: I64
    region_cells: I64
    kind: I64
    target: I64


class Search(NamedTuple):
    """The state of a depth-first search that can be suspended and resumed."""

    value: I64  # pip index on each cell, -1 for none
    used: I64
    supply: I64  # halves left with each pip
    node: I64  # by depth
    edge: I64
    option: I64  # 2 * domino + direction that comes next
    placed: I64  # 2 * domino + direction that lies there, -1 for none
    totals: I64  # depth, solutions, nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Backtracking:
    """The result of the search: `complete` is False if the time limit ended it."""

    count: int
    complete: bool
    nodes: int
    search_s: float
    forest_s: float


def build_forest(cells: list[tuple[int, int]]) -> Forest:
    """Build the forest of all tilings of the (sorted) cells; the root is node 0."""
    index = {cell: i for i, cell in enumerate(cells)}
    later = [
        [index[c] for c in ((row, column + 1), (row + 1, column)) if c in index]
        for row, column in cells
    ]
    edges: dict[int, list[tuple[int, int, int]] | None] = {0: []}

    def grow(free: int) -> bool:
        if free in edges:
            return edges[free] is not None
        first = (free & -free).bit_length() - 1
        found = []
        for other in later[first]:
            rest = free & ~(1 << first) & ~(1 << other)
            if free >> other & 1 and grow(rest):
                found.append((first, other, rest))
        edges[free] = found or None
        return bool(found)

    root = (1 << len(cells)) - 1
    grow(root)
    numbers: dict[int, int] = {root: 0}
    rows: list[list[tuple[int, int, int]]] = []
    queue = [root]
    for free in queue:
        rows.append([])
        for a, b, rest in edges[free] or []:
            if rest not in numbers:
                numbers[rest] = len(numbers)
                queue.append(rest)
            rows[-1].append((a, b, numbers[rest]))
    flat = np.array([edge for row in rows for edge in row], np.int64).reshape(-1, 3)
    start = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    columns = (np.ascontiguousarray(flat[:, i]) for i in range(3))
    return Forest(start, *columns)


def build_board(board: Mapping[str, Any], cells: list[tuple[int, int]]) -> Board:
    """Lay out a board given in the payload's form."""
    index = {cell: i for i, cell in enumerate(cells)}
    dominoes = sorted((min(d), max(d)) for d in board["dominoes"])
    pips = sorted({pip for domino in dominoes for pip in domino})
    regions = board["regions"]
    return Board(
        pips=np.array(pips, np.int64),
        left=np.array([pips.index(a) for a, _ in dominoes], np.int64),
        right=np.array([pips.index(b) for _, b in dominoes], np.int64),
        region_start=np.cumsum([0, *(len(r["indices"]) for r in regions)]).astype(np.int64),
        region_cells=np.array([index[c[0], c[1]] for r in regions for c in r["indices"]], np.int64),
        kind=np.array([_KINDS.index(r["type"]) for r in regions], np.int64),
        target=np.array([r.get("target") or 0 for r in regions], np.int64),
    )


@njit(cache=True)  # type: ignore[untyped-decorator]
def _smallest(board: Board, supply: I64, wanted: int) -> int:
    total = 0
    for v in range(len(supply)):
        taken = min(wanted, supply[v])
        total += taken * board.pips[v]
        wanted -= taken
        if wanted == 0:
            break
    return total


@njit(cache=True)  # type: ignore[untyped-decorator]
def _largest(board: Board, supply: I64, wanted: int) -> int:
    total = 0
    for v in range(len(supply) - 1, -1, -1):
        taken = min(wanted, supply[v])
        total += taken * board.pips[v]
        wanted -= taken
        if wanted == 0:
            break
    return total


@njit(cache=True)  # type: ignore[untyped-decorator]
def _reachable(board: Board, supply: I64, wanted: int, target: int) -> bool:
    """Knapsack: do some `wanted` of the halves left sum to the target?"""
    if target > _KNAPSACK_BITS:
        return True
    sums = np.zeros(wanted + 1, np.uint64)
    sums[0] = np.uint64(1)
    for v in range(len(supply)):
        pip = board.pips[v]
        if pip > target:
            break
        for _ in range(min(supply[v], wanted)):
            for taken in range(wanted, 0, -1):
                sums[taken] |= sums[taken - 1] << np.uint64(pip)
    return bool((sums[wanted] >> np.uint64(target)) & np.uint64(1))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _is_valid(board: Board, region: int, value: I64, supply: I64) -> bool:
    """Apply the article's rules for the region's type to a partly filled board."""
    kind = board.kind[region]
    if kind == EMPTY:
        return True
    total = 0
    filled = 0
    first = -1
    same = True
    begin, end = board.region_start[region], board.region_start[region + 1]
    for i in range(begin, end):
        v = value[board.region_cells[i]]
        if v < 0:
            continue
        if first < 0:
            first = v
        same = same and v == first
        filled += 1
        total += board.pips[v]
    wanted = end - begin - filled
    if kind == EQUALS:
        return bool(same and (filled == 0 or supply[first] >= wanted))
    if kind == UNEQUAL:
        fresh = 0
        for v in range(len(supply)):
            fresh += supply[v] > 0
        for i in range(begin, end):
            v = value[board.region_cells[i]]
            if v < 0:
                continue
            fresh -= supply[v] > 0
            for j in range(begin, i):
                if value[board.region_cells[j]] == v:
                    return False
        return bool(fresh >= wanted)
    target = board.target[region]
    if kind == LESS:
        return bool(total + _smallest(board, supply, wanted) < target)
    if kind == GREATER:
        return bool(total + _largest(board, supply, wanted) > target)
    if wanted == 0 or total > target:
        return bool(total == target)
    return bool(
        total + _smallest(board, supply, wanted) <= target
        and total + _largest(board, supply, wanted) >= target
        and _reachable(board, supply, wanted, target - total)
    )


@njit(cache=True)  # type: ignore[untyped-decorator]
def _advance(board: Board, forest: Forest, search: Search, most: int, nodes: int) -> bool:
    """Search on for some nodes or until `most` solutions; return True when it is over."""
    dominoes = len(board.left)
    depth, count, tried = search.totals
    stop = tried + nodes
    over = False
    while True:
        if depth == dominoes:
            count += 1
            depth -= 1
            if count >= most:
                over = True
                break
        if depth < 0:
            over = True
            break
        edge = search.edge[depth]
        a, b = -1, -1
        if search.placed[depth] >= 0:
            a, b = forest.cell_a[edge], forest.cell_b[edge]
            domino = search.placed[depth] >> 1
            search.used[domino] = 0
            search.supply[board.left[domino]] += 1
            search.supply[board.right[domino]] += 1
            search.value[a] = -1
            search.value[b] = -1
            search.placed[depth] = -1
        if tried >= stop:
            break
        if edge == forest.start[search.node[depth] + 1]:
            depth -= 1
            continue
        if search.option[depth] == 2 * dominoes:
            search.edge[depth] += 1
            search.option[depth] = 0
            continue
        option = search.option[depth]
        search.option[depth] += 1
        domino, flip = option >> 1, option & 1
        if search.used[domino]:
            continue
        left, right = board.left[domino], board.right[domino]
        if flip and left == right:
            continue
        if (
            domino > 0
            and not search.used[domino - 1]
            and board.left[domino - 1] == left
            and board.right[domino - 1] == right
        ):
            continue
        tried += 1
        a, b = forest.cell_a[edge], forest.cell_b[edge]
        search.used[domino] = 1
        search.supply[left] -= 1
        search.supply[right] -= 1
        search.value[a] = right if flip else left
        search.value[b] = left if flip else right
        search.placed[depth] = option
        valid = True
        for region in range(len(board.kind)):
            if not _is_valid(board, region, search.value, search.supply):
                valid = False
                break
        if not valid:
            continue
        child = forest.child[edge]
        depth += 1
        if depth < dominoes:
            search.node[depth] = child
            search.edge[depth] = forest.start[child]
            search.option[depth] = 0
            search.placed[depth] = -1
    search.totals[0], search.totals[1], search.totals[2] = depth, count, tried
    return over


def count_solutions(
    payload: Mapping[str, Any], *, most: int = 2**62, time_limit_s: float | None = None
) -> Backtracking:
    """Count the solutions of a board given in the payload's form, up to `most` (1: the first)."""
    cells = sorted({(c[0], c[1]) for region in payload["regions"] for c in region["indices"]})
    begun = time.perf_counter()
    forest = build_forest(cells)
    board = build_board(payload, cells)
    built = time.perf_counter()
    size = len(board.left)
    supply = np.zeros(len(board.pips), np.int64)
    np.add.at(supply, board.left, 1)
    np.add.at(supply, board.right, 1)
    search = Search(
        value=np.full(len(cells), -1, np.int64),
        used=np.zeros(size, np.int64),
        supply=supply,
        node=np.zeros(size, np.int64),
        edge=np.zeros(size, np.int64),
        option=np.zeros(size, np.int64),
        placed=np.full(size, -1, np.int64),
        totals=np.zeros(3, np.int64),
    )
    over = False
    while not over:
        over = _advance(board, forest, search, most, _NODES_PER_CALL)
        if time_limit_s is not None and time.perf_counter() - built > time_limit_s:
            break
    _, count, nodes = (int(total) for total in search.totals)
    return Backtracking(
        count=count,
        complete=over,
        nodes=nodes,
        search_s=time.perf_counter() - built,
        forest_s=built - begun,
    )
