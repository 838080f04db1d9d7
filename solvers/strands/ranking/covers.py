"""Convert ranked pieces to covers with paths, as their maker would have drawn them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

from nightgrid.solvers.strands.paths import (
    Options,
    cells_of,
    paths_on,
    paths_without_crossing,
    spell,
)
from nightgrid.solvers.strands.placing import strokes_of
from nightgrid.solvers.strands.puzzle import Cell, Puzzle
from nightgrid.solvers.strands.ranking.board import RankedBoard
from nightgrid.solvers.strands.ranking.compounds import NATS, reading
from nightgrid.solvers.strands.ranking.search import Scored
from nightgrid.solvers.strands.ranking.vocabulary import Kind, Vocabulary
from nightgrid.solvers.strands.solution import Cover, Entry

CENTIDECADES = 100 / (NATS * math.log(10))
"""Hundredths of a decade in a thousandth of a nat."""


def components_of(
    board: RankedBoard, piece: tuple[str, int], vocabulary: Vocabulary
) -> tuple[str, ...]:
    """Return the words that a piece is joined from; itself if it is one."""
    kind, row = piece
    text = spell(piece, board.found, vocabulary.lexicon)
    if kind == "word":
        word = int(board.found.words.word[row])
        if vocabulary.kind[word] != Kind.PAIR:
            return (text,)
        pair = int(vocabulary.first[word]), int(vocabulary.second[word])
        return tuple(map(vocabulary.lexicon.word, pair))
    return reading(vocabulary, text)[1]


def cover_of(board: RankedBoard, scored: Scored, vocabulary: Vocabulary) -> Cover:
    """Convert a ranked cover to paths that do not cross one another, straight ones first.

    Its score is in hundredths of a decade, as that of any cover.
    """
    puzzle, found = board.puzzle, board.found
    width = puzzle.column_count
    options: list[Options] = []
    for piece in scored.pieces:
        text, cells = spell(piece, found, vocabulary.lexicon), cells_of(piece, found)
        ways = paths_on(puzzle.board, text, cells, diagonal=True)
        options.append(tuple(sorted(ways, key=lambda way: _shape(puzzle, way[0]))))
    entries = []
    for piece, path in zip(scored.pieces, paths_without_crossing(options), strict=True):
        places: tuple[Cell, ...] = tuple(divmod(cell, width) for cell in path)
        entries.append(
            Entry(
                word=spell(piece, found, vocabulary.lexicon),
                path=places,
                components=components_of(board, piece, vocabulary),
            )
        )
    theme = sorted(entries[1:], key=lambda entry: min(entry.path))
    return Cover(
        spangram=entries[0], theme_words=tuple(theme), score=round(scored.score * CENTIDECADES)
    )


def _shape(puzzle: Puzzle, path: Iterable[int]) -> tuple[int, int]:
    """Order paths: fewer crossings with itself, then fewer diagonal steps and turns."""
    places: tuple[Cell, ...] = tuple(divmod(cell, puzzle.column_count) for cell in path)
    strokes = strokes_of(places)
    crossings = sum((block, 1 - way) in strokes for block, way in strokes) // 2
    ways = [(c - a, d - b) for (a, b), (c, d) in itertools.pairwise(places)]
    turns = sum(one != other for one, other in itertools.pairwise(ways))
    return crossings, len(strokes) + turns
