"""Larger cells for Strands (article 000, Theorem 20): words become as long as wanted.

A cell becomes a block of size x size cells: its letter in the middle, and around it one of four new
letters by the parity of its row and of its column. A block has a way through all of its cells from
any corner to either corner next to it, on which the middle comes at the same step, `before`: each
letter of a word becomes that many of the block's letter, the old letter, and the rest of the
block's. Blocks of one colour do not touch, so a word takes whole blocks; and words only have
colours next to one another that differ in one of the two parities, so no word steps diagonally
between blocks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reductions.problems.letters import distinct_letters
from nightgrid.solvers.reductions.reduced import Reduced
from nightgrid.solvers.strands.puzzle import Cell, Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.solution import Cover, Entry

SIZE = 3
WORDS_MAX = 200_000
MIN_LETTERS_MAX = 64
"""Maximum of the rule min_letters."""

Small = Reduced[Any, Puzzle]


def enlarge(small: Small, size: int = SIZE) -> Reduced[Small, Puzzle]:
    """Convert a board and its words to one with size x size times the letters.

    Equivalent for boards that can be covered without diagonal steps, or not at all. `size` is odd
    and at least 3. Raises PermanentError for another size, or if the colourings of long words would
    exceed WORDS_MAX words.
    """
    if size < 3 or size % 2 == 0:
        raise PermanentError(f"blocks of {size} x {size} cells; expected an odd number from 3 on")
    colours = _colours(small)
    board = small.puzzle.board
    middle = size // 2
    rows: list[str] = []
    for r, row in enumerate(board):
        for i in range(size):
            rows.append(
                "".join(
                    letter if (i, j) == (middle, middle) else colours[_colour((r, c))]
                    for c, letter in enumerate(row)
                    for j in range(size)
                )
            )
    rules = Rules.parse(small.rules)
    least = rules.min_letters * size * size
    text = small.rules.replace(
        f"min_letters={rules.min_letters}", f"min_letters={min(least, MIN_LETTERS_MAX)}"
    )
    return Reduced(
        game="strands",
        instance=small,
        puzzle=Puzzle(board=tuple(rows)),
        rules=text,
        words=tuple(_words(small, size, colours)),
    )


def _colours(small: Small) -> str:
    return distinct_letters(4, set("".join(small.puzzle.board)).union(*small.words))


def _colour(cell: Cell) -> int:
    return cell[0] % 2 * 2 + cell[1] % 2


def _words(small: Small, size: int, colours: str) -> Iterator[str]:
    count = sum(4 * 2 ** (len(word) - 1) for word in small.words)
    if count > WORDS_MAX:
        raise PermanentError(
            f"the words would become {count:,} words of larger blocks; expected at most"
            f" {WORDS_MAX:,}"
        )
    before = route(size, (0, 0), (size - 1, 0)).index((size // 2, size // 2))
    after = size * size - 1 - before
    for word in small.words:
        for first in range(4):
            # A step changes the row's parity (2) or the column's (1).
            for steps in itertools.product((1, 2), repeat=len(word) - 1):
                at = list(itertools.accumulate(steps, lambda a, b: a ^ b, initial=first))
                yield "".join(
                    colours[colour] * before + letter + colours[colour] * after
                    for letter, colour in zip(word, at, strict=True)
                )


def route(size: int, start: Cell, end: Cell) -> list[Cell]:
    """Return a path through all cells of a block from a corner to a neighbouring corner.

    From the top left to the bottom left: down and up the columns without their last cells, then
    along the last row; the others are its rotations and reflections.
    """
    last = size - 1
    path = [
        (r, c)
        for c in range(size)
        for r in (range(last) if c % 2 == 0 else range(last - 1, -1, -1))
    ]
    path += [(last, c) for c in range(last, -1, -1)]
    if start[0] == end[0]:
        path = [(c, r) for r, c in path]
    return [(last - r if start[0] else r, last - c if start[1] else c) for r, c in path]


def solution_of(reduced: Reduced[Small, Puzzle], cover: Cover) -> Cover:
    """Shrink a cover to the middle cells of its blocks."""
    small = reduced.instance
    size = reduced.puzzle.row_count // small.puzzle.row_count
    entries = []
    for entry in cover.entries:
        path = tuple(
            (r // size, c // size) for r, c in entry.path if r % size == c % size == size // 2
        )
        word = "".join(small.puzzle.board[r][c] for r, c in path)
        if word not in small.words:
            raise PermanentError(f"{entry.word:.40} stands for {word!r}, which is not a word")
        entries.append(Entry(word=word, path=path, components=(word,)))
    entries.sort(key=lambda entry: min(entry.path))
    return Cover(spangram=None, theme_words=tuple(entries), score=0)
