"""The canonical text of a lexicon, which names it, and in which it travels."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.algebra import ID_HEX_DIGITS
from solvers.errors import PermanentError


def canonical_text(words: Sequence[str], centizipf: npt.NDArray[Any]) -> str:
    """Write a lexicon as one "WORD<TAB>centizipf" a line, in the words' order (code points)."""
    pairs = zip(words, centizipf.tolist(), strict=True)
    return "".join([f"{word}\t{value}\n" for word, value in pairs])


def text_digest(words: Sequence[str], centizipf: npt.NDArray[Any]) -> str:
    """Hash the canonical text into the lexicon's id."""
    return digest_of(canonical_text(words, centizipf).encode("utf-8", "surrogatepass"))


def digest_of(text: bytes) -> str:
    """Hash a canonical text, as bytes of UTF-8, into the id that it must have."""
    return hashlib.sha256(text).hexdigest()[:ID_HEX_DIGITS]


def read_canonical(text: str) -> tuple[list[str], npt.NDArray[np.int16]]:
    """Read a canonical text back into sorted words and their frequencies.

    Raises PermanentError, naming the line, for a text that `canonical_text` cannot have written.
    """
    if not text.endswith("\n"):
        raise PermanentError("the text of a lexicon ends within a line")
    words: list[str] = []
    centizipf: list[int] = []
    for number, line in enumerate(text[:-1].split("\n"), 1):
        word, tab, value = line.partition("\t")
        if not word or not tab or not value.isdecimal() or not value.isascii() or len(value) > 5:
            raise PermanentError(
                f"line {number} of a lexicon is {line[:80]!r}; expected WORD, a TAB and centizipf"
            )
        words.append(word)
        centizipf.append(int(value))
    for number, (one, other) in enumerate(pairwise(words), 2):
        if one >= other:
            raise PermanentError(f"line {number} of a lexicon, {other!r}, is not in order")
    if max(centizipf) > np.iinfo(np.int16).max:
        raise PermanentError(f"a lexicon has {max(centizipf)} centizipf; expected less than 2^15")
    return words, np.array(centizipf, np.int16)


def spell(
    alphabet: npt.NDArray[np.uint32],
    letters: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int32],
) -> list[str]:
    """Spell words that lie in flat arrays."""
    text = alphabet[letters].tobytes().decode("utf-32-le", "surrogatepass")
    return [text[start:stop] for start, stop in pairwise(offsets.tolist())]
