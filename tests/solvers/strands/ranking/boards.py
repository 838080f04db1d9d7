"""Small boards with vocabularies that cover them in many ways, and their covers by brute force."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, permutations

from hypothesis import strategies as st

from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.ranking.board import RankedBoard, ranked_board
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary, vocabulary_of
from tests.solvers.strands.boards import board

PHRASE_CENTIZIPF = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Small:
    """A board and the words it is covered with."""

    puzzle: Puzzle
    words: dict[str, int]
    phrases: tuple[tuple[str, str, int], ...]

    def vocabulary(self) -> Vocabulary:
        listed = {word for word, value in self.words.items() if value % 2}
        return vocabulary_of(self.words, listed, list(self.phrases))


@st.composite
def small_boards(draw: st.DrawFn) -> Small:
    """Draw boards of 10 to 16 cells whose words are mostly paths of them."""
    rows, columns = draw(st.sampled_from([(4, 3), (3, 4), (4, 4), (2, 6)]))
    source = random.Random(draw(st.integers(0, 2**32 - 1)))
    letters = draw(st.sampled_from(["ABCD", "ABCDEF"]))
    text = [source.choice(letters) for _ in range(rows * columns)]
    words: dict[str, int] = {}
    for _ in range(30):
        path = [source.randrange(rows * columns)]
        size = source.choice([2, 3, 4, 4, 4, 4, 5, 6, 8])
        while len(path) < size:
            r, c = divmod(path[-1], columns)
            near = [
                (r + i) * columns + c + j
                for i in (-1, 0, 1)
                for j in (-1, 0, 1)
                if 0 <= r + i < rows and 0 <= c + j < columns
            ]
            near = [cell for cell in near if cell not in path]
            if not near:
                break
            path.append(source.choice(near))
        words["".join(text[cell] for cell in path)] = source.randrange(100, 700)
    listed = sorted(words)
    phrases = tuple(
        (source.choice(listed), source.choice(listed), PHRASE_CENTIZIPF) for _ in range(5)
    )
    lines = ["".join(text[r * columns : (r + 1) * columns]) for r in range(rows)]
    theme_words = draw(st.integers(1, rows * columns // 4 - 1))
    return Small(puzzle=board(" ".join(lines), theme_words), words=words, phrases=phrases)


def open_board(small: Small) -> tuple[RankedBoard, Vocabulary]:
    vocabulary = small.vocabulary()
    return ranked_board(small.puzzle, vocabulary), vocabulary


def every_cover(ranked: RankedBoard) -> Iterator[tuple[tuple[str, int], list[int]]]:
    """Try every set of pieces: yield those that are covers, for each choice of the spangram.

    (spangram, rows of the theme words).
    """
    words, compounds = ranked.found.words, ranked.found.compounds
    n = ranked.puzzle.theme_words
    assert n is not None
    everything = frozenset(range(ranked.puzzle.cell_count))
    word_cells = [words.cells_on(row) for row in range(len(words))]

    def blocks_of(piece: tuple[str, int]) -> list[int]:
        pieces = words if piece[0] == "word" else compounds
        row = piece[1]
        start, stop = pieces.block_offsets[row], pieces.block_offsets[row + 1]
        return [int(mask) << int(pieces.low[row]) for mask in pieces.blocks[start:stop]]

    def apart(ways: list[list[int]], closed: int) -> bool:
        return not ways or any(not m & closed and apart(ways[1:], closed | m) for m in ways[0])

    at = [min(cells) for cells in word_cells]

    @cache
    def fill(left: frozenset[int], n: int) -> tuple[tuple[int, ...], ...]:
        if not left or not n:
            return () if left or n else ((),)
        first = min(left)
        return tuple(
            (row, *rest)
            for row, cells in enumerate(word_cells)
            if at[row] == first and cells <= left
            for rest in fill(left - cells, n - 1)
        )

    def is_apart(pieces: list[tuple[str, int]]) -> bool:
        return apart([blocks_of(piece) for piece in pieces], 0)

    def distinct(rows: tuple[int, ...]) -> bool:
        return len({int(words.word[row]) for row in rows}) == len(rows)

    for rows in fill(everything, n + 1):
        spanning = [row for row in rows if words.spans[row]]
        if spanning and distinct(rows) and is_apart(
            [("word", row) for row in rows]
        ):  # fmt: skip
            for first in spanning:
                yield ("word", first), [row for row in rows if row != first]
    for row in range(len(compounds)):
        for rows in fill(everything - compounds.cells_on(row), n):
            if distinct(rows) and is_apart(
                [("compound", row), *(("word", other) for other in rows)]
            ):  # fmt: skip
                yield ("compound", row), list(rows)


def every_path(puzzle: Puzzle, word: str, cells: frozenset[int]) -> Iterator[tuple[int, ...]]:
    """Try every order of cells: yield those that are paths and spell a word."""
    columns = puzzle.column_count
    letters = "".join(puzzle.board)
    for path in permutations(sorted(cells)):
        places = [divmod(cell, columns) for cell in path]
        steps = pairwise(places)
        if all(max(abs(a - c), abs(b - d)) == 1 for (a, b), (c, d) in steps) and (
            "".join(letters[cell] for cell in path) == word
        ):
            yield path


def shape_of(puzzle: Puzzle, path: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Measure a path: crossings, diagonal steps, turns, steps along the border."""
    rows, columns = puzzle.row_count, puzzle.column_count
    places = [divmod(cell, columns) for cell in path]
    steps = list(pairwise(places))
    ways = [(c - a, d - b) for (a, b), (c, d) in steps]
    diagonals = [one for one, way in zip(steps, ways, strict=True) if 0 not in way]

    def middle(one: tuple[tuple[int, int], tuple[int, int]]) -> tuple[int, int]:
        return one[0][0] + one[1][0], one[0][1] + one[1][1]

    crossings = sum(middle(a) == middle(b) for a, b in combinations(diagonals, 2))
    turns = sum(a != b for a, b in pairwise(ways))
    edges = sum(
        (a == c and a in (0, rows - 1)) or (b == d and b in (0, columns - 1))
        for (a, b), (c, d) in steps
    )
    return crossings, len(diagonals), turns, edges
