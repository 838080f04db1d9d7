"""Search for a walk of limited length: depth first, with a bound, remembering dead ends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel.codes import KERNEL_CODES, OUT_OF_NODES, OUT_OF_SECONDS
from nightgrid.solvers.kernel.compiling import (
    I32,
    I64,
    U64,
    Bools,
    Int,
    inlined_kernel,
    search_kernel,
)
from nightgrid.solvers.kernel.machine import ONE, STOP_AT, is_late, is_stopped, trailing_zeros
from nightgrid.solvers.tiles.fewest_moves.bound import connected, moves_left, put_back, shared, take

FOUND, NONE, RESTART = range(KERNEL_CODES, KERNEL_CODES + 3)
"""Codes of a search besides those of nightgrid.solvers.kernel.codes: `RESTART` means that one try
has used up its share of the nodes."""
NEVER, FORCED, ANY = range(3)
"""When teleports are allowed."""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""Increment of splitmix64's state."""
_SIX = np.uint64(6)
_LOW = np.uint64(63)
_PLACE_BITS = np.uint64(24)
_PLACE_MASK = np.uint64((1 << 24) - 1)
TIE_BITS = 12
CLOCK_MASK = 15
"""The clock is read after every 16th tile, each of which may take milliseconds."""


@inlined_kernel
def mixed(x: np.uint64) -> np.uint64:
    """Mix the bits of a number, like the output function of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@inlined_kernel
def _here(now: Int, tele: bool, teleports: Int) -> np.uint64:
    """Return the rest of a dead end's key: teleports may save a walk that lacks others."""
    return (
        np.uint64(now + 1)
        | (np.uint64(tele) << np.uint64(23))
        | (np.uint64(teleports == ANY) << np.uint64(22))
    )


@search_kernel
def _slot(key: U64, here: np.uint64, slots: Int) -> Int:
    h = here * GOLDEN
    for w in range(len(key)):
        h = mixed(h ^ key[w])
    return int(h & np.uint64(slots - 1))


@search_kernel
def _toggle(key: U64, place: I32, a: Int, b: Int, common: U64) -> None:
    for w in range(len(common)):
        word = common[w]
        while word:
            f = (w << 6) + trailing_zeros(word)
            word &= word - ONE
            for t in (a, b):
                bit = np.uint64(place[t, f])
                key[bit >> _SIX] ^= ONE << (bit & _LOW)


@search_kernel
def _is_dead_end(table: U64, key: U64, here: np.uint64, slot: Int, moves: Int) -> bool:
    words = len(key)
    stored = table[slot, words]
    if stored & _PLACE_MASK != here or (stored >> _PLACE_BITS) <= np.uint64(moves):
        return False
    for w in range(words):
        if table[slot, w] != key[w]:
            return False
    return True


class Board(NamedTuple):
    """A board and its derived data; `alive`, `left` and `key` change along a walk."""

    alive: U64
    """uint64[tiles, words]: the features left of each tile."""
    left: I64
    """int64[tiles]: their number."""
    place: I32
    """int32[tiles, features]: the bit of the key for each feature of each tile."""
    key: U64
    """The features left of all tiles, in as few words as there are."""
    table: U64
    """uint64[slots, words of a key + 1]: dead ends. The later one of two in the same slot stays,
    unlike in an index of nightgrid.solvers.kernel.hash_table."""
    role: I64
    space: I64
    """int64[tiles], int64[4, tiles]: scratch of the bound."""
    clock: I64
    """See nightgrid.solvers.kernel.machine."""


class Stack(NamedTuple):
    """Arrays with a row for each depth, three more than the moves of a walk."""

    tile: I64
    """The walk, from row 1 on."""
    tele: Bools
    """Whether the tile was reached by a teleport."""
    choices: I64
    tried: I64
    """How many candidates there are for the next tile, and which of them is being tried."""
    child: I64
    value: I64
    """int64[depth, tiles]: these candidates, and their priorities."""
    common: U64
    """uint64[depth, words]: the features that the move to the tile has deleted."""
    mates: I64
    """int64[depth, tiles]: the matching of the bound."""


class Try(NamedTuple):
    """Limits of one search."""

    teleports: int
    limit: int
    """Most moves of a walk."""
    seed: int
    """Breaks ties between equally promising tiles."""
    nodes: int
    """Nodes of this search."""
    most_nodes: int
    """Most nodes of all searches together."""
    deadline_ns: int
    """On the monotonic clock."""


@search_kernel
def _go_back(board: Board, stack: Stack, depth: Int) -> None:
    """Unwind a search from some depth: the board is restored."""
    tile, tele, common = stack.tile, stack.tele, stack.common
    for d in range(depth, 1, -1):
        if not tele[d]:
            put_back(board.alive, board.left, tile[d - 1], tile[d], common[d])
            _toggle(board.key, board.place, tile[d - 1], tile[d], common[d])


