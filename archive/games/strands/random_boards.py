"""The project's own themes, and boards of Strands made from them: `strands:n=1000,seed=7`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nightgrid.archive.games.generator_spec import Board, Generated, Make
from nightgrid.solvers.strands.generate import generate, to_payload
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.solution import Cover

BOARDS_A_SEED = 100_000
"""Stride of layout numbers: as long as a seed has no more boards, they are independent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """The words of a board. `parts` are the words that the spangram is joined from."""

    clue: str
    parts: tuple[str, ...]
    theme_words: tuple[str, ...]
    coordinates: bool = True
    """Whether the payload has the cells of the words; published ones do not always."""


THEMES = (
    Theme(
        clue="Take an umbrella",
        parts=("WEATHER", "REPORT"),
        theme_words=("CLOUD", "STORM", "BREEZE", "DRIZZLE", "THUNDER", "SLEET"),
    ),
    Theme(
        clue="In the second drawer",
        parts=("KITCHEN", "TOOLS"),
        theme_words=("COLANDER", "WHISK", "LADLE", "GRATER", "TONGS", "SPATULA"),
    ),
    Theme(
        clue="Watch the stick",
        parts=("ORCHESTRA",),
        theme_words=("VIOLIN", "VIOLA", "CELLO", "FLUTE", "OBOE", "TRUMPET", "BASSOON"),
    ),
    Theme(
        clue="Lights out",
        parts=("STARRY", "NIGHT"),
        theme_words=("COMET", "PLANET", "METEOR", "GALAXY", "NEBULA", "MOON", "MARS"),
        coordinates=False,
    ),
    Theme(
        clue="Anyone can help",
        parts=("OPEN", "SOURCE"),
        theme_words=("COMPILER", "COMMIT", "RELEASE", "LICENSE", "MERGE", "PATCH"),
    ),
)


def strands_payload(date: dt.date, seed: int, number: int) -> dict[str, Any]:
    """Lay out the next theme in turn, as the payload of a date."""
    theme = THEMES[number % len(THEMES)]
    puzzle, cover = strands_board(seed, number)
    value = to_payload(date, puzzle, cover, theme.clue)
    return value if theme.coordinates else value | {"themeCoords": None, "spangramCoords": None}


def strands_board(seed: int, number: int) -> tuple[Puzzle, Cover]:
    """Lay out the next theme in turn for board `number` of a seed."""
    theme = THEMES[number % len(THEMES)]
    return generate("".join(theme.parts), theme.theme_words, seed * BOARDS_A_SEED + number)


def maker(spec: Generated) -> Make:
    """Lay out the themes in turn."""

    def make(start: int, stop: int) -> Iterator[Board]:
        return (Board(strands_board(spec.seed, i)[0], None) for i in range(start, stop))

    return make
