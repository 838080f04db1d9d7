"""A board as the search needs it: its letters as numbers, and its playable words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.kernel.compiling import I32, I64, U64, Int, kernel
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.rules import Rules
from nightgrid.solvers.lexicon.lexicon import Lexicon


@dataclass(frozen=True, kw_only=True, eq=False)
class Model:
    """A board in numbers. Letters are numbered in the order of their code points, words sorted."""

    sides: I32
    """int32[sides, letters]: how often each letter occurs on each side."""
    alphabet: str
    """The board's letters, each once, ascending."""
    letters: I32
    """The letters of all playable words, one word after the other."""
    offsets: I64
    """int64[words + 1]: word w is letters[offsets[w]:offsets[w + 1]]."""
    begins: I64
    """int64[letters + 1]: words begins[a] to begins[a + 1] - 1 begin with letter a."""
    doubt: I32 | None
    """int32[words]: the doubt of each word (see Lexicon); None if unknown."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def distinct(self) -> bool:
        """Whether every letter occurs once on the board."""
        return int(self.sides.sum()) == self.sides.shape[1]

    def word(self, index: int) -> str:
        """Spell a word."""
        letters = self.letters[self.offsets[index] : self.offsets[index + 1]].tolist()
        return "".join([self.alphabet[letter] for letter in letters])


def model_of(puzzle: Puzzle, rules: Rules, lexicon: Lexicon | None) -> Model:
    """Number a board and find its playable words, in the lexicon or else in its own dictionary.

    Raises PermanentError if there is neither.
    """
    if lexicon is None and puzzle.dictionary is None:
        raise PermanentError(
            "the board has no dictionary, and the game is bound to no lexicon: a word list is"
            " needed"
        )
    alphabet = "".join(sorted(set("".join(puzzle.sides))))
    number = {letter: i for i, letter in enumerate(alphabet)}
    sides = np.zeros((len(puzzle.sides), len(alphabet)), np.int32)
    for i, side in enumerate(puzzle.sides):
        for letter in side:
            sides[i, number[letter]] += 1
    # The sides of each letter; the last entry is for letters that are not on the board.
    stands = np.zeros(len(alphabet) + 1, np.uint64)
    for i in range(len(sides)):
        stands[:-1] |= (sides[i] > 0).astype(np.uint64) << np.uint64(i)
    points = np.array([ord(letter) for letter in alphabet], np.uint32)
    doubt = None
    if lexicon is not None:
        codes = _codes(points, lexicon.alphabet).astype(np.int32)
        text: npt.NDArray[Any] = lexicon.letters
        kept = _playable(text, lexicon.offsets, stands[codes], rules.min_letters)
        letters, offsets = _gather(text, lexicon.offsets, kept)
        letters = codes[letters]
        doubt = lexicon.doubt[kept].astype(np.int32) if lexicon.has_doubts else None
    else:
        assert puzzle.dictionary is not None
        text = np.frombuffer("".join(puzzle.dictionary).encode("utf-32-le"), np.uint32)
        sizes = np.fromiter(map(len, puzzle.dictionary), np.int64, len(puzzle.dictionary))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        codes = _codes(points, text).astype(np.int32)
        kept = _playable(codes, starts, stands, rules.min_letters)
        letters, offsets = _gather(codes, starts, kept)
    first = letters[offsets[:-1]]
    return Model(
        sides=sides,
        alphabet=alphabet,
        letters=letters,
        offsets=offsets,
        begins=np.searchsorted(first, np.arange(len(alphabet) + 1)).astype(np.int64),
        doubt=doubt,
    )


def _codes(points: npt.NDArray[np.uint32], text: npt.NDArray[np.uint32]) -> npt.NDArray[Any]:
    at = np.searchsorted(points, text)
    return np.where(points[np.minimum(at, len(points) - 1)] == text, at, len(points))


def _gather(
    letters: npt.NDArray[Any], offsets: npt.NDArray[Any], kept: I32
) -> tuple[npt.NDArray[Any], I64]:
    sizes = offsets[kept + 1] - offsets[kept]
    new = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    at = np.repeat(offsets[kept] - new[:-1], sizes) + np.arange(new[-1])
    return letters[at], new


def _playable(
    letters: npt.NDArray[Any], offsets: npt.NDArray[Any], stands: U64, min_letters: int
) -> I32:
    out = np.empty(len(offsets) - 1, np.int32)
    return out[: filter_words(letters, offsets, stands, min_letters, out)]


@kernel
def filter_words(
    letters: np.ndarray, offsets: np.ndarray, stands: np.ndarray, min_letters: Int, out: np.ndarray
) -> Int:
    """Write the indexes of the playable words; return how many.

    `stands[a]` is the mask of the sides of letter a. After each letter the possible sides of the
    player are a mask too: from two or more sides every side can be reached, from a single one all
    others.
    """
    found = 0
    for word in range(len(offsets) - 1):
        start, stop = offsets[word], offsets[word + 1]
        if stop - start < min_letters:
            continue
        at = stands[letters[start]]
        for i in range(start + 1, stop):
            if at == np.uint64(0):
                break
            only = at & (at - np.uint64(1)) == np.uint64(0)
            to = stands[letters[i]]
            at = to & ~at if only else to
        if at != np.uint64(0):
            out[found] = word
            found += 1
    return found
