"""In which orders a group's cells may be covered: the states there are depend on little else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import kernel
from nightgrid.solvers.strands.general.groups import Group, Laid

NEIGHBOURS_MAX = 1 << 23
"""Pairs of cells that share a piece; a group with more of them is covered row by row."""


def orders_of(group: Group, laid: Laid, columns: int) -> Iterator[npt.NDArray[np.int64]]:
    """Give orders of a group's cells, one after the other as they are asked for.

    So that the border of what is covered stays short in the graph of cells that share pieces;
    column by column; row by row; and breadth first along the graph (Cuthill-McKee).
    """
    cells = group.cells
    graph = _neighbours(group, laid)
    if graph is None:
        yield cells
        yield cells[np.lexsort((cells // columns, cells % columns))]
        return
    yield cells[_short_border(graph)]
    yield cells[np.lexsort((cells // columns, cells % columns))]
    yield cells
    yield cells[_breadth_first(graph)]


def _neighbours(group: Group, laid: Laid) -> tuple[Any, Any] | None:
    """Find the cells that share a piece, by their places in the group: (bounds, places)."""
    place = np.full(len(laid.on_offsets) - 1, -1, np.int64)
    place[group.cells] = np.arange(len(group.cells))
    starts, near = np.zeros(len(group.cells) + 1, np.int64), np.empty(NEIGHBOURS_MAX, np.int32)
    if not _pair(group.cells, place, laid, starts, near):
        return None
    return starts, near[: starts[-1]].copy()


@kernel
def _pair(
    cells: npt.NDArray[np.int64], place: npt.NDArray[np.int64], laid: Laid,
    starts: npt.NDArray[np.int64], near: npt.NDArray[np.int32],
) -> bool:  # fmt: skip
    offsets, piece_cells, alive = laid.offsets, laid.cells, laid.alive
    on_offsets, on = laid.on_offsets, laid.on
    seen = np.full(len(cells), -1, np.int64)
    count = 0
    for a in range(len(cells)):
        seen[a] = a
        for i in range(on_offsets[cells[a]], on_offsets[cells[a] + 1]):
            p = on[i]
            if not alive[p]:
                continue
            for j in range(offsets[p], offsets[p + 1]):
                b = place[piece_cells[j]]
                if seen[b] != a:
                    if count == len(near):
                        return False
                    seen[b] = a
                    near[count] = b
                    count += 1
        starts[a + 1] = count
    return True


def _breadth_first(graph: tuple[Any, Any]) -> npt.NDArray[np.int64]:
    starts, near = graph
    order = np.empty(len(starts) - 1, np.int64)
    _walk_breadth_first(starts, near, np.argsort(np.diff(starts), kind="stable"), order)
    return order


@kernel
def _walk_breadth_first(
    starts: np.ndarray, near: np.ndarray, by_degree: np.ndarray, order: np.ndarray
) -> None:
    cells = len(order)
    rank = np.empty(cells, np.int64)
    rank[by_degree] = np.arange(cells)
    done = np.zeros(cells, np.bool_)
    mark = np.full(cells, -1, np.int64)
    end = 0
    for first in by_degree:
        if done[first]:
            continue
        # From the far end of wherever we stand, twice: about as far apart as cells can be.
        at = first
        for turn in range(3):
            begin, stop = end, end + 1
            order[begin] = at
            mark[at] = 3 * first + turn
            i = begin
            while i < stop:
                a = order[i]
                i += 1
                old = stop
                for j in range(starts[a], starts[a + 1]):
                    b = near[j]
                    if mark[b] != 3 * first + turn:
                        mark[b] = 3 * first + turn
                        k = stop
                        while k > old and rank[order[k - 1]] > rank[b]:
                            order[k] = order[k - 1]
                            k -= 1
                        order[k] = b
                        stop += 1
            at = order[stop - 1]
            if turn == 2:
                for i in range(begin, stop):
                    done[order[i]] = True
                end = stop


def _short_border(graph: tuple[Any, Any]) -> npt.NDArray[np.int64]:
    starts, near = graph
    order = np.empty(len(starts) - 1, np.int64)
    _grow_border(starts, near, _breadth_first(graph), order)
    return order


@kernel
def _grow_border(
    starts: np.ndarray, near: np.ndarray, seeds: np.ndarray, order: np.ndarray
) -> None:
    """Always take the cell of the border that brings the fewest new cells to it, the oldest."""
    cells = len(order)
    fresh = np.empty(cells, np.int64)
    for a in range(cells):
        fresh[a] = starts[a + 1] - starts[a]
    state = np.zeros(cells, np.uint8)
    border = np.empty(cells, np.int64)
    size, done, seed = 0, 0, 0
    while done < cells:
        if size == 0:
            while state[seeds[seed]]:
                seed += 1
            border[0] = seeds[seed]
            size = 1
            state[border[0]] = 1
            for j in range(starts[border[0]], starts[border[0] + 1]):
                fresh[near[j]] -= 1
        least = 0
        for i in range(1, size):
            if fresh[border[i]] < fresh[border[least]]:
                least = i
        a = border[least]
        for i in range(least + 1, size):
            border[i - 1] = border[i]
        size -= 1
        state[a] = 2
        order[done] = a
        done += 1
        for j in range(starts[a], starts[a + 1]):
            b = near[j]
            if state[b] == 0:
                state[b] = 1
                border[size] = b
                size += 1
                for k in range(starts[b], starts[b + 1]):
                    fresh[near[k]] -= 1
