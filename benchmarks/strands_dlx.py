"""Cover a Strands board by dancing links, compiled.

Method: article 004, Algorithm 3 (Knuth's Algorithm X with dancing links): the column with fewest
rows is covered first, and the number of pieces is looked at when all columns are. Columns are the
cells. What the paper left out is added as Knuth adds it, as secondary columns that are covered at
most once: a column for each 2 x 2 block (no two pieces cross), for each word with several rows (no
word twice) and one for all compounds. It is compiled with Numba like the other engines, so that the
table compares methods and not languages. It counts choices of rows: where crossing is forbidden, a
cover with several ways round has several.
"""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt
from numba import njit

from benchmarks.strands_backtracking import PIECES_MAX, Search
from benchmarks.strands_rows import ONE, REQUIRED, Rows
from solvers.bits import popcount

NODES_PER_CALL = 5_000
I32 = npt.NDArray[np.int32]
DEPTH, TRIED, BEST_CELLS, FOUND, GOING_ON = range(5)


def _links(rows: Rows) -> tuple[I32, ...]:
    """Build the circular lists: (left, right, up, down, column, size, row).

    Node 0 is the root, nodes 1 to the number of columns are headers; primary headers alone are
    linked to the root.
    """
    cells = int(rows.board).bit_count()
    members = [_holders(rows.cells, bit) for bit in range(cells)]
    secondary = [_holders(rows.blocks, bit) for bit in range(64)]
    if not rows.repeats:
        order = np.argsort(rows.word, kind="stable")
        secondary += np.split(order, np.flatnonzero(np.diff(rows.word[order])) + 1)
    secondary.append(np.flatnonzero(rows.compound))
    # A column of one row forbids nothing.
    members += [holders for holders in secondary if len(holders) > 1]
    last = len(members)
    row = np.concatenate(members)
    column_of = np.repeat(np.arange(1, last + 1, dtype=np.int32), [len(m) for m in members])
    flat = column_of[np.lexsort((column_of, row))]
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(rows)))])
    nodes = 1 + last + len(flat)
    left, right, up, down = (np.arange(nodes, dtype=np.int32) for _ in range(4))
    column = np.concatenate([np.arange(1 + last, dtype=np.int32), flat])
    size = np.zeros(1 + last, np.int32)
    row_of = np.full(nodes, -1, np.int32)
    _link(left, right, up, down, column, size, row_of, starts, cells, last)
    return left, right, up, down, column, size, row_of


def _holders(masks: npt.NDArray[np.uint64], bit: int) -> npt.NDArray[np.intp]:
    return np.flatnonzero(masks >> np.uint64(bit) & np.uint64(1))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _link(
    left: I32,
    right: I32,
    up: I32,
    down: I32,
    column: I32,
    size: I32,
    row_of: I32,
    starts: np.ndarray,
    cells: int,
    last: int,
) -> None:
    for c in range(cells + 1):
        left[c] = c - 1 if c else cells
        right[c] = c + 1 if c < cells else 0
    for row in range(len(starts) - 1):
        begin, end = 1 + last + starts[row], 1 + last + starts[row + 1]
        for node in range(begin, end):
            left[node] = node - 1 if node > begin else end - 1
            right[node] = node + 1 if node < end - 1 else begin
            row_of[node] = row
            head = column[node]
            up[node], down[node] = up[head], head
            down[up[head]] = node
            up[head] = node
            size[head] += 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def _cover(head: int, left: I32, right: I32, up: I32, down: I32, column: I32, size: I32) -> None:
    left[right[head]] = left[head]
    right[left[head]] = right[head]
    i = down[head]
    while i != head:
        j = right[i]
        while j != i:
            up[down[j]] = up[j]
            down[up[j]] = down[j]
            size[column[j]] -= 1
            j = right[j]
        i = down[i]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _uncover(head: int, left: I32, right: I32, up: I32, down: I32, column: I32, size: I32) -> None:
    i = up[head]
    while i != head:
        j = left[i]
        while j != i:
            size[column[j]] += 1
            up[down[j]] = j
            down[up[j]] = j
            j = left[j]
        i = up[i]
    left[right[head]] = head
    right[left[head]] = head


@njit(cache=True)  # type: ignore[untyped-decorator]
def _advance(
    left: I32,
    right: I32,
    up: I32,
    down: I32,
    column: I32,
    size: I32,
    row_of: I32,
    spans: np.ndarray,
    row_cells: np.ndarray,
    entries: int,
    spangram: int,
    at: np.ndarray,
    state: np.ndarray,
    most: int,
    nodes: int,
) -> bool:
    """Search on for some nodes or until `most` covers; return True when it is over.

    at[d] is the node chosen at depth d. With GOING_ON set the search takes up a choice that lies;
    else it has come down to a new depth.
    """
    depth = state[DEPTH]
    going_on = state[GOING_ON]
    stop = state[TRIED] + nodes
    while True:
        if not going_on:
            if right[0] == 0:
                spanning = 0
                for d in range(depth):
                    spanning += spans[row_of[at[d]]]
                if (
                    (entries < 0 or depth == entries)
                    and not (spangram == REQUIRED and spanning == 0)
                    and not (spangram == ONE and spanning != 1)
                ):
                    state[FOUND] += 1
                    if state[FOUND] >= most:
                        state[DEPTH] = depth
                        return True
                depth -= 1
                going_on = 1
                if depth < 0:
                    state[DEPTH] = 0
                    return True
                continue
            head = right[0]
            c = right[head]
            while c != 0:
                if size[c] < size[head]:
                    head = c
                c = right[c]
            _cover(head, left, right, up, down, column, size)
            at[depth] = down[head]
        else:
            if state[TRIED] >= stop:
                state[DEPTH], state[GOING_ON] = depth, 1
                return False
            node = at[depth]
            j = left[node]
            while j != node:
                _uncover(column[j], left, right, up, down, column, size)
                j = left[j]
            at[depth] = down[node]
        node = at[depth]
        head = column[node]
        if node == head:
            _uncover(head, left, right, up, down, column, size)
            depth -= 1
            going_on = 1
            if depth < 0:
                state[DEPTH] = 0
                return True
            continue
        state[TRIED] += 1
        j = right[node]
        while j != node:
            _cover(column[j], left, right, up, down, column, size)
            j = right[j]
        depth += 1
        going_on = 0
        lit = 0
        for d in range(depth):
            lit += popcount(row_cells[row_of[at[d]]])
        state[BEST_CELLS] = max(state[BEST_CELLS], lit)


def search(
    rows: Rows, *, most: int = 1, time_limit_s: float | None = None, nodes: int = NODES_PER_CALL
) -> Search:
    """Look for the first cover, or count up to `most`. Building the links takes no time here."""
    links = _links(rows)
    begun = time.process_time()
    row_of = links[-1]
    at = np.zeros(PIECES_MAX + 1, np.int64)
    state = np.zeros(5, np.int64)
    over = False
    while not over:
        over = _advance(
            *links,
            rows.spans,
            rows.cells,
            rows.entries,
            rows.spangram,
            at,
            state,
            most,
            nodes,
        )
        if time_limit_s is not None and time.process_time() - begun > time_limit_s:
            break
    found = int(state[FOUND])
    return Search(
        cover=row_of[at[: state[DEPTH]]].astype(np.int64) if over and found >= most else None,
        complete=over,
        count=found,
        best_cells=int(state[BEST_CELLS]),
        nodes=int(state[TRIED]),
        search_s=time.process_time() - begun,
    )
