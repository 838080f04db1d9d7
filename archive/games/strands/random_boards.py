"""Boards of Strands for corpora: `strands:n=1000,seed=7`."""

from __future__ import annotations

from collections.abc import Iterator

from nightgrid.archive.games.generator_spec import Board, Generated, Make
from nightgrid.archive.games.strands.themes import strands_board


def maker(spec: Generated) -> Make:
    """Lay the themes in turn."""

    def make(start: int, stop: int) -> Iterator[Board]:
        return (Board(strands_board(spec.seed, i)[0], None) for i in range(start, stop))

    return make
