"""Place words on a board: find the one cover that they make, without a lexicon.

A published answer often names its words and not their cells. On every published board the words
alone determine the cells of each; the path of a word over its cells need not be unique, and the
first one that crosses no other word represents all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from nightgrid.solvers.strands.puzzle import Cell, Puzzle
from nightgrid.solvers.strands.solution import Cover, Entry

MAX_STEPS = 50_000
"""Steps before the search gives up; a published board takes at most 214."""
MAX_WORDS = 200
"""Most words to place: the search recurses for each."""

Path = tuple[Cell, ...]
Block = tuple[int, int]
"""Upper left cell of a 2 x 2 block."""
Stroke = tuple[Block, int]
"""A diagonal step: its block, and which of the two diagonals it is (0 is down to the right)."""
Way = tuple[frozenset[Stroke], Path]
Ways = dict[int, list[Way]]
"""The ways to place a word on the board, by the mask of their cells."""


class TooManySteps(Exception):  # noqa: N818 - a signal to the caller that set the limit, not an error
    """The search gave up."""


def touches_opposite_sides(cells: Sequence[Cell], puzzle: Puzzle) -> bool:
    """Return whether cells touch two opposite sides of the board, as a spangram does."""
    rows = {r for r, _ in cells}
    columns = {c for _, c in cells}
    across = {0, puzzle.column_count - 1} <= columns
    return across or {0, puzzle.row_count - 1} <= rows


def place_words(
    puzzle: Puzzle,
    spangram: str,
    theme_words: Sequence[str],
    known: Mapping[str, Path] | None = None,
    *,
    max_steps: int = MAX_STEPS,
) -> list[Cover]:
    """Find the covers that consist of exactly these words, two at most.

    Words are distinct, and one may have a `known` path. Two covers mean that the words do not
    determine their cells. Raises TooManySteps after `max_steps` steps, or for more than MAX_WORDS
    words.
    """
    if len(theme_words) >= MAX_WORDS:
        raise TooManySteps
    search = _Search(puzzle, max_steps)
    words = (spangram, *theme_words)
    ways = []
    for word in words:
        path = (known or {}).get(word)
        paths = search.paths_of(word) if path is None else [path]
        if word == spangram:
            paths = (path for path in paths if touches_opposite_sides(path, puzzle))
        ways.append(search.ways_of(paths))
    covers: list[Cover] = []
    for chosen in search.covers(ways):
        entries = [
            Entry(word=word, path=path, components=(word,))
            for word, path in zip(words, chosen, strict=True)
        ]
        covers.append(cover_of(entries[0], entries[1:]))
        if len(covers) == 2:
            break
    return covers


def cover_of(spangram: Entry | None, theme_words: Sequence[Entry]) -> Cover:
    """Return a cover of score 0 with its theme words sorted by their first cells.

    Words without a path are last, in the order given.
    """
    placed = [entry for entry in theme_words if entry.path]
    others = [entry for entry in theme_words if not entry.path]
    placed.sort(key=lambda entry: min(entry.path))
    return Cover(spangram=spangram, theme_words=(*placed, *others), score=0)


def neighbours(cell: Cell) -> tuple[Cell, ...]:
    """Return the cells a king's move away, on the board or not, the last ones first."""
    r, c = cell
    return (
        (r + 1, c + 1), (r + 1, c), (r + 1, c - 1), (r, c + 1),
        (r, c - 1), (r - 1, c + 1), (r - 1, c), (r - 1, c - 1),
    )  # fmt: skip


def strokes_of(path: Path) -> frozenset[Stroke]:
    """Return the diagonals that a path uses."""
    return frozenset(
        ((min(r, below), min(c, right)), int((below - r) != (right - c)))
        for (r, c), (below, right) in itertools.pairwise(path)
        if r != below and c != right
    )


def crosses(strokes: AbstractSet[Stroke], others: AbstractSet[Stroke]) -> bool:
    """Return whether two paths, given by their diagonals, cross in a block."""
    return any((block, 1 - diagonal) in others for block, diagonal in strokes)


class _Search:
    def __init__(self, puzzle: Puzzle, max_steps: int) -> None:
        self._steps_left = max_steps
        self._columns = puzzle.column_count
        self._letters = {
            (r, c): letter for r, row in enumerate(puzzle.board) for c, letter in enumerate(row)
        }
        self._full = (1 << puzzle.cell_count) - 1

    def ways_of(self, paths: Iterable[Path]) -> Ways:
        """Group paths by their cells; of those over the same, keep the fewest diagonals."""
        ways: Ways = {}
        for path in paths:
            mask = sum(1 << (r * self._columns + c) for r, c in path)
            way = (strokes_of(path), path)
            kept = ways.setdefault(mask, [])
            if not any(other[0] <= way[0] for other in kept):
                kept[:] = [other for other in kept if not way[0] < other[0]]
                kept.append(way)
        return ways

    def paths_of(self, word: str) -> Iterator[Path]:
        """Find the paths of king's moves that spell a word and use no cell twice."""
        stack: list[Path] = [
            (cell,) for cell, letter in reversed(self._letters.items()) if letter == word[:1]
        ]
        while stack:
            self._step()
            path = stack.pop()
            if len(path) == len(word):
                yield path
                continue
            stack += [
                (*path, cell)
                for cell in neighbours(path[-1])
                if self._letters.get(cell) == word[len(path)] and cell not in path
            ]

    def covers(self, words: Sequence[Ways]) -> Iterator[list[Path]]:
        """Choose cells for every word, so that they fill the board, and paths that do not cross."""
        # By first cell: one of them has to cover the first free cell of the board.
        by_first: dict[int, list[tuple[int, int]]] = {}
        for word, ways in enumerate(words):
            for mask in ways:
                by_first.setdefault(mask & -mask, []).append((word, mask))
        chosen: dict[int, int] = {}

        def extend(covered: int) -> Iterator[list[Path]]:
            if covered == self._full:
                if len(chosen) == len(words):
                    masks = [ways[chosen[word]] for word, ways in enumerate(words)]
                    paths = self._apart(masks, frozenset())
                    if paths is not None:
                        yield paths
                return
            for word, mask in by_first.get(~covered & (covered + 1), ()):
                self._step()
                if word not in chosen and not mask & covered:
                    chosen[word] = mask
                    yield from extend(covered | mask)
                    del chosen[word]

        yield from extend(0)

    def _apart(self, ways: Sequence[list[Way]], used: frozenset[Stroke]) -> list[Path] | None:
        """Choose one way of each, so that none crosses another or a used diagonal."""
        if not ways:
            return []
        for strokes, path in ways[0]:
            self._step()
            if not crosses(strokes, used):
                rest = self._apart(ways[1:], used | strokes)
                if rest is not None:
                    return [path, *rest]
        return None

    def _step(self) -> None:
        self._steps_left -= 1
        if self._steps_left < 0:
            raise TooManySteps
