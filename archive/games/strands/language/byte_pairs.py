"""Cut text into the byte pairs of GPT-2's scheme, as the language model's file lists them.

Method: Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units", ACL 2016,
on bytes (Radford et al., "Language Models are Unsupervised Multitask Learners").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

_CHUNK = re.compile(r"'(?:s|t|re|ve|m|ll|d)|\d| ?[^\W\d_]+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
"""What is cut on its own: short forms, a digit, a word or marks with the space before, spaces."""
CHUNKS_KEPT = 1 << 16


class BytePairs:
    """Tokens and the pairs of them that are joined, the first pairs first."""

    def __init__(self, tokens: Sequence[str], merges: Sequence[str]) -> None:
        """Take tokens by number, and merges as `first second`."""
        self._ids = {token: number for number, token in enumerate(tokens)}
        self._ranks = {merge: rank for rank, merge in enumerate(merges)}
        self._letter = letters_of_bytes()
        self._known = lru_cache(maxsize=CHUNKS_KEPT)(self._joined)

    def ids(self, text: str) -> list[int]:
        """Number the tokens of a text."""
        return [number for chunk in _CHUNK.findall(text) for number in self._known(chunk)]

    def _joined(self, chunk: str) -> tuple[int, ...]:
        parts = [self._letter[byte] for byte in chunk.encode()]
        while len(parts) > 1:
            ranks = [self._ranks.get(f"{one} {two}") for one, two in pairwise(parts)]
            known = [rank for rank in ranks if rank is not None]
            if not known:
                break
            at = ranks.index(min(known))
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return tuple(self._ids[part] for part in parts)


def letters_of_bytes() -> dict[int, str]:
    """Name each byte by a letter that can be seen, as lists of tokens write them."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in seen]
    return {byte: chr(byte) for byte in seen} | {
        byte: chr(256 + i) for i, byte in enumerate(others)
    }
