"""Lay given words on a board: the one cover that they make, found without a lexicon.

A published answer often names its words and not their cells. On every published board the words
alone determine which cells each of them lies on; the path of a word over its cells need not be
unique, and the first one that crosses no other word stands for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from solvers.strands.cover import Cover, Entry
from solvers.strands.puzzle import Cell, Puzzle

MAX_STEPS = 500_000
"""Steps of the search before it gives up: a published board takes a few thousand."""
MAX_WORDS = 200
"""The search goes as deep as there are words; more of them are not laid."""

Path = tuple[Cell, ...]
Block = tuple[int, int]
"""Upper left cell of a 2 x 2 block."""
Stroke = tuple[Block, int]
"""A diagonal step: its block, and which of the two diagonals it is (0 is down to the right)."""


class TooManySteps(Exception):  # noqa: N818 - a signal to whoever gave the steps, not an error
    """The search was given up."""


def touches_opposite_sides(cells: Sequence[Cell], puzzle: Puzzle) -> bool:
    """Tell whether cells touch two opposite sides of the board, as a spangram does."""
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

    Words are distinct, and one may have a `known` path. A list of two says that the words do not
    determine their cells. Raises TooManySteps rather than search for longer than `max_steps`, or
    for more than MAX_WORDS words.
    """
    if len(theme_words) >= MAX_WORDS:
        raise TooManySteps
    search = _Search(puzzle, max_steps)
    pieces: list[list[_Piece]] = []
    for word in (spangram, *theme_words):
        path = (known or {}).get(word)
        paths = search.paths_of(word) if path is None else [path]
        pieces.append(
            search.pieces_of(
                way for way in paths if word != spangram or touches_opposite_sides(way, puzzle)
            )
        )
    covers: list[Cover] = []
    for chosen in search.covers(pieces):
        entries = [
            Entry(word=word, path=piece.path, parts=(word,))
            for word, piece in zip((spangram, *theme_words), chosen, strict=True)
        ]
        cover = cover_of(entries[0], entries[1:])
        if all(cover.identity != other.identity for other in covers):
            covers.append(cover)
        if len(covers) == 2:
            break
    return covers


def cover_of(spangram: Entry | None, theme_words: Sequence[Entry]) -> Cover:
    """Make a cover of score 0 with its theme words in their order: by their first cells.

    Words whose path is not known stand last, in the order given.
    """
    placed = [entry for entry in theme_words if entry.path]
    others = [entry for entry in theme_words if not entry.path]
    placed.sort(key=lambda entry: min(entry.path))
    return Cover(spangram=spangram, theme_words=(*placed, *others), score=0)


def strokes_of(path: Path) -> frozenset[Stroke]:
    """Name the diagonals that a path uses."""
    return frozenset(
        ((min(r, below), min(c, right)), int((below - r) != (right - c)))
        for (r, c), (below, right) in zip(path, path[1:], strict=False)
        if r != below and c != right
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    mask: int
    strokes: frozenset[Stroke]
    path: Path


class _Search:
    def __init__(self, puzzle: Puzzle, max_steps: int) -> None:
        self._steps_left = max_steps
        self._columns = puzzle.column_count
        self._letters = {
            (r, c): letter for r, row in enumerate(puzzle.board) for c, letter in enumerate(row)
        }
        self._full = (1 << puzzle.cell_count) - 1

    def pieces_of(self, paths: Iterable[Path]) -> list[_Piece]:
        """Keep of the paths over the same cells those whose diagonals no other one makes do with."""
        by_mask: dict[int, list[_Piece]] = {}
        for path in paths:
            mask = sum(1 << (r * self._columns + c) for r, c in path)
            piece = _Piece(mask=mask, strokes=strokes_of(path), path=path)
            kept = by_mask.setdefault(mask, [])
            if not any(other.strokes <= piece.strokes for other in kept):
                kept[:] = [other for other in kept if not piece.strokes < other.strokes]
                kept.append(piece)
        return [piece for kept in by_mask.values() for piece in kept]

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
            r, c = path[-1]
            stack += [
                (*path, cell)
                for cell in (
                    (r + 1, c + 1), (r + 1, c), (r + 1, c - 1), (r, c + 1),
                    (r, c - 1), (r - 1, c + 1), (r - 1, c), (r - 1, c - 1),
                )
                if self._letters.get(cell) == word[len(path)] and cell not in path
            ]  # fmt: skip

    def covers(self, pieces: Sequence[Sequence[_Piece]]) -> Iterator[list[_Piece]]:
        """Choose one piece of every word, so that they cover the board and none cross."""
        # Pieces by their first cell: the first free cell of the board has to be covered by one.
        by_first: dict[int, list[tuple[int, _Piece]]] = {}
        for word, options in enumerate(pieces):
            for piece in options:
                first = piece.mask & -piece.mask
                by_first.setdefault(first, []).append((word, piece))
        chosen: dict[int, _Piece] = {}

        def extend(covered: int, used: frozenset[Stroke]) -> Iterator[list[_Piece]]:
            if covered == self._full:
                if len(chosen) == len(pieces):
                    yield [chosen[word] for word in range(len(pieces))]
                return
            free = ~covered & (covered + 1)
            for word, piece in by_first.get(free, ()):
                self._step()
                if word in chosen or piece.mask & covered or _cross(piece.strokes, used):
                    continue
                chosen[word] = piece
                yield from extend(covered | piece.mask, used | piece.strokes)
                del chosen[word]

        yield from extend(0, frozenset())

    def _step(self) -> None:
        self._steps_left -= 1
        if self._steps_left < 0:
            raise TooManySteps


def _cross(strokes: frozenset[Stroke], others: frozenset[Stroke]) -> bool:
    return any((block, 1 - diagonal) in others for block, diagonal in strokes)
