"""Boards of Letter Boxed for corpora: `letterboxed:n=1000,sides=4,seed=7`."""

from __future__ import annotations

from nightgrid.archive.games.generator_spec import (
    SEEDS_PER_STREAM,
    Board,
    Generated,
    Make,
    read_number,
)
from nightgrid.solvers.letterboxed.generate import LETTERS_PER_SIDE, SIDES, VOWELS_MIN, generate


def maker(spec: Generated) -> Make:
    """Parse the form of the boards, and check it with one."""
    said = dict(spec.options)
    sides = read_number("sides", said.get("sides", str(SIDES)), 2, 100)
    letters = read_number("letters", said.get("letters", str(LETTERS_PER_SIDE)), 1, 100)
    usual = min(VOWELS_MIN, sides * letters)
    vowels = read_number("vowels", said.get("vowels", str(usual)), 0, sides * letters)

    def board(i: int) -> Board:
        seed = spec.seed * SEEDS_PER_STREAM + i
        puzzle = generate(seed, sides=sides, letters_per_side=letters, vowels_min=vowels)
        return Board(puzzle, None)

    board(0)
    return lambda start, stop: map(board, range(start, stop))
