"""The canonical text of a lexicon, which names it, and in which it travels."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import ID_HEX_DIGITS
from nightgrid.solvers.errors import PermanentError

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
            first=columns[0].copy(),
            second=columns[1].copy(),
            centizipf=columns[2].astype(np.int16),
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
            phrases.first.tolist(),
            phrases.second.tolist(),
            phrases.centizipf.tolist(),
            strict=True,
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
    alphabet: npt.NDArray[np.uint32],
    letters: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int32],
) -> list[str]:
    """Spell words that lie in flat arrays."""
    text = alphabet[letters].tobytes().decode("utf-32-le", "surrogatepass")
    return [text[start:stop] for start, stop in pairwise(offsets.tolist())]
