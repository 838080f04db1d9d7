"""The canonical text of a lexicon, which names it, and its arrays: words each once, and a trie."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.canonical import ID_HEX_DIGITS
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.lexicon.lexicon import ALPHABET_MAX, UNKNOWN_CENTIZIPF, Lexicon

CENTIZIPF_MAX = 2**15 - 1
"""What 16 bits hold."""
BETWEEN_WORDS = " "
"""Parts the two words of a phrase. No word has it: a phrase that is one piece of the vocabulary
is spelled without spaces, as on a board."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """Pairs of words, each once, ascending by the index of the first and then the second."""

    first: npt.NDArray[np.int32]
    second: npt.NDArray[np.int32]
    centizipf: npt.NDArray[np.int16]

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int, int]]) -> Phrases:
        """Lay rows of (first, second, centizipf) out as columns."""
        columns = np.array(rows, np.int32).reshape(-1, 3).T
        return cls(
            first=columns[0].copy(), second=columns[1].copy(), centizipf=columns[2].astype(np.int16)
        )


def canonical_text(
    words: Sequence[str], centizipf: npt.NDArray[np.int16], phrases: Phrases
) -> bytes:
    """Write a lexicon, in UTF-8: its words, one "WORD<TAB>centizipf" a line, then its phrases.

    Words are in order (by code points); phrases, "WORD WORD<TAB>centizipf", by first and then
    second word.
    """
    lines = [f"{word}\t{value}\n" for word, value in zip(words, centizipf.tolist(), strict=True)]
    lines += [
        f"{words[first]}{BETWEEN_WORDS}{words[second]}\t{value}\n"
        for first, second, value in zip(
            phrases.first.tolist(), phrases.second.tolist(), phrases.centizipf.tolist(), strict=True
        )
    ]
    return "".join(lines).encode("utf-8", "surrogatepass")


def digest_of(text: bytes) -> str:
    """Hash a canonical text into the id of its lexicon."""
    return hashlib.sha256(text).hexdigest()[:ID_HEX_DIGITS]


def read_canonical(text: bytes) -> tuple[list[str], npt.NDArray[np.int16], Phrases]:
    """Read a canonical text back into sorted words, their frequencies and the phrases.

    Raises PermanentError, naming the line, for a text that `canonical_text` cannot have written.
    """
    try:
        lines = text.decode("utf-8", "surrogatepass").split("\n")
    except UnicodeDecodeError as error:
        raise PermanentError(f"byte {error.start} of a lexicon is not UTF-8") from error
    if lines.pop() or not lines:
        raise PermanentError("the text of a lexicon ends within a line")
    values = [_split(number, line) for number, line in enumerate(lines, 1)]
    count = next((i for i, (name, _) in enumerate(values) if BETWEEN_WORDS in name), len(values))
    words = [name for name, _ in values[:count]]
    _check_order(words, 1)
    index = {word: number for number, word in enumerate(words)}
    rows: list[tuple[int, int, int]] = []
    for number, (name, value) in enumerate(values[count:], count + 1):
        first, between, second = name.partition(BETWEEN_WORDS)
        if not between or first not in index or second not in index:
            raise PermanentError(
                f"line {number} of a lexicon is {lines[number - 1][:80]!r};"
                " expected two of its words"
            )
        rows.append((index[first], index[second], value))
    _check_order([row[:2] for row in rows], count + 1)
    centizipf = np.array([value for _, value in values[:count]], np.int16)
    return words, centizipf, Phrases.of(rows)


def _split(number: int, line: str) -> tuple[str, int]:
    name, tab, value = line.partition("\t")
    fits = value.isdecimal() and value.isascii() and len(value) <= len(str(CENTIZIPF_MAX))
    if not name or not tab or not fits or int(value) > CENTIZIPF_MAX:
        raise PermanentError(
            f"line {number} of a lexicon is {line[:80]!r}; expected WORD, a TAB and centizipf"
        )
    return name, int(value)


def _check_order(names: Sequence[str] | Sequence[tuple[int, int]], first_line: int) -> None:
    for number, (one, other) in enumerate(pairwise(names), first_line + 1):
        if one >= other:  # type: ignore[operator]
            raise PermanentError(f"line {number} of a lexicon is not in order")


def spell(
    alphabet: npt.NDArray[np.uint32], letters: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int32]
) -> list[str]:
    """Spell words that lie in flat arrays."""
    text = alphabet[letters].tobytes().decode("utf-32-le", "surrogatepass")
    return [text[start:stop] for start, stop in pairwise(offsets.tolist())]


K = TypeVar("K")

COMPILE_VERSION = 2
"""Raised whenever the same words would give other arrays: older caches are not opened then."""
LETTERS_MAX = 2**31 - 1
"""Most letters of all words together: offsets and nodes are counted in 32 bits."""


def compile_lexicon(
    words: Iterable[tuple[str, int]], phrases: Iterable[tuple[str, str, int]] = ()
) -> Lexicon:
    """Compile (word, centizipf) pairs in any order; of equal words the highest frequency stays.

    Words are taken as they are: upper case and letters only is the caller's part. `phrases` are
    (first word, second word, centizipf), and the same holds for equal ones; a phrase with a word
    that is not in the lexicon says nothing about it and is left out. The trie's
    nodes lie level by level, and by the words' order within a level, so that the top of the trie,
    which every search walks, is close together, and the children of a node are neighbours.

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
    return compile_sorted(
        spelled,
        np.array([best[word] for word in spelled], np.int16),
        Phrases.of([(*pair, pairs[pair]) for pair in sorted(pairs)]),
    )


