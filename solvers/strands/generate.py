"""Make Strands boards: lay words on a board that they fill, at random."""

from __future__ import annotations

import datetime as dt
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.lexicon.spelling import upper
from nightgrid.solvers.strands import placing
from nightgrid.solvers.strands.placing import Path, Stroke
from nightgrid.solvers.strands.puzzle import Cell, Puzzle
from nightgrid.solvers.strands.solution import Cover, Entry

GENERATOR_NAME = "nightgrid generator"
ROWS = 8
COLUMNS = 6
KING_STEPS = tuple((i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
MIXING = 20
"""Paths to skip until one differs enough from the first."""
MAX_TRIES = 20_000
"""Paths that are tried before giving up, some seconds."""


def generate(
    spangram: str,
    theme_words: Sequence[str],
    seed: int,
    *,
    rows: int = ROWS,
    columns: int = COLUMNS,
) -> tuple[Puzzle, Cover]:
    """Cut a path through all cells into the words, so that the spangram leads from side to side.

    No word crosses another.

    The same arguments give the same board on every machine: the only source of randomness is
    `random.Random(int).random()`, whose sequence Python guarantees. Words have to be in capitals.
    Raises PermanentError if a word is repeated, if the letters do not fill the board, or if no way
    to lay them was found.
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
    paths = itertools.islice(filling_path(rnd, rows, columns, KING_STEPS), MIXING, MAX_TRIES)
    for path in paths:
        pieces = _cut(rnd, tuple(path), [len(word) for word in words])
        puzzle, cover = _board(words, pieces, rows, columns)
        if placing.touches_opposite_sides(pieces[0], puzzle):
            return puzzle, cover
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


def filling_path(
    rnd: Callable[[], float], rows: int, columns: int, steps: Sequence[Cell]
) -> Iterator[list[Cell]]:
    """Yield random paths through all cells of a board that do not cross themselves.

    Each follows from the previous one by as many backbites as the board has cells: an end is joined
    to a neighbour, one of `steps` away, and the path is opened where that closes a ring.
    """
    path = [
        (r, c)
        for r in range(rows)
        for c in (range(columns) if r % 2 == 0 else reversed(range(columns)))
    ]
    strokes: set[Stroke] = set()
    while True:
        for _ in path:
            if rnd() < 0.5:
                path.reverse()
            r, c = path[-1]
            i, j = steps[int(rnd() * len(steps))]
            if not (0 <= r + i < rows and 0 <= c + j < columns):
                continue
            joint = placing.strokes_of(((r, c), (r + i, c + j)))
            if not placing.crosses(joint, strokes):
                at = path.index((r + i, c + j))
                strokes -= placing.strokes_of(tuple(path[at : at + 2]))
                strokes |= joint
                path[at + 1 :] = path[:at:-1]
        yield path


def _cut(rnd: Callable[[], float], path: Path, lengths: Sequence[int]) -> list[Path]:
    """Cut a path into pieces of these lengths, in a random order."""
    pieces: dict[int, Path] = {}
    start = 0
    for word in sorted(range(len(lengths)), key=lambda _: rnd()):
        piece = path[start : start + lengths[word]]
        pieces[word] = piece if rnd() < 0.5 else piece[::-1]
        start += lengths[word]
    return [pieces[word] for word in range(len(lengths))]
