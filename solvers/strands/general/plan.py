"""The pieces of a group, written for an order of its cells."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nightgrid.solvers.kernel.compiling import I32, I64, U64, Int, kernel
from nightgrid.solvers.strands.general.groups import Group, Laid
from nightgrid.solvers.strands.pieces.pieces import ragged
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.sweep.sweep import RULES

_ONE = np.uint64(1)
P_WORD, P_SCORE, P_KIND, P_TWIN, P_SIZE, P_LAST = range(6)
PIECE_FIELDS = 6
CELLS, WORDS, BLOCK_WORDS, LEAST, MOST, RULE, NUMBER = range(7)


class Plan(NamedTuple):
    """A group of cells in an order. Cells are named by their places in it, blocks by number."""

    at: I64
    """Pieces at[f]:at[f + 1] have f as their first cell."""
    fields: I64
    """int64[pieces, PIECE_FIELDS]: number of the word, score, kind, whether the word has other
    cells to stand on, size, last cell."""
    mask_offsets: I64
    mask_words: I32
    masks: U64
    """Piece p has cells masks[i] in word mask_words[i], i from mask_offsets[p] on."""
    near_offsets: I64
    near_words: I32
    nears: U64
    """The cells that share a piece with one of its cells, written likewise."""
    on_offsets: I64
    on: I32
    """The pieces on each cell, those with the latest first cell first."""
    latest: I32
    """What fitted on each cell last. Kernels write here; any value is right."""
    set_offsets: I64
    block_offsets: I64
    blocks: I32
    corners: I64
    """int64[blocks, 4]: both cells of one diagonal, and of the other; -1 where no piece steps."""
    word_offsets: I64
    word_pieces: I64
    geometry: I64


class Keys(NamedTuple):
    """How a plan's numbers are named on the board."""

    cells: I64
    """The cells in their order."""
    blocks: dict[int, int]
    words: dict[int, int]


def plan_of(
    group: Group, laid: Laid, rules: Rules, order: I64, columns: int, number: int
) -> tuple[Plan, Keys]:  # fmt: skip
    """Write a group for an order of its cells; `number` tells its states from those of others."""
    place = np.full(len(laid.on_offsets) - 1, -1, np.int64)
    place[order] = np.arange(len(order))
    sizes = np.diff(laid.offsets)[group.pieces]
    bounds, places = ragged(laid.offsets[group.pieces], sizes)
    cells = place[laid.cells[places]]
    first = np.minimum.reduceat(cells, bounds[:-1]) if len(sizes) else bounds[:0]
    by_first = np.argsort(first, kind="stable")
    pieces, first, sizes = group.pieces[by_first], first[by_first], sizes[by_first]
    bounds, places = ragged(bounds[by_first], sizes)
    cells = cells[places]
    cells = cells[np.lexsort((cells, np.repeat(np.arange(len(sizes)), sizes)))]
    names, word = np.unique(laid.word[pieces], return_inverse=True)
    by_word = np.argsort(word, kind="stable")
    word_offsets = np.searchsorted(word[by_word], np.arange(len(names) + 1)).astype(np.int64)
    fields = np.zeros((len(pieces), PIECE_FIELDS), np.int64)
    fields[:, P_WORD], fields[:, P_SCORE] = word, laid.score[pieces]
    fields[:, P_KIND], fields[:, P_SIZE] = laid.kind[pieces], sizes
    fields[:, P_LAST] = cells[bounds[1:] - 1]
    if not rules.repeats:
        fields[:, P_TWIN] = (np.diff(word_offsets)[word] > 1) & (laid.word[pieces] >= 0)
    mask_offsets, mask_words, masks = _masked(bounds, cells)
    row = np.repeat(np.arange(len(sizes)), sizes)
    by_cell = np.lexsort((-row, cells))
    on_offsets = np.searchsorted(cells[by_cell], np.arange(len(order) + 1)).astype(np.int64)
    on = row[by_cell].astype(np.int32)
    near_offsets, near_words, nears = _nears(
        _Incidence(bounds, cells, on_offsets, on, mask_offsets, mask_words, masks),
        (len(order) + 63) // 64,
    )
    corners, blocks, sets = _blocks(pieces, laid, rules, place, columns)
    least, most = (int(sizes.min()), int(sizes.max())) if len(sizes) else (1, 1)
    plan = Plan(
        at=np.searchsorted(first, np.arange(len(order) + 1)).astype(np.int64),
        fields=fields,
        mask_offsets=mask_offsets, mask_words=mask_words, masks=masks,
        near_offsets=near_offsets, near_words=near_words, nears=nears,
        on_offsets=on_offsets, on=on,
        latest=np.full(len(order), -1, np.int32),
        set_offsets=sets[0], block_offsets=sets[1], blocks=sets[2], corners=corners,
        word_offsets=word_offsets, word_pieces=by_word.astype(np.int64),
        geometry=np.array(
            [
                len(order), (len(order) + 63) // 64, (len(corners) + 63) // 64, least, most,
                RULES[rules.spangram], number,
            ],
            np.int64,
        ),
    )  # fmt: skip
    words = {int(name): i for i, name in enumerate(names) if name >= 0}
    return plan, Keys(order, blocks, words)


