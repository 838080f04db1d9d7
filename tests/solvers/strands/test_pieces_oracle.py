"""The pieces of a board are those of brute force, with the blocks that they close."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given, settings

from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.strands.paths import spell as spelled
from nightgrid.solvers.strands.pieces.pieces import Pieces, TooManyPiecesError, find_pieces
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from tests.drawn import drawn
from tests.oracles.strands_brute_force import (
    Cell,
    Path,
    Piece,
    Steps,
    TooLargeError,
    Vocabulary,
    cells_of,
    diagonals_of,
    pieces_of,
    spans,
)
from tests.solvers.strands.boards import Instance, board, instances, spell, walk

Blocks = frozenset[Cell]
"""2 x 2 blocks by their upper left cells."""
MOST_STEPS = 10_000


def bits(mask: int) -> list[int]:
    return [bit for bit in range(64) if mask >> bit & 1]


def ways_round(piece: Piece, diagonals: frozenset[frozenset[Cell]]) -> Blocks:
    """The blocks that a path closes to other pieces."""
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


@settings(max_examples=drawn(120), deadline=None)
@given(instance=instances(most_cells=14))
def test_pieces_are_those_of_brute_force(instance: Instance) -> None:
    try:
        expected = pieces_of(
            instance.puzzle, instance.rules, instance.vocabulary, Steps(MOST_STEPS)
        )
    except TooLargeError:
        assume(False)
    hold_to(expected, instance)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_pieces_are_those_of_brute_force_on_boards_wider_than_a_mask(seed: int) -> None:
    rng = random.Random(seed)
    rules = Rules(min_letters=2, crossing=seed % 3 == 0, compound_parts=2 + seed % 3)
    puzzle = Puzzle(board=tuple("".join(rng.choices("ABCDEF", k=3)) for _ in range(25)))
    walks = [walk(puzzle, rules, cells_of(puzzle), rng.randint(1, 3), rng) for _ in range(12)]
    words = {spell(puzzle, path): rng.choice((300, 450, 733)) for path in walks}
    instance = Instance(puzzle=puzzle, rules=rules, vocabulary=Vocabulary(words=words))
    expected = pieces_of(puzzle, rules, instance.vocabulary, Steps(10**6))
    assert any(word not in words for word, _ in expected)
    hold_to(expected, instance)


@pytest.mark.parametrize("rows", [7, 8])
def test_a_compound_that_reaches_beyond_a_mask_is_refused(rows: int) -> None:
    puzzle = Puzzle(board=("A" + "Z" * 9, *["B" + "Z" * 9] * (rows - 2), "A" + "Z" * 9))
    lexicon = compile_lexicon([("A" + "B" * (rows - 3), 500), ("BA", 500)])
    if rows == 7:
        assert len(find_pieces(puzzle, Rules(), lexicon).compounds) == 1
    else:
        with pytest.raises(TooManyPiecesError, match="spans more than 64 cells"):
            find_pieces(puzzle, Rules(), lexicon)


def test_a_compound_has_the_best_score_of_its_cuts_and_gains_by_a_phrase() -> None:
    words = [("AB", 500), ("CD", 500), ("ABC", 400), ("D", 590)]
    plain, known = (compile_lexicon(words, phrases) for phrases in ([], [("ABC", "D", 250)]))
    rules = Rules(part_centizipf=100)
    puzzle = board("ABCD")
    assert find_pieces(puzzle, rules, plain).compounds.score.tolist() == [-800 - 100]
    # ABC D costs 810, and meets 160 more often than by chance, of which half counts.
    assert find_pieces(puzzle, rules, known).compounds.score.tolist() == [-810 - 100 + 80]
    # The cost of parts depends only on the words.
    rules = Rules(part_centizipf=100, compound_centibels=800)
    assert find_pieces(puzzle, rules, known).compounds.score.tolist() == [-800 - 100]


def hold_to(expected: dict[Piece, list[Path]], instance: Instance) -> None:
    """Compare the solver's pieces with every piece and its paths."""
    puzzle, rules, vocabulary = instance.puzzle, instance.rules, instance.vocabulary
    lexicon = compile_lexicon(vocabulary.words.items())
    found = find_pieces(puzzle, rules, lexicon)
    for kind, pieces in (("word", found.words), ("compound", found.compounds)):
        seen: set[Piece] = set()
        for row in range(len(pieces)):
            cells, ways = as_found(puzzle, pieces, row)
            piece = spelled((kind, row), found, lexicon), cells
            seen.add(piece)
            assert piece in expected
            assert pieces.score[row] == vocabulary.score(rules, [piece])
            assert pieces.spans[row] == spans(puzzle, cells)
            round_it = {ways_round(piece, diagonals_of(path)) for path in expected[piece]}
            least = {way for way in round_it if not any(other < way for other in round_it)}
            assert ways == ({frozenset()} if rules.crossing else least)
        assert len(seen) == len(pieces)
        is_word = kind == "word"
        assert seen == {p for p in expected if (p[0] in vocabulary.words) == is_word}
    compounds = found.compounds
    order = list(zip(compounds.low, compounds.cells, *found.codes.T, strict=True))
    assert order == sorted(set(order))
