"""Cover a Strands board by backtracking through score-sorted pieces, compiled.

Method: article 004, Algorithm 2. At index i of the list, best score first, the piece is chosen if
it clashes with none chosen before, then left out; there is no other pruning than the number of
pieces. Differences, in the algorithm's favour or asked for by the rules: it is compiled with Numba
and keeps its stack in an array; overlap is one AND of two masks; a piece also clashes by crossing,
by repeating a word or by being a second compound; a spangram is asked for when the board is full.
Rows beyond the first for the same piece (other ways round) are rows like all others.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from benchmarks.strands_rows import ONE, REQUIRED, Rows
from solvers.bits import popcount

NODES_PER_CALL = 20_000_000
PIECES_MAX = 64
DEPTH, TRIED, BEST_CELLS, NEXT, FOUND = range(5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What an engine found within its time: `complete` is False when the limit ended it."""

    cover: npt.NDArray[np.int64] | None
    """The rows of the cover it returns, None where it has none."""
    complete: bool
    count: int
    """Covers seen, as choices of rows."""
    best_cells: int
    """Most cells that lay covered at any time."""
    nodes: int
    search_s: float
    """Processor time, as the limit is."""


@njit(cache=True)  # type: ignore[untyped-decorator]
def _advance(
    cells: np.ndarray,
    blocks: np.ndarray,
    word: np.ndarray,
    spans: np.ndarray,
    compound: np.ndarray,
    board: np.uint64,
    entries: int,
    spangram: int,
    repeats: bool,
    chosen: np.ndarray,
    state: np.ndarray,
    most: int,
    nodes: int,
) -> bool:
    """Search on for some nodes or until `most` covers; return True when it is over."""
    size = len(cells)
    depth, index = state[DEPTH], state[NEXT]
    covered, crossed = np.uint64(0), np.uint64(0)
    compounds, spanning = 0, 0
    for d in range(depth):
        covered |= cells[chosen[d]]
        crossed |= blocks[chosen[d]]
        compounds += compound[chosen[d]]
        spanning += spans[chosen[d]]
    stop = state[TRIED] + nodes
    while True:
        full = covered == board
        if full and (
            (entries < 0 or depth == entries)
            and not (spangram == REQUIRED and spanning == 0)
            and not (spangram == ONE and spanning != 1)
        ):
            state[FOUND] += 1
            if state[FOUND] >= most:
                state[DEPTH] = depth
                return True
        if full or index == size or (entries >= 0 and depth >= entries):
            if depth == 0:
                state[DEPTH] = 0
                return True
            depth -= 1
            row = chosen[depth]
            covered ^= cells[row]
            crossed ^= blocks[row]
            compounds -= compound[row]
            spanning -= spans[row]
            index = row + 1
            continue
        if state[TRIED] >= stop:
            state[DEPTH], state[NEXT] = depth, index
            return False
        state[TRIED] += 1
        clashes = (
            (cells[index] & covered) != np.uint64(0)
            or (blocks[index] & crossed) != np.uint64(0)
            or (compound[index] and compounds > 0)
        )
        if not clashes and not repeats:
            for d in range(depth):
                if word[chosen[d]] == word[index]:
                    clashes = True
                    break
        if not clashes:
            chosen[depth] = index
            covered |= cells[index]
            crossed |= blocks[index]
            compounds += compound[index]
            spanning += spans[index]
            depth += 1
            lit = popcount(covered)
            state[BEST_CELLS] = max(state[BEST_CELLS], lit)
        index += 1


def search(
    rows: Rows, *, most: int = 1, time_limit_s: float | None = None, nodes: int = NODES_PER_CALL
) -> Search:
    """Look for the first cover, or for up to `most`."""
    begun = time.process_time()
    chosen = np.zeros(PIECES_MAX, np.int64)
    state = np.zeros(5, np.int64)
    over = False
    while not over:
        over = _advance(
            rows.cells,
            rows.blocks,
            rows.word,
            rows.spans,
            rows.compound,
            rows.board,
            rows.entries,
            rows.spangram,
            rows.repeats,
            chosen,
            state,
            most,
            nodes,
        )
        if time_limit_s is not None and time.process_time() - begun > time_limit_s:
            break
    found = int(state[FOUND])
    return Search(
        cover=chosen[: state[DEPTH]].copy() if over and found >= most else None,
        complete=over,
        count=found,
        best_cells=int(state[BEST_CELLS]),
        nodes=int(state[TRIED]),
        search_s=time.process_time() - begun,
    )