def _masked(bounds: Any, cells: Any) -> tuple[Any, Any, Any]:
    """Write runs of ascending cells as (bounds, word numbers, masks)."""
    if not len(cells):
        return np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.uint64)
    row = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    word = cells // 64
    new = np.append(True, (row[1:] != row[:-1]) | (word[1:] != word[:-1]))
    heads = np.flatnonzero(new)
    masks = np.bitwise_or.reduceat(_ONE << (cells % 64).astype(np.uint64), heads)
    offsets = np.searchsorted(row[heads], np.arange(len(bounds))).astype(np.int64)
    return offsets, word[heads].astype(np.int32), masks


class _Incidence(NamedTuple):
    """Which pieces lie on which cells, three ways: see Plan."""

    bounds: I64
    cells: I64
    """cells[bounds[p]:bounds[p + 1]]: the cells of piece p, ascending."""
    on_offsets: I64
    on: I32
    mask_offsets: I64
    mask_words: I32
    masks: U64


def _nears(pieces: _Incidence, words: int) -> tuple[Any, Any, Any]:
    """Write for each piece the cells that share a piece with it."""
    offsets = np.zeros(len(pieces.bounds), np.int64)
    room = 4 * len(pieces.masks) + 1024
    while True:
        near_words, nears = np.empty(room, np.int32), np.empty(room, np.uint64)
        used = int(_write_nears(pieces, words, offsets, near_words, nears))
        if used <= room:
            return offsets, near_words[:used].copy(), nears[:used].copy()
        room = used


@kernel
def _write_nears(pieces: _Incidence, words: Int, offsets: I64, near_words: I32, nears: U64) -> Int:
    bounds, cells, on_offsets, on = pieces.bounds, pieces.cells, pieces.on_offsets, pieces.on
    mask_offsets, mask_words, masks = pieces.mask_offsets, pieces.mask_words, pieces.masks
    cell_count = len(on_offsets) - 1
    # Of each cell first: those that share a piece with it, and between which words they lie.
    low, high = np.full(cell_count, words, np.int64), np.full(cell_count, -1, np.int64)
    starts = np.zeros(cell_count + 1, np.int64)
    for c in range(cell_count):
        for i in range(on_offsets[c], on_offsets[c + 1]):
            start, stop = mask_offsets[on[i]], mask_offsets[on[i] + 1]
            low[c] = min(low[c], mask_words[start])
            high[c] = max(high[c], mask_words[stop - 1])
        starts[c + 1] = starts[c] + max(0, high[c] - low[c] + 1)
    own = np.zeros(starts[-1], np.uint64)
    for c in range(cell_count):
        for i in range(on_offsets[c], on_offsets[c + 1]):
            for j in range(mask_offsets[on[i]], mask_offsets[on[i] + 1]):
                own[starts[c] + mask_words[j] - low[c]] |= masks[j]
    row = np.zeros(words, np.uint64)
    used = 0
    for p in range(len(bounds) - 1):
        first, last = words, -1
        for i in range(bounds[p], bounds[p + 1]):
            c = cells[i]
            first, last = min(first, low[c]), max(last, high[c])
            for w in range(low[c], high[c] + 1):
                row[w] |= own[starts[c] + w - low[c]]
        for w in range(first, last + 1):
            if row[w]:
                if used < len(nears):
                    near_words[used], nears[used] = w, row[w]
                used += 1
                row[w] = 0
        offsets[p + 1] = used
    return used