def _highest(pairs: Iterable[tuple[K, int]]) -> dict[K, int]:
    """Keep the highest frequency of each key; refuse those that are none."""
    best: dict[K, int] = {}
    for key, centizipf in pairs:
        if best.get(key, -1) < centizipf:
            best[key] = centizipf
        if not 0 <= centizipf <= CENTIZIPF_MAX:
            raise PermanentError(
                f"{key!r} has {centizipf} centizipf; expected 0 to {CENTIZIPF_MAX}"
            )
    return best


def compile_sorted(
    words: Sequence[str], centizipf: npt.NDArray[np.int16], phrases: Phrases
) -> Lexicon:
    """Compile words and phrases that are already strictly ascending (words by code points)."""
    sizes = np.fromiter(map(len, words), np.int64, len(words))
    letter_count = int(sizes.sum())
    if letter_count > LETTERS_MAX:
        raise PermanentError(
            f"a lexicon has {letter_count} letters; expected at most {LETTERS_MAX}"
        )
    points = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)
    alphabet = np.unique(points)
    if len(alphabet) > ALPHABET_MAX:
        raise PermanentError(
            f"a lexicon has {len(alphabet)} different letters; expected at most {ALPHABET_MAX}"
        )
    letters = np.searchsorted(alphabet, points).astype(np.uint8)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    arrays: dict[str, npt.NDArray[Any]] = {
        "alphabet": alphabet,
        "letters": letters,
        "offsets": offsets,
        "centizipf": centizipf,
        **_trie(letters, offsets),
        "phrase_offsets": np.searchsorted(phrases.first, np.arange(len(words) + 1)).astype(
            np.int32
        ),
        "phrase_second": phrases.second,
        "phrase_centizipf": phrases.centizipf,
    }
    return sealed(digest_of(canonical_text(words, centizipf, phrases)), arrays)


def sealed(lexicon_id: str, arrays: dict[str, npt.NDArray[Any]]) -> Lexicon:
    """Bind arrays into a lexicon, never to be written to again.

    Kernels are compiled apart for arrays that can be written to: arrays that come from a file
    cannot, so none can, and every kernel is compiled once.
    """
    for array in arrays.values():
        array.setflags(write=False)
    return Lexicon(
        lexicon_id=lexicon_id,
        has_frequencies=bool((arrays["centizipf"] != UNKNOWN_CENTIZIPF).any()),
        **arrays,
    )


def words_of(lexicon: Lexicon) -> list[str]:
    """Spell every word, in order."""
    return spell(lexicon.alphabet, lexicon.letters, lexicon.offsets)


def text_of(lexicon: Lexicon) -> bytes:
    """Write a lexicon's canonical text, from which it can be compiled again."""
    sizes = np.diff(lexicon.phrase_offsets)
    phrases = Phrases(
        first=np.repeat(np.arange(len(lexicon), dtype=np.int32), sizes),
        second=lexicon.phrase_second,
        centizipf=lexicon.phrase_centizipf,
    )
    return canonical_text(words_of(lexicon), lexicon.centizipf, phrases)


def _trie(
    letters: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int32]
) -> dict[str, npt.NDArray[Any]]:
    """Build the trie of sorted words level by level, each level in one go.

    At depth d the words that are long enough fall into groups that share their first d letters;
    a group is a node. Because the words are sorted, groups are runs, and runs of one parent
    follow one another in the order of their letters.
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
        # A node without children points where its children would stand.
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
