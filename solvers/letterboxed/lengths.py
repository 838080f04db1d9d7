"""Which lengths the chains from a state can have, and the chains themselves in canonical order.

For a state and a number of words, the letters that so many words can add to complete the chain are
a set of bits. With these no turn that is taken in listing chains is in vain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from solvers.compiling import inlined_kernel, search_kernel
from solvers.kernel_codes import DONE
from solvers.letterboxed.graph import COMPLETE, GROW, LIMIT, Graph, Step, spend, word_cost

FRAMES, ENTRIES, BITS_USED, SCRATCH_USED = range(4)
"""What `control` of the tables holds."""
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
NOTHING = -1
UNKNOWN = -2


class Lengths(NamedTuple):
    """Tables of (state, words) and their bits."""

    control: Any
    table_key: Any
    """int64[power of two]: state and words, 0 for none."""
    table_at: Any
    """int64[power of two]: where the bits begin, NOTHING where there are none."""
    bits: Any
    frame_state: Any
    frame_words: Any
    frame_at: Any
    """What is being worked out, one inside the other: state, words, next word."""
    frame_bits: Any
    scratch: Any
    longest: Any
    """Most letters that a word adds; 0 when lengths play no role."""


@inlined_kernel
def added(graph: Graph, state: int, word: int, step: Step) -> int:
    """Say how many letters a word adds, where lengths play a role."""
    if step.by_letters:
        return 0
    return step.sizes[word] - (1 if graph.last[state] >= 0 else 0)


@inlined_kernel
def width(words: int, lengths: Lengths) -> int:
    """Say how many 64-bit words the lengths of so many words take."""
    return (words * lengths.longest + 64) >> 6


@inlined_kernel
def leads_on(graph: Graph, state: int, word: int, target: int, step: Step) -> bool:
    """Tell whether an edge may belong to a chain that counts."""
    if target == COMPLETE:
        if step.by_letters:
            return graph.cost[state] + word_cost(graph, state, word, step) == graph.control[LIMIT]
        return True
    if target < 0 or graph.base[target] < 0:
        return False
    if step.by_letters:
        return graph.cost[state] + word_cost(graph, state, word, step) == graph.cost[target]
    return True


@inlined_kernel
def find(lengths: Lengths, state: int, words: int) -> int:
    """Look up where the bits of (state, words) begin; NOTHING, or UNKNOWN."""
    key = (np.uint64(state + 1) << np.uint64(31)) | np.uint64(words)
    mask = np.uint64(len(lengths.table_key) - 1)
    slot = (key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20) & mask
    while lengths.table_key[slot] != 0:
        if np.uint64(lengths.table_key[slot]) == key:
            return lengths.table_at[slot]
        slot = (slot + _ONE) & mask
    return UNKNOWN


@search_kernel
def look_up(lengths: Lengths, state: int, words: int) -> int:
    """Look up where the bits of (state, words) begin; NOTHING, or UNKNOWN."""
    return find(lengths, state, words)


@inlined_kernel
def enter(lengths: Lengths, state: int, words: int, at: int) -> None:
    """Enter where the bits of (state, words) begin."""
    key = (np.uint64(state + 1) << np.uint64(31)) | np.uint64(words)
    mask = np.uint64(len(lengths.table_key) - 1)
    slot = (key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20) & mask
    while lengths.table_key[slot] != 0:
        slot = (slot + _ONE) & mask
    lengths.table_key[slot] = np.int64(key)
    lengths.table_at[slot] = at
    lengths.control[ENTRIES] += 1


@search_kernel
def enter_anew(lengths: Lengths, grown: Lengths) -> None:
    """Enter all that is known into larger, empty tables."""
    mask = np.uint64(len(grown.table_key) - 1)
    for old in range(len(lengths.table_key)):
        key = np.uint64(lengths.table_key[old])
        if key == _ZERO:
            continue
        slot = (key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20) & mask
        while grown.table_key[slot] != 0:
            slot = (slot + _ONE) & mask
        grown.table_key[slot] = lengths.table_key[old]
        grown.table_at[slot] = lengths.table_at[old]


@inlined_kernel
def begin(lengths: Lengths, state: int, words: int) -> None:
    """Begin to work out (state, words)."""
    control = lengths.control
    frame = control[FRAMES]
    control[FRAMES] = frame + 1
    lengths.frame_state[frame] = state
    lengths.frame_words[frame] = words
    lengths.frame_at[frame] = NOTHING
    at = control[SCRATCH_USED]
    lengths.frame_bits[frame] = at
    size = width(words, lengths)
    for i in range(size):
        lengths.scratch[at + i] = _ZERO
    control[SCRATCH_USED] = at + size


@search_kernel
def work_out(graph: Graph, step: Step, lengths: Lengths) -> int:
    """Work out the frames; return DONE, GROW, or what ran out.

    After GROW it goes on when called with larger tables.
    """
    control = lengths.control
    while control[FRAMES] > 0:
        frame = control[FRAMES] - 1
        state, words = lengths.frame_state[frame], lengths.frame_words[frame]
        size = width(words, lengths)
        bits = lengths.frame_bits[frame]
        if (
            frame + 2 > len(lengths.frame_state)
            or control[SCRATCH_USED] + size > len(lengths.scratch)
            or control[BITS_USED] + size > len(lengths.bits)
            or 2 * control[ENTRIES] + 2 > len(lengths.table_key)
        ):
            return GROW
        lo, hi = graph.lo[state], graph.hi[state]
        word = lengths.frame_at[frame]
        if word < 0:
            code = spend(graph, hi - lo + 1)
            if code != DONE:
                return code
            word = lo
        deeper = False
        while word < hi:
            target = graph.edges[graph.base[state] + word - lo]
            if not leads_on(graph, state, word, target, step):
                word += 1
                continue
            letters = added(graph, state, word, step)
            if target == COMPLETE:
                if words == 1:
                    lengths.scratch[bits + (letters >> 6)] |= _ONE << np.uint64(letters & 63)
            elif words > 1:
                at = find(lengths, target, words - 1)
                if at == UNKNOWN:
                    lengths.frame_at[frame] = word
                    begin(lengths, target, words - 1)
                    deeper = True
                    break
                if at >= 0:
                    whole, part = letters >> 6, np.uint64(letters & 63)
                    for i in range(width(words - 1, lengths)):
                        other = lengths.bits[at + i]
                        if other == _ZERO:
                            continue
                        lengths.scratch[bits + whole + i] |= other << part
                        if part != _ZERO:
                            over = other >> (np.uint64(64) - part)
                            if over != _ZERO:
                                lengths.scratch[bits + whole + i + 1] |= over
            word += 1
        if deeper:
            continue
        at = NOTHING
        for i in range(size):
            if lengths.scratch[bits + i] != _ZERO:
                at = control[BITS_USED]
                break
        if at >= 0:
            for i in range(size):
                lengths.bits[at + i] = lengths.scratch[bits + i]
            control[BITS_USED] = at + size
        enter(lengths, state, words, at)
        control[FRAMES] = frame
        control[SCRATCH_USED] = bits
    return DONE


@search_kernel
def list_chains(
    graph: Graph, step: Step, lengths: Lengths, words: int, walk_state: np.ndarray,
    walk_word: np.ndarray, walk_left: np.ndarray, place: np.ndarray, out: np.ndarray,
) -> int:  # fmt: skip
    """Write chains of `words` words, those in alphabetical order that the walk comes to next.

    `walk_*` hold, for each word of the chain, the state before it, the word to try next, and the
    letters that are left to add; `place[0]` is the depth (-1 at the end), `place[1]` gets the
    number of rows written to `out`. Returns DONE or what ran out.
    """
    place[1] = 0
    depth = place[0]
    while depth >= 0 and place[1] < len(out):
        state, left = walk_state[depth], walk_left[depth]
        lo, hi = graph.lo[state], graph.hi[state]
        word = max(walk_word[depth], lo)
        more = words - depth - 1
        begun = word
        down = False
        while word < hi:
            target = graph.edges[graph.base[state] + word - lo]
            if not leads_on(graph, state, word, target, step):
                word += 1
                continue
            rest = left - added(graph, state, word, step)
            if target == COMPLETE:
                if more == 0 and rest == 0:
                    break
            elif more > 0 and rest >= 0:
                at = find(lengths, target, more)
                if (
                    at >= 0
                    and rest >> 6 < width(more, lengths)
                    and (lengths.bits[at + (rest >> 6)] >> np.uint64(rest & 63)) & _ONE != _ZERO
                ):
                    down = True
                    break
            word += 1
        code = spend(graph, word - begun + 1)
        if code != DONE:
            return code
        if word >= hi:
            depth -= 1
            continue
        walk_word[depth] = word + 1
        if down:
            depth += 1
            walk_state[depth] = target
            walk_word[depth] = -1
            walk_left[depth] = rest
        else:
            row = place[1]
            for i in range(words):
                out[row, i] = walk_word[i] - 1
            place[1] = row + 1
    place[0] = depth
    return DONE