def blocks_to_cross(laid: Laid) -> frozenset[int]:
    """Name the blocks of a board that two of its pieces could close."""
    owner = np.repeat(np.arange(len(laid.low)), np.diff(laid.set_offsets))
    names, both, _ = _crossed(
        np.repeat(owner, np.diff(laid.block_offsets)), laid.blocks.astype(np.int64), laid
    )
    return frozenset(names[both].tolist())


def _crossed(owner: Any, blocks: Any, laid: Laid) -> tuple[Any, Any, Any]:
    """Find the distinct blocks, which have both diagonals used, and the number of each block."""
    # A block counts for a piece if the piece holds just one of its diagonals.
    rising = np.zeros(len(blocks), np.bool_)
    _mark_rising(blocks, owner, laid.offsets, laid.cells, rising)
    known, number = np.unique(blocks, return_inverse=True)
    one, other = np.zeros(len(known), np.bool_), np.zeros(len(known), np.bool_)
    one[number[~rising]], other[number[rising]] = True, True
    return known, one & other, number


def _blocks(pieces: Any, laid: Laid, rules: Rules, place: Any, columns: int) -> Any:
    """Number the blocks that two pieces might close: (corners, numbers, least sets)."""
    sets = np.diff(laid.set_offsets)[pieces]
    set_offsets, rows = ragged(laid.set_offsets[pieces], sets)
    sizes = np.diff(laid.block_offsets)[rows]
    _, places = ragged(laid.block_offsets[rows], sizes)
    names = laid.blocks[places].astype(np.int64)
    if rules.crossing or not len(names):
        zeros = np.zeros(set_offsets[-1] + 1, np.int64)
        return np.empty((0, 4), np.int64), {}, (set_offsets, zeros, np.empty(0, np.int32))
    owner = np.repeat(np.repeat(pieces, sets), sizes)
    known, both, number = _crossed(owner, names, laid)
    corner = known[both]
    corners = place[
        np.stack([corner - columns - 1, corner, corner - columns, corner - 1], axis=1)
    ].reshape(-1, 4)
    # Blocks in the order in which they are over, so that those in question lie together.
    order = np.argsort(corners.max(axis=1), kind="stable") if len(corners) else corner
    rank = np.full(len(known), -1, np.int64)
    rank[np.flatnonzero(both)[order]] = np.arange(len(order))
    numbers = rank[number]
    of_set = np.repeat(np.arange(len(sizes)), sizes)
    keep = numbers >= 0
    block_offsets = np.concatenate(
        [[0], np.cumsum(np.bincount(of_set[keep], minlength=len(sizes)))]
    ).astype(np.int64)
    names_of = {int(name): i for i, name in enumerate(corner[order])}
    return corners[order], names_of, (set_offsets, block_offsets, numbers[keep].astype(np.int32))


@kernel
def _mark_rising(
    blocks: np.ndarray, pieces: np.ndarray, offsets: np.ndarray, cells: np.ndarray,
    rising: np.ndarray,
) -> None:  # fmt: skip
    for i in range(len(blocks)):
        for j in range(offsets[pieces[i]], offsets[pieces[i] + 1]):
            if cells[j] == blocks[i] - 1:
                rising[i] = True
