"""The pieces of a board are those that trying everything finds, with the ways to go round them."""

from __future__ import annotations

from collections import Counter

from hypothesis import assume, given, settings

from solvers.lexicon.compile import compile_lexicon
from solvers.strands.pieces import Pieces, find_pieces
from solvers.strands.puzzle import Puzzle
from tests.oracles.strands_brute_force import (
    Cell,
    Piece,
    Steps,
    TooLargeError,
    diagonals_of,
    pieces_of,
    spans,
)
from tests.solvers.strands_boards import Instance, instances

Blocks = frozenset[Cell]
"""2 x 2 blocks by their upper left cells."""
MOST_STEPS = 10_000


def bits(mask: int) -> list[int]:
    return [bit for bit in range(64) if mask >> bit & 1]


def ways_round(piece: Piece, diagonals: frozenset[frozenset[Cell]]) -> Blocks:
    """The blocks in which a path keeps other pieces from crossing."""
    blocks = set()
    for one, other in map(sorted, diagonals):
        if not {(one[0], other[1]), (other[0], one[1])} & piece[1]:
            blocks.add((min(one[0], other[0]), min(one[1], other[1])))
    return frozenset(blocks)


def as_found(puzzle: Puzzle, pieces: Pieces, row: int) -> tuple[frozenset[Cell], set[Blocks]]:
    """Read a row's masks: cells, and sets of blocks."""
    width, low = puzzle.column_count, int(pieces.low[row])
    cells = frozenset(divmod(low + bit, width) for bit in bits(int(pieces.cells[row])))
    start, stop = pieces.block_offsets[row : row + 2]
    ways = {
        frozenset((r - 1, c - 1) for r, c in (divmod(low + bit, width) for bit in bits(int(mask))))
        for mask in pieces.blocks[start:stop]
    }
    assert len(ways) == stop - start
    return cells, ways


@settings(max_examples=150, deadline=None)
@given(instance=instances(most_cells=14))
def test_pieces_are_those_of_brute_force(instance: Instance) -> None:
    puzzle, rules, vocabulary = instance.puzzle, instance.rules, instance.vocabulary
    try:
        expected = pieces_of(puzzle, rules, vocabulary, Steps(MOST_STEPS))
    except TooLargeError:
        assume(False)
    lexicon = compile_lexicon(vocabulary.words.items())
    found = find_pieces(puzzle, rules, lexicon)
    words: set[Piece] = set()
    for row in range(len(found.words)):
        cells, ways = as_found(puzzle, found.words, row)
        piece = lexicon.word(int(found.words.word[row])), cells
        words.add(piece)
        assert piece in expected
        assert found.words.score[row] == vocabulary.score(rules, [piece])
        assert found.words.spans[row] == spans(puzzle, cells)
        round_it = {ways_round(piece, diagonals_of(path)) for path in expected[piece]}
        least = {way for way in round_it if not any(other < way for other in round_it)}
        assert ways == ({frozenset()} if rules.crossing else least)
    assert len(words) == len(found.words)
    assert words == {piece for piece in expected if piece[0] in vocabulary.words}
    compounds = {piece for piece in expected if piece[0] not in vocabulary.words}
    by_cells = Counter(
        (as_found(puzzle, found.compounds, row)[0], int(found.compounds.score[row]))
        for row in range(len(found.compounds))
    )
    assert by_cells == Counter((p[1], vocabulary.score(rules, [p])) for p in compounds)
    assert all(found.compounds.spans)
