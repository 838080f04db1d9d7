"""Make Strands boards: lay given words on a board that they fill, at random."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.lexicon.spelling import upper
from nightgrid.solvers.strands import placing
from nightgrid.solvers.strands.placing import Path, Stroke
from nightgrid.solvers.strands.puzzle import Cell, Puzzle
from nightgrid.solvers.strands.solution import Cover, Entry

T = TypeVar("T")

GENERATOR_NAME = "nightgrid generator"
ROWS = 8
COLUMNS = 6
MAX_TRIES = 400
"""Spangrams laid before it gives up: words that fit at all usually fit within ten."""
STEPS_A_TRY = 3_000
"""Words laid on one spangram before another one is tried."""
PATHS_A_WORD = 4
"""Paths of a word from one cell that are tried before another word is."""


def generate(
    spangram: str,
    theme_words: Sequence[str],
    seed: int,
    *,
    rows: int = ROWS,
    columns: int = COLUMNS,
) -> tuple[Puzzle, Cover]:
    """Lay a spangram from side to side, and theme words on the rest; none crosses another.

    The same arguments give the same board on every machine: the only source of randomness is
    `random.Random(int).random()`, whose sequence Python guarantees. Words are taken as
    they stand, in capitals. Raises PermanentError when a word stands twice, when the letters do not
    fill the board, or when no way to lay them was found.
    """
    words = [upper(word) for word in (spangram, *theme_words)]
    if len(set(words)) < len(words) or not all(words):
        raise PermanentError("a board needs words that differ from one another and have letters")
    letters = sum(map(len, words))
    if letters != rows * columns:
        raise PermanentError(
            f"the words have {letters} letters; expected {rows * columns} for a board of "
            f"{rows} x {columns}"
        )
    rnd = random.Random(seed).random
    for _ in range(MAX_TRIES):
        paths = _Laying(rnd, rows, columns).lay([len(word) for word in words])
        if paths is not None:
            return _board(words, paths, rows, columns)
    raise PermanentError(
        f"no way was found to lay {', '.join(words)} on a board of {rows} x {columns}"
    )


def to_payload(date: dt.date, puzzle: Puzzle, cover: Cover, clue: str) -> dict[str, Any]:
    """Write a board and its cover in the published payload format."""
    assert cover.spangram is not None
    return {
        "status": "OK",
        "id": date.toordinal(),
        "printDate": date.isoformat(),
        "themeWords": [entry.word for entry in cover.theme_words],
        "editor": GENERATOR_NAME,
        "constructors": GENERATOR_NAME,
        "spangram": cover.spangram.word,
        "clue": clue,
        "startingBoard": list(puzzle.board),
        "themeCoords": {
            entry.word: [list(cell) for cell in entry.path] for entry in cover.theme_words
        },
        "spangramCoords": [list(cell) for cell in cover.spangram.path],
    }


def _board(
    words: Sequence[str], paths: Sequence[Path], rows: int, columns: int
) -> tuple[Puzzle, Cover]:
    letters = {
        cell: letter
        for word, path in zip(words, paths, strict=True)
        for cell, letter in zip(path, word, strict=True)
    }
    board = tuple("".join(letters[r, c] for c in range(columns)) for r in range(rows))
    entries = [
        Entry(word=word, path=path, components=(word,))
        for word, path in zip(words, paths, strict=True)
    ]
    puzzle = Puzzle(board=board, theme_words=len(words) - 1)
    return puzzle, placing.cover_of(entries[0], entries[1:])


class _Laying:
    """One try: a spangram, and the theme words on the cells that it leaves."""

    def __init__(self, rnd: Callable[[], float], rows: int, columns: int) -> None:
        self._rnd = rnd
        self._rows = rows
        self._columns = columns
        self._free = {(r, c) for r in range(rows) for c in range(columns)}
        self._strokes: set[Stroke] = set()
        self._steps = 0

    def lay(self, lengths: Sequence[int]) -> list[Path] | None:
        """Find a path for every length, or None within the steps of a try."""
        across = lengths[0] >= self._columns and (lengths[0] < self._rows or self._rnd() < 0.5)
        side = [cell for cell in sorted(self._free) if cell[1 if across else 0] == 0]
        path = next(self._walks(self._shuffled(side)[0], lengths[0], across=across), None)
        if path is None:
            return None
        self._take(path)
        if not self._fills(lengths[1:]):
            return None
        laid = self._lay_rest(dict(enumerate(lengths[1:])))
        return None if laid is None else [path, *(laid[i] for i in range(len(lengths) - 1))]

    def _lay_rest(self, lengths: dict[int, int]) -> dict[int, Path] | None:
        if not lengths:
            return {}
        # The cell that is hardest to reach is an end of a word, or it may be left alone.
        start = min(sorted(self._free), key=self._freedom)
        for word in self._shuffled(lengths):
            rest = {other: length for other, length in lengths.items() if other != word}
            for _, path in zip(
                range(PATHS_A_WORD), self._walks(start, lengths[word]), strict=False
            ):
                self._steps += 1
                if self._steps > STEPS_A_TRY:
                    return None
                self._take(path)
                if self._fills(list(rest.values())):
                    laid = self._lay_rest(rest)
                    if laid is not None:
                        laid[word] = path if self._rnd() < 0.5 else path[::-1]
                        return laid
                self._give_back(path)
        return None

    def _walks(self, start: Cell, length: int, *, across: bool | None = None) -> Iterator[Path]:
        """Walk at random over free cells; with `across` given, as far as the opposite side."""
        stack: list[Path] = [(start,)]
        while stack:
            path = stack.pop()
            if across is not None and not self._reaches(path, length, across):
                continue
            if len(path) == length:
                yield path
                continue
            steps = self._shuffled(
                cell
                for cell in placing.neighbours(path[-1])
                if cell in self._free
                and cell not in path
                and not placing.crosses(placing.strokes_of((*path, cell)), self._strokes)
                and not placing.crosses(
                    placing.strokes_of((path[-1], cell)), placing.strokes_of(path)
                )
            )
            if across is None:
                # What is tried first stands last: cells with few free neighbours.
                steps.sort(key=self._freedom, reverse=True)
            stack += [(*path, cell) for cell in steps]

    def _shuffled(self, items: Iterable[T]) -> list[T]:
        return sorted(items, key=lambda _: self._rnd())

    def _reaches(self, path: Path, length: int, across: bool) -> bool:
        far = self._columns - 1 if across else self._rows - 1
        axis = 1 if across else 0
        missing = far - max(cell[axis] for cell in path)
        return missing == 0 or far - path[-1][axis] <= length - len(path)

    def _freedom(self, cell: Cell) -> int:
        return sum(other in self._free for other in placing.neighbours(cell))

    def _take(self, path: Path) -> None:
        self._free.difference_update(path)
        self._strokes |= placing.strokes_of(path)

    def _give_back(self, path: Path) -> None:
        self._free.update(path)
        self._strokes -= placing.strokes_of(path)

    def _fills(self, lengths: Sequence[int]) -> bool:
        """Return whether each connected part of the free cells is a sum of some of the lengths."""
        sums = 1
        for length in lengths:
            sums |= sums << length
        rest = set(self._free)
        while rest:
            todo = [rest.pop()]
            size = 0
            while todo:
                size += 1
                near = [cell for cell in placing.neighbours(todo.pop()) if cell in rest]
                rest.difference_update(near)
                todo += near
            if not sums >> size & 1:
                return False
        return True
