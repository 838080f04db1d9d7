"""The lexicon: every word once, with its frequency, and a trie over them, in flat arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    # Plugs only name the type; code that reads a lexicon has its arrays already.
    import numpy as np
    import numpy.typing as npt

ALPHABET_MAX = 64
"""Most distinct letters of a lexicon: a node of the trie stores its children in 64 bits."""
CERTAIN_CENTIZIPF = 900
"""Zipf frequency of a word of probability 1: 10^9 in 10^9. Component costs are measured down from
it, like wordfreq's centibels, in hundredths of the Zipf scale, so nothing is rounded."""
UNKNOWN_CENTIZIPF = 0
"""Frequency of a word whose frequency is unknown: less than any known one."""
DOUBT_PER_NAT = 100
"""Doubts are hundredths of a natural logarithm: they add up as probabilities multiply."""


class Trie(NamedTuple):
    """The trie of a lexicon as kernels take it: see the fields of Lexicon."""

    children: npt.NDArray[np.uint64]
    """uint64[nodes]: a bit for each letter with a child."""
    first: npt.NDArray[np.int32]
    """int32[nodes]: the child with the smallest letter."""
    word: npt.NDArray[np.int32]
    """int32[nodes]: the word that ends at a node, -1 for none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lexicon:
    """Words sorted by code points, and their trie.

    All arrays are contiguous and read-only; they may be memory-mapped.
    """

    lexicon_id: str
    """Hash of the words and their frequencies: equal lexicons have equal ids, whatever file they
    came from."""
    has_frequencies: bool
    alphabet: npt.NDArray[np.uint32]
    """Code point of each letter, ascending; at most ALPHABET_MAX. A letter's index here is its
    code in every other array."""
    letters: npt.NDArray[np.uint8]
    """The letters of all words, one word after the other."""
    offsets: npt.NDArray[np.int32]
    """int32[words + 1]: word w is letters[offsets[w]:offsets[w + 1]]."""
    centizipf: npt.NDArray[np.int16]
    """int16[words]: hundredths of the Zipf scale (log10 of occurrences in 10^9 words);
    UNKNOWN_CENTIZIPF if unknown."""
    doubt: npt.NDArray[np.int16]
    """int16[words]: -ln of the probability that a game accepts the word, times DOUBT_PER_NAT; all 0
    if unknown."""
    node_children: npt.NDArray[np.uint64]
    """uint64[nodes]: bit a is set if the node has a child for letter a. Node 0 is the root."""
    node_first: npt.NDArray[np.int32]
    """int32[nodes]: the child for letter a is node_first + (children with smaller letters)."""
    node_word: npt.NDArray[np.int32]
    """int32[nodes]: the word that ends at the node, -1 for none."""
    phrase_offsets: npt.NDArray[np.int32]
    """int32[words + 1]: the phrases that start with word w are those from phrase_offsets[w] to
    phrase_offsets[w + 1]."""
    phrase_second: npt.NDArray[np.int32]
    """int32[phrases]: the second word, ascending among those with the same first word."""
    phrase_centizipf: npt.NDArray[np.int16]
    """int16[phrases]: frequency of the pair, on the same scale as `centizipf`. Empty for a lexicon
    without phrases; a missing phrase is rarer than all listed ones."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def has_doubts(self) -> bool:
        """Whether its words have doubts."""
        return bool(self.doubt.any())

    @property
    def trie(self) -> Trie:
        """The trie as kernels take it."""
        return Trie(self.node_children, self.node_first, self.node_word)

    def word(self, index: int) -> str:
        """Spell a word."""
        codes = self.letters[self.offsets[index] : self.offsets[index + 1]]
        return "".join(map(chr, self.alphabet[codes]))

    def find(self, word: str) -> int:
        """Look a word up; return its index, or -1.

        Takes the letters as they are in the lexicon (upper case, no spaces).
        """
        for letters, index in self.beginnings(word):
            if letters == len(word):
                return index
        return -1

    def beginnings(self, text: str) -> Iterator[tuple[int, int]]:
        """Find the words that are prefixes of a text, the shortest first: (letters, index)."""
        node = 0
        for letters, letter in enumerate(text, 1):
            code = int(self.alphabet.searchsorted(ord(letter)))
            if code == len(self.alphabet) or self.alphabet[code] != ord(letter):
                return
            children = int(self.node_children[node])
            if not children >> code & 1:
                return
            node = int(self.node_first[node]) + (children & ((1 << code) - 1)).bit_count()
            if self.node_word[node] >= 0:
                yield letters, int(self.node_word[node])

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return every array by name, as a cache stores them."""
        import numpy as np

        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