@search_kernel
def find_walk(board: Board, first: I64, trial: Try, stack: Stack, cost: I64) -> Int:
    """Search for a walk that clears the board; return the result code.

    The board is restored when the search ends, unless a walk was found. `first`: the tiles to
    start on. `cost`: int64[2]: nodes so far, the number of selections found.
    """
    alive, left, place, key, table, role, space, clock = board
    tile, tele, count, index, child, value, common, mates = stack
    teleports, limit = trial.teleports, trial.limit
    tiles, words = alive.shape
    slots = table.shape[0]
    rest: Int = np.int64(0)
    for t in range(tiles):
        rest += left[t]
    state = np.uint64(trial.seed) * GOLDEN
    used = depth = 0
    known = False
    tile[0] = -1
    tele[0] = False
    opening = True
    while True:
        now = tile[depth]
        if opening:
            opening = False
            used += 1
            cost[0] += 1
            count[depth] = index[depth] = 0
            ending = -1
            if used > trial.nodes:
                ending = RESTART
            if cost[0] > trial.most_nodes:
                ending = OUT_OF_NODES
            # A node costs far more than a clock check.
            if is_late(clock, trial.deadline_ns):
                ending = OUT_OF_SECONDS
            if ending >= 0:
                _go_back(board, stack, depth)
                return ending
            here = _here(now, tele[depth], teleports)
            slot = _slot(key, here, slots)
            known = depth > 0 and _is_dead_end(table, key, here, slot, limit - depth + 1)
            n = 0
            choices = tiles if depth else len(first)
            if known:
                choices = 0
            for i in range(choices):
                # The first node of 512 tiles takes seconds; checking the flag is a load.
                if is_stopped(clock[STOP_AT]) or (
                    i & CLOCK_MASK == CLOCK_MASK and is_late(clock, trial.deadline_ns)
                ):
                    _go_back(board, stack, depth)
                    return OUT_OF_SECONDS
                u = i if depth else first[i]
                if u == now or left[u] == 0:
                    continue
                standard = depth > 0 and shared(alive, now, u) > 0
                if depth and not standard:
                    # Two teleports in a row are equivalent to one.
                    if tele[depth] or teleports == NEVER or (teleports == FORCED and left[now]):
                        continue
                twin = False
                for j in range(n):
                    same = True
                    for w in range(words):
                        same = same and alive[u, w] == alive[child[depth, j], w]
                    twin = twin or same
                if twin:
                    continue
                if standard:
                    take(alive, left, now, u, common[depth + 1])
                for t in range(tiles):
                    mates[depth + 1, t] = mates[depth, t]
                least, odd, visits = moves_left(alive, left, u, role, mates[depth + 1], space)
                refuted = False
                if teleports == NEVER:
                    refuted = bool(odd > 1 or not connected(alive, left, u, common[depth + 2]))
                if standard:
                    put_back(alive, left, now, u, common[depth + 1])
                least += depth
                if refuted or least > limit:
                    continue
                # Most promising first: few moves, or without teleports few tiles to end on; then
                # many deletions, no teleport, and the rest at random.
                state += GOLDEN
                tie = np.int64(mixed(state) >> np.uint64(64 - TIE_BITS))
                worst = odd if teleports == NEVER else least
                rank = (((worst << 20) + visits) << (TIE_BITS + 1)) + tie
                if not standard:
                    rank += 1 << TIE_BITS
                k = n
                while k > 0 and value[depth, k - 1] > rank:
                    value[depth, k] = value[depth, k - 1]
                    child[depth, k] = child[depth, k - 1]
                    k -= 1
                value[depth, k] = rank
                child[depth, k] = u
                n += 1
            count[depth] = n
        if index[depth] == count[depth]:
            if depth == 0:
                return NONE
            if not known:
                here = _here(now, tele[depth], teleports)
                slot = _slot(key, here, slots)
                for w in range(len(key)):
                    table[slot, w] = key[w]
                table[slot, len(key)] = here | (np.uint64(limit - depth + 2) << _PLACE_BITS)
            known = False
            if not tele[depth] and depth > 1:
                rest += 2 * put_back(alive, left, tile[depth - 1], now, common[depth])
                _toggle(key, place, tile[depth - 1], now, common[depth])
            depth -= 1
            continue
        u = child[depth, index[depth]]
        index[depth] += 1
        depth += 1
        tile[depth] = u
        tele[depth] = False
        if depth > 1:
            taken = take(alive, left, now, u, common[depth])
            tele[depth] = taken == 0
            rest -= 2 * taken
            _toggle(key, place, now, u, common[depth])
        for t in range(tiles):
            mates[depth, t] = mates[depth - 1, t]
        moves_left(alive, left, u, role, mates[depth], space)
        if rest == 0:
            cost[1] = depth
            return FOUND
        opening = True
