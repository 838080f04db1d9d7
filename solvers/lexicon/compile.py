"""The canonical text of a lexicon, which determines its id, and its arrays: words and a trie."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from itertools import islice, pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.canonical import ID_HEX_DIGITS
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.lexicon.lexicon import ALPHABET_MAX, UNKNOWN_CENTIZIPF, Lexicon

CENTIZIPF_MAX = 2**15 - 1
"""Maximum of 16 bits."""
BETWEEN_WORDS = " "
"""Separates the two words of a phrase. No word contains it: a phrase that is one piece of the
vocabulary is spelled without spaces, as on a board."""


COMPILE_VERSION = 3
"""Raised whenever the same words would give other arrays, so that older caches are ignored."""
LETTERS_MAX = 2**31 - 1
"""Most letters of all words together: offsets and nodes are counted in 32 bits."""

K = TypeVar("K")


def digest_of(text: bytes) -> str:
    """Hash a canonical text into the id of its lexicon."""
    return hashlib.sha256(text).hexdigest()[:ID_HEX_DIGITS]


def text_of(lexicon: Lexicon) -> bytes:
    """Return a lexicon's canonical text, from which it can be recompiled.

    UTF-8: its words, one "WORD<TAB>centizipf" a line, then its phrases, "WORD WORD<TAB>centizipf".
    Words are in order (by code points), phrases by first and then second word. Where doubts are
    known, "<TAB>doubt" ends each word's line.
    """
    words = words_of(lexicon)
    seconds = zip(lexicon.phrase_second.tolist(), lexicon.phrase_centizipf.tolist(), strict=True)
    known = lexicon.has_doubts
    doubts = [f"\t{doubt}" if known else "" for doubt in lexicon.doubt.tolist()]
    lines = [
        f"{word}\t{value}{doubt}\n"
        for word, value, doubt in zip(words, lexicon.centizipf.tolist(), doubts, strict=True)
    ]
    lines += [
        f"{word}{BETWEEN_WORDS}{words[second]}\t{value}\n"
        for word, size in zip(words, np.diff(lexicon.phrase_offsets).tolist(), strict=True)
        for second, value in islice(seconds, size)
    ]
    return "".join(lines).encode("utf-8", "surrogatepass")


def words_of(lexicon: Lexicon) -> list[str]:
    """Spell every word, in order."""
    points = lexicon.alphabet[lexicon.letters]
    text = points.tobytes().decode("utf-32-le", "surrogatepass")
    return [text[start:stop] for start, stop in pairwise(lexicon.offsets.tolist())]


def compile_text(text: bytes) -> Lexicon:
    """Recompile a canonical text."""
    words: list[tuple[str, int]] = []
    phrases: list[tuple[str, str, int]] = []
    doubts: dict[str, int] = {}
    for line in text.decode("utf-8", "surrogatepass").split("\n")[:-1]:
        name, value, *doubt = line.split("\t")
        first, _, second = name.partition(BETWEEN_WORDS)
        if second:
            phrases.append((first, second, int(value)))
        else:
            words.append((name, int(value)))
        if doubt:
            doubts[name] = int(doubt[0])
    return compile_lexicon(words, phrases, doubts)


def compile_lexicon(
    words: Iterable[tuple[str, int]],
    phrases: Iterable[tuple[str, str, int]] = (),
    doubts: Mapping[str, int] | None = None,
) -> Lexicon:
    """Compile (word, centizipf) pairs in any order; equal words keep the highest frequency.

    The caller normalises words to upper-case letters. `phrases` are (first word, second word,
    centizipf), with the same rule for equal ones; phrases with unknown words are left out. `doubts`
    are those of words (see Lexicon), by default 0. The trie's nodes lie level by level, and by the
    words' order within a level, so that the top of the trie, which every search walks, is close
    together, and the children of a node are neighbours.

    Raises PermanentError for no words, an empty word, more than ALPHABET_MAX distinct letters,
    more than LETTERS_MAX letters in all, or a frequency that is not 0 to CENTIZIPF_MAX.
    """
    best = _highest(words)
    if not best:
        raise PermanentError("a lexicon has no words; expected at least one")
    if "" in best:
        raise PermanentError("a lexicon has an empty word; expected at least one letter a word")
    spelled = sorted(best)
    index = {word: number for number, word in enumerate(spelled)}
    pairs = _highest(
        ((index[first], index[second]), centizipf)
        for first, second, centizipf in phrases
        if first in index and second in index
    )
    rows = np.array([(*pair, pairs[pair]) for pair in sorted(pairs)], np.int32).reshape(-1, 3)
    sizes = np.fromiter(map(len, spelled), np.int64, len(spelled))
    letter_count = int(sizes.sum())
    if letter_count > LETTERS_MAX:
        raise PermanentError(
            f"a lexicon has {letter_count} letters; expected at most {LETTERS_MAX}"
        )
    points = np.frombuffer("".join(spelled).encode("utf-32-le", "surrogatepass"), np.uint32)
    alphabet = np.unique(points)
    if len(alphabet) > ALPHABET_MAX:
        raise PermanentError(
            f"a lexicon has {len(alphabet)} different letters; expected at most {ALPHABET_MAX}"
        )
    letters = np.searchsorted(alphabet, points).astype(np.uint8)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    firsts = np.searchsorted(rows[:, 0], np.arange(len(spelled) + 1))
    arrays: dict[str, npt.NDArray[Any]] = {
        "alphabet": alphabet,
        "letters": letters,
        "offsets": offsets,
        "centizipf": np.array([best[word] for word in spelled], np.int16),
        "doubt": np.array([(doubts or {}).get(word, 0) for word in spelled], np.int16),
        **_trie(letters, offsets),
        "phrase_offsets": firsts.astype(np.int32),
        "phrase_second": rows[:, 1].copy(),
        "phrase_centizipf": rows[:, 2].astype(np.int16),
    }
    return sealed(digest_of(text_of(sealed("", arrays))), arrays)


def _highest(pairs: Iterable[tuple[K, int]]) -> dict[K, int]:
    """Keep the highest frequency of each key; raise for invalid ones."""
    best: dict[K, int] = {}
    for key, centizipf in pairs:
        if best.get(key, -1) < centizipf:
            best[key] = centizipf
        if not 0 <= centizipf <= CENTIZIPF_MAX:
            raise PermanentError(
                f"{key!r} has {centizipf} centizipf; expected 0 to {CENTIZIPF_MAX}"
            )
    return best


def sealed(lexicon_id: str, arrays: dict[str, npt.NDArray[Any]]) -> Lexicon:
    """Bind arrays into a read-only lexicon.

    Numba compiles kernels separately for writable arrays. Arrays from a file are not writable, so
    none are, and every kernel is compiled once.
    """
    for array in arrays.values():
        array.setflags(write=False)
    return Lexicon(
        lexicon_id=lexicon_id,
        has_frequencies=bool((arrays["centizipf"] != UNKNOWN_CENTIZIPF).any()),
        **arrays,
    )


def _trie(
    letters: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int32]
) -> dict[str, npt.NDArray[Any]]:
    """Build the trie of sorted words level by level, with vector operations.

    At depth d the words that are long enough form groups that share their first d letters; a group
    is a node. Because the words are sorted, groups are runs, and the runs of one parent are
    consecutive, in the order of their letters.
    """
    starts = offsets[:-1].astype(np.int64)
    sizes = np.diff(offsets)
    children: list[npt.NDArray[np.uint64]] = []
    firsts: list[npt.NDArray[np.int64]] = []
    ends: list[npt.NDArray[np.int64]] = []
    active = np.arange(len(sizes))
    group = np.zeros(len(sizes), np.int64)  # of each active word, counted within its level
    group_count = 1
    level_start = 0
    depth = 0
    while group_count:
        complete = sizes[active] == depth
        word = np.full(group_count, -1, np.int64)
        word[group[complete]] = active[complete]
        ends.append(word)
        active = active[~complete]
        parent = group[~complete]
        letter = letters[starts[active] + depth]
        new = np.ones(len(active), np.bool_)
        new[1:] = (parent[1:] != parent[:-1]) | (letter[1:] != letter[:-1])
        heads = np.flatnonzero(new)
        mask = np.zeros(group_count, np.uint64)
        np.bitwise_or.at(mask, parent[heads], np.uint64(1) << letter[heads].astype(np.uint64))
        children.append(mask)
        # A node without children points to where its children would be.
        below = np.bincount(parent[heads], minlength=group_count)
        level_start += group_count
        firsts.append(level_start + np.cumsum(below) - below)
        group = np.cumsum(new) - 1
        group_count = len(heads)
        depth += 1
    return {
        "node_children": np.concatenate(children),
        "node_first": np.concatenate(firsts).astype(np.int32),
        "node_word": np.concatenate(ends).astype(np.int32),
    }
