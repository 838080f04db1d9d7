"""Take a board apart: pieces that no cover holds, and groups of cells that know nothing of others.

A cell that one piece only covers gets it, and what meets that piece is out; so is a piece beside
which some cell has nothing left. Cells that share a piece belong together, and so do those whose
pieces may cross, or are the same word where none may come twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import I32, I64, Int, kernel
from nightgrid.solvers.strands.general.wide_pieces import WideFound
from nightgrid.solvers.strands.pieces.pieces import ragged
from nightgrid.solvers.strands.rules import Rules

LOOK_MAX = 4096
"""Pieces looked at to learn what a cell asks of others; beyond that nothing is learnt from it."""


class Laid(NamedTuple):
    """All pieces of a board, words before compounds, and which of them can be in a cover."""

    low: I64
    offsets: I64
    cells: I32
    word: I64
    """-1 for compounds, of which a cover holds one at most."""
    score: I64
    kind: I64
    """PLAIN, SPANNING or COMPOUND (nightgrid.solvers.strands.sweep.sweep)."""
    set_offsets: I64
    block_offsets: I64
    blocks: I32
    on_offsets: I64
    on: I64
    """on[on_offsets[c]:on_offsets[c + 1]]: the pieces on cell c, ascending."""
    alive: npt.NDArray[np.bool_]


def lay_out(found: WideFound, rules: Rules, cell_count: int) -> Laid:
    """Put words and compounds in one list, and take out those that are in no cover."""
    words, more = found.words, found.compounds
    sets = np.concatenate([words.set_offsets, words.set_offsets[-1] + more.set_offsets[1:]])
    cells = np.concatenate([words.cells, more.cells])
    offsets = _joined(words.cell_offsets, more.cell_offsets)
    sizes = np.diff(offsets)
    order = np.argsort(cells, kind="stable")
    kind = np.zeros(len(words) + len(more), np.int64)
    kind[: len(words)] = words.spans & (rules.spangram != "off")
    kind[len(words) :] = 2
    laid = Laid(
        low=np.concatenate([words.low, more.low]),
        offsets=offsets,
        cells=cells,
        word=np.concatenate([words.word, np.full(len(more), -1)]),
        score=np.concatenate([words.score, more.score]),
        kind=kind,
        set_offsets=sets,
        block_offsets=_joined(words.block_offsets, more.block_offsets),
        blocks=np.concatenate([words.blocks, more.blocks]),
        on_offsets=np.searchsorted(cells[order], np.arange(cell_count + 1)).astype(np.int64),
        on=np.repeat(np.arange(len(sizes)), sizes)[order],
        alive=np.ones(len(kind), np.bool_),
    )
    _take_out(laid.offsets, laid.cells, laid.on_offsets, laid.on, laid.alive)
    return laid


def _joined(one: Any, other: Any) -> I64:
    return np.concatenate([one, one[-1] + other[1:]]).astype(np.int64)


@kernel
def _take_out(
    offsets: np.ndarray, cells: np.ndarray, on_offsets: np.ndarray, on: np.ndarray,
    alive: np.ndarray,
) -> None:  # fmt: skip
    """Mark pieces beside which some cell has no piece left, until there are no more of them."""
    cell_count = len(on_offsets) - 1
    queue = np.empty(cell_count + 1, np.int64)
    queued = np.ones(cell_count, np.bool_)
    for c in range(cell_count):
        queue[c] = c
    head, waiting = 0, cell_count
    hits = np.zeros(len(alive), np.int32)
    seen = np.full(len(alive), -1, np.int64)
    met = np.empty(len(alive), np.int64)
    turn = 0
    while waiting:
        c = queue[head]
        head = (head + 1) % (cell_count + 1)
        waiting -= 1
        queued[c] = False
        # Pieces that meet every piece on c, and are not on it, leave c with none.
        needed, looks = 0, 0
        for i in range(on_offsets[c], on_offsets[c + 1]):
            p = on[i]
            if alive[p]:
                needed += 1
                for j in range(offsets[p], offsets[p + 1]):
                    looks += on_offsets[cells[j] + 1] - on_offsets[cells[j]]
                if needed > 1 and looks > LOOK_MAX:
                    break
        if needed > 1 and looks > LOOK_MAX:
            continue
        count = 0
        for i in range(on_offsets[c], on_offsets[c + 1]):
            p = on[i]
            if not alive[p]:
                continue
            turn += 1
            for j in range(offsets[p], offsets[p + 1]):
                for k in range(on_offsets[cells[j]], on_offsets[cells[j] + 1]):
                    q = on[k]
                    if alive[q] and seen[q] != turn:
                        seen[q] = turn
                        if hits[q] == 0:
                            met[count] = q
                            count += 1
                        hits[q] += 1
        for i in range(count):
            q = met[i]
            dead = hits[q] == needed
            hits[q] = 0
            for j in range(offsets[q], offsets[q + 1]):
                if cells[j] == c:
                    dead = False
            if not dead:
                continue
            alive[q] = False
            for j in range(offsets[q], offsets[q + 1]):
                d = cells[j]
                # What its neighbours can do without has become less as well.
                if not queued[d]:
                    queued[d] = True
                    queue[(head + waiting) % (cell_count + 1)] = d
                    waiting += 1


class Group(NamedTuple):
    """Cells that are covered by themselves, and the pieces that may cover them."""

    cells: I64
    pieces: I64


def groups_of(laid: Laid, rules: Rules, *, coupled: bool) -> list[Group]:
    """Find the groups of a board, those with the lowest cells first.

    `coupled`: everything is one group, because of a rule about the cover as a whole.
    """
    cell_count = len(laid.on_offsets) - 1
    pieces = np.flatnonzero(laid.alive)
    if coupled:
        return [Group(np.arange(cell_count), pieces)]
    root = np.arange(cell_count)
    _, places = ragged(laid.offsets[pieces], np.diff(laid.offsets)[pieces])
    sizes = np.diff(laid.offsets)[pieces]
    _unite(root, np.repeat(laid.low[pieces], sizes), laid.cells[places].astype(np.int64))
    if not rules.crossing and len(laid.blocks):
        owner = np.repeat(np.arange(len(laid.low)), np.diff(laid.set_offsets))
        owner = np.repeat(owner, np.diff(laid.block_offsets))
        keep = laid.alive[owner]
        _unite_equal(root, laid.blocks[keep].astype(np.int64), laid.low[owner[keep]])
    if not rules.repeats:
        _unite_equal(root, laid.word[pieces], laid.low[pieces])
    for c in range(cell_count):
        _find(root, c)
    own = root[laid.low[pieces]]
    by_group = np.argsort(own, kind="stable")
    roots = np.unique(root)
    bounds = np.searchsorted(own[by_group], roots)
    stops = np.searchsorted(own[by_group], roots, side="right")
    by_cell = np.argsort(root, kind="stable")
    starts = np.searchsorted(root[by_cell], roots)
    ends = np.append(starts[1:], cell_count)
    return [
        Group(by_cell[s:e], pieces[by_group[a:b]])
        for s, e, a, b in zip(starts, ends, bounds, stops, strict=True)
    ]


@kernel
def _find(root: np.ndarray, cell: Int) -> Int:
    top = cell
    while root[top] != top:
        top = root[top]
    while root[cell] != top:
        root[cell], cell = top, root[cell]
    return top


@kernel
def _unite(root: np.ndarray, one: np.ndarray, other: np.ndarray) -> None:
    for i in range(len(one)):
        a, b = _find(root, one[i]), _find(root, other[i])
        root[max(a, b)] = min(a, b)


def _unite_equal(root: Any, keys: Any, cells: Any) -> None:
    """Unite the cells of equal keys."""
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    _unite(root, cells[order[same]], cells[order[same + 1]])
