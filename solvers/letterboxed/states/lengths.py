"""Which lengths the chains from a state can have, and the chains themselves in canonical order.

For a state and a number of words, the letters that so many words can add to complete the chain are
a set of bits. With these no turn that is taken in listing chains is in vain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel import hash_table
from nightgrid.solvers.kernel.codes import DONE
from nightgrid.solvers.kernel.compiling import I64, U64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.hash_table import Index
from nightgrid.solvers.kernel.machine import ONE, ZERO
from nightgrid.solvers.letterboxed.states import graph as graphs
from nightgrid.solvers.letterboxed.states.graph import Graph, Step

FRAMES, ENTRIES, BITS_USED, SCRATCH_USED, SLOT_BITS = range(5)
LENGTHS_CONTROL_SIZE = 5
"""What `control` of the tables holds."""
NOTHING = -1
UNKNOWN = -2


class Lengths(NamedTuple):
    """Tables of (state, words) and their bits."""

    control: I64
    """int64[LENGTHS_CONTROL_SIZE]: how much of the tables is in use."""
    entry_key: I64
    """int64[entries]: state and words."""
    entry_at: I64
    """int64[entries]: where the bits begin, NOTHING where there are none."""
    slots: Index
    """Finds entries by their keys (nightgrid.solvers.kernel.hash_table): 2^control[SLOT_BITS]
    slots."""
    bits: U64
    """The bits of all entries."""
    frame_state: I64
    frame_words: I64
    frame_at: I64
    """What is being worked out, one inside the other: state, words, next word."""
    frame_bits: I64
    """Where the bits of each frame begin in `scratch`."""
    scratch: U64
    longest: int
    """Most letters that a word adds; 0 when lengths play no role."""


@inlined_kernel
def added(graph: Graph, state: Int, word: Int, step: Step) -> Int:
    """Say how many letters a word adds, where lengths play a role."""
    if step.by_letters:
        return 0
    return step.sizes[word] - (1 if graph.last[state] >= 0 else 0)


@inlined_kernel
def width(words: Int, lengths: Lengths) -> Int:
    """Say how many 64-bit words the lengths of so many words take."""
    return (words * lengths.longest + 64) >> 6


@search_kernel
def width_of(words: Int, lengths: Lengths) -> Int:
    """Do for Python what `width` does for kernels."""
    return width(words, lengths)


@inlined_kernel
def leads_on(graph: Graph, state: Int, word: Int, target: Int, step: Step) -> bool:
    """Tell whether an edge may belong to a chain that counts."""
    if target == graphs.COMPLETE:
        if step.by_letters:
            return (
                graph.cost[state] + graphs.word_cost(graph, state, word, step)
                == graph.control[graphs.LIMIT]
            )
        return True
    if target < 0 or graph.base[target] < 0:
        return False
    if step.by_letters:
        return graph.cost[state] + graphs.word_cost(graph, state, word, step) == graph.cost[target]
    return True


@inlined_kernel
def _key(state: Int, words: Int) -> np.uint64:
    return (np.uint64(state) << np.uint64(31)) | np.uint64(words)


@inlined_kernel
def find(lengths: Lengths, state: Int, words: Int) -> Int:
    """Look up where the bits of (state, words) begin; NOTHING, or UNKNOWN."""
    key, bits = _key(state, words), lengths.control[SLOT_BITS]
    mixed = hash_table.mix_first(key)
    slot = hash_table.first_slot(mixed, bits)
    while True:
        slot, entry = hash_table.seek(lengths.slots, bits, mixed, slot)
        if entry < 0:
            return UNKNOWN
        if np.uint64(lengths.entry_key[entry]) == key:
            return lengths.entry_at[entry]
        slot = hash_table.next_slot(slot, bits)


@search_kernel
def look_up(lengths: Lengths, state: Int, words: Int) -> Int:
    """Look up for Python what `find` does for kernels."""
    return find(lengths, state, words)


@inlined_kernel
def enter(lengths: Lengths, state: Int, words: Int, at: Int) -> None:
    """Enter where the bits of (state, words) begin."""
    control, key = lengths.control, _key(state, words)
    entry = control[ENTRIES]
    lengths.entry_key[entry] = np.int64(key)
    lengths.entry_at[entry] = at
    hash_table.enter_new(lengths.slots, control[SLOT_BITS], hash_table.mix_first(key), entry)
    control[ENTRIES] = entry + 1


@search_kernel
def enter_anew(lengths: Lengths) -> None:
    """Enter all that is known into an empty index."""
    bits = lengths.control[SLOT_BITS]
    for entry in range(lengths.control[ENTRIES]):
        hash_table.enter_new(
            lengths.slots, bits, hash_table.mix_first(np.uint64(lengths.entry_key[entry])), entry
        )


@inlined_kernel
def begin(lengths: Lengths, state: Int, words: Int) -> None:
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
        lengths.scratch[at + i] = ZERO
    control[SCRATCH_USED] = at + size


@search_kernel
def begin_first(lengths: Lengths, state: Int, words: Int) -> None:
    """Do for Python what `begin` does for kernels."""
    begin(lengths, state, words)


@search_kernel
def work_out(graph: Graph, step: Step, lengths: Lengths) -> Int:
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
            or control[ENTRIES] == len(lengths.entry_key)
        ):
            return graphs.GROW
        lo, hi = graph.lo[state], graph.hi[state]
        word = lengths.frame_at[frame]
        if word < 0:
            code = graphs.spend(graph, hi - lo + 1)
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
            if target == graphs.COMPLETE:
                if words == 1:
                    lengths.scratch[bits + (letters >> 6)] |= ONE << np.uint64(letters & 63)
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
                        if other == ZERO:
                            continue
                        lengths.scratch[bits + whole + i] |= other << part
                        if part != ZERO:
                            over = other >> (np.uint64(64) - part)
                            if over != ZERO:
                                lengths.scratch[bits + whole + i + 1] |= over
            word += 1
        if deeper:
            continue
        at = NOTHING
        for i in range(size):
            if lengths.scratch[bits + i] != ZERO:
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


class Walk(NamedTuple):
    """How far the listing of chains has come: one entry for each word of the chain."""

    state: I64
    """The state before the word."""
    word: I64
    """The word to try next."""
    left: I64
    """Letters that are left to add."""
    place: I64
    """int64[2]: the depth (-1 at the end), and the number of rows written last."""


@search_kernel
def list_chains(
    graph: Graph, step: Step, lengths: Lengths, words: Int, walk: Walk, out: I64
) -> Int:
    """Write chains of `words` words, those in alphabetical order that the walk comes to next.

    Rows of `out` are chains. Returns DONE or what ran out.
    """
    walk_state, walk_word, walk_left, place = walk.state, walk.word, walk.left, walk.place
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
            if target == graphs.COMPLETE:
                if more == 0 and rest == 0:
                    break
            elif more > 0 and rest >= 0:
                at = find(lengths, target, more)
                if (
                    at >= 0
                    and rest >> 6 < width(more, lengths)
                    and (lengths.bits[at + (rest >> 6)] >> np.uint64(rest & 63)) & ONE != ZERO
                ):
                    down = True
                    break
            word += 1
        code = graphs.spend(graph, word - begun + 1)
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
