"""Pictures of Letter Boxed as SVG: the polygon, its letters outside, the strokes of a chain inside.

Every stroke has the colour of its word, an arrow at its end, and its number in the order of play
near its beginning. Strokes between the same two letters are bent apart.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nightgrid.service.drawing.colours import FAINT, INK, LINE, PAPER, STROKES
from nightgrid.service.drawing.svg import CHAR_PX, Caption, Picture
from nightgrid.service.games.letterboxed.view import (
    STROKES_MAX,
    Place,
    Point,
    places_of,
    polygon,
)
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.solution import Chain

STEP_PX = 56
"""Least distance of two letters of one side."""
BOARD_PX = 300
"""Least width of the polygon."""
BOARD_MAX_PX = 4_000
OUTSIDE_PX = 32
"""From a side to the middle of its letters."""
LETTER_PX = 28
NODE_PX = 7
"""Radius of the mark of a letter on its side."""
STROKE_PX = 3.5
BEND_PX = 26
"""How far the second stroke between two letters is bent away from the straight line."""
NUMBER_PX = 9
"""Radius of the disc that holds the number of a stroke."""
ARROW_PX = 11
LINE_CHARS = 38

_NUMBER_AT = (0.3, 0.24, 0.36, 0.18, 0.42, 0.5, 0.58)
"""Shares of a stroke at which its number may stand, the best one first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stroke:
    number: int
    colour: str
    start: Point
    bend: Point
    end: Point

    def at(self, share: float) -> Point:
        """Return the point after a share of the curve."""
        rest = 1 - share
        (ax, ay), (mx, my), (bx, by) = self.start, self.bend, self.end
        a, m, b = rest**2, 2 * rest * share, share**2
        return (a * ax + m * mx + b * bx, a * ay + m * my + b * by)


def draw_svg(puzzle: Puzzle, chain: Chain | None = None, title: str | None = None) -> str:
    """Draw a board, with the strokes of a chain, as the text of an SVG file.

    Raises PermanentError for a board too large for a picture.
    """
    if chain is None:
        return draw_words(puzzle, (), (), title)
    return draw_words(puzzle, chain.words, places_of(puzzle, chain), title)


def draw_words(
    puzzle: Puzzle,
    words: Sequence[str],
    places: Sequence[Sequence[Place]],
    title: str | None = None,
) -> str:
    """Draw a board, with the places that each word of a chain passes.

    Raises PermanentError for a board too large for a picture.
    """
    shape = polygon([len(side) for side in puzzle.sides])
    left, top, right, below = shape.bounds
    longest = max(map(len, puzzle.sides))
    scale = max(STEP_PX * (1 + longest), BOARD_PX / max(right - left, below - top))
    edge_px = OUTSIDE_PX + LETTER_PX / 2
    wide = scale * (right - left) + 2 * edge_px
    if wide > BOARD_MAX_PX:
        raise PermanentError(
            f"{len(puzzle.sides)} sides of up to {longest} letters are too many for a picture"
        )
    if sum(map(len, places)) > STROKES_MAX:
        places = ()
    spoken = [title or "Letter Boxed board", " - ".join(puzzle.sides), ", ".join(words)]
    picture = Picture(
        ": ".join(part for part in spoken if part),
        title,
        wide,
        scale * (below - top) + 2 * edge_px,
        _captions(words, places, max(LINE_CHARS, math.ceil(wide) // CHAR_PX)),
    )
    shift_x = picture.width / 2 - scale * (left + right) / 2
    shift_y = picture.top + edge_px - scale * top

    def on_page(point: Point) -> Point:
        return (scale * point[0] + shift_x, scale * point[1] + shift_y)

    lines: Sequence[Sequence[Point]] = [shape.corners] if shape.corners else shape.segments
    for ends in lines:
        points = list(map(on_page, ends))
        picture.add("polygon", points=points, fill=PAPER, stroke=LINE, stroke_width=3)
    at = {
        (i, j): on_page(point)
        for i, side in enumerate(shape.places)
        for j, point in enumerate(side)
    }
    strokes = list(_strokes(places, at))
    for stroke in strokes:
        _draw_stroke(picture, stroke)
    passed = {place for word in places for place in word}
    starts = {word[0]: colour for word, colour in zip(places[:1], STROKES, strict=False) if word}
    for (i, j), (x, y) in at.items():
        # A letter that no word collects stands back.
        ink = INK if (i, j) in passed or not places else FAINT
        fill = starts.get((i, j), INK if (i, j) in passed else PAPER)
        radius = NODE_PX + 2 if (i, j) in starts else NODE_PX
        picture.add("circle", cx=x, cy=y, r=radius, fill=fill, stroke=ink, stroke_width=2)
        away_x, away_y = (OUTSIDE_PX * part for part in shape.outward[i])
        picture.middle(x + away_x, y + away_y, puzzle.sides[i][j], LETTER_PX, fill=ink)
    _draw_numbers(picture, strokes, list(at.values()))
    return picture.text()


def _strokes(places: Sequence[Sequence[Place]], at: dict[Place, Point]) -> Iterator[_Stroke]:
    """Number the steps of all words, and bend those apart that join the same two letters."""
    steps = [
        (place, then, colour)
        for word, colour in zip(places, itertools.cycle(STROKES), strict=False)
        for place, then in itertools.pairwise(word)
    ]
    seen: Counter[tuple[Place, Place]] = Counter()
    for number, (place, then, colour) in enumerate(steps, 1):
        pair = (min(place, then), max(place, then))
        turn = seen[pair]
        seen[pair] += 1
        (ax, ay), (bx, by) = (at[end] for end in pair)
        length = math.hypot(bx - ax, by - ay) or 1.0
        # 0, then to one side and to the other, further and further.
        away = (turn + 1) // 2 * BEND_PX * (1 if turn % 2 else -1)
        bend = (
            (ax + bx) / 2 + away * (by - ay) / length,
            (ay + by) / 2 - away * (bx - ax) / length,
        )
        yield _Stroke(number=number, colour=colour, start=at[place], bend=bend, end=at[then])


def _draw_stroke(picture: Picture, stroke: _Stroke) -> None:
    (ax, ay), (mx, my), (bx, by) = stroke.start, stroke.bend, stroke.end
    picture.add(
        "path",
        d=f"M{ax:.1f} {ay:.1f}Q{mx:.1f} {my:.1f} {bx:.1f} {by:.1f}",
        fill="none",
        stroke=stroke.colour,
        stroke_width=STROKE_PX,
        stroke_linecap="round",
        class_="step",
        data_step=stroke.number,
    )
    length = math.hypot(bx - mx, by - my) or 1.0
    ux, uy = (bx - mx) / length, (by - my) / length
    tip = (bx - ux * NODE_PX, by - uy * NODE_PX)
    back = (tip[0] - ux * ARROW_PX, tip[1] - uy * ARROW_PX)
    half = ARROW_PX / 2
    points = [
        tip,
        (back[0] - uy * half, back[1] + ux * half),
        (back[0] + uy * half, back[1] - ux * half),
    ]
    picture.add("polygon", points=points, fill=stroke.colour, data_step=stroke.number)


def _draw_numbers(picture: Picture, strokes: Sequence[_Stroke], taken: list[Point]) -> None:
    """Put the numbers where they cover neither one another nor a letter's mark, if that can be."""
    for stroke in strokes:
        spots = [stroke.at(share) for share in _NUMBER_AT]
        gaps = [min((math.dist(spot, other) for other in taken), default=0.0) for spot in spots]
        free = (spot for spot, gap in zip(spots, gaps, strict=True) if gap > 2 * NUMBER_PX + 1)
        spot = next(free, spots[gaps.index(max(gaps))])
        taken.append(spot)
        of: dict[str, Any] = {"data_step": stroke.number}
        picture.add("circle", cx=spot[0], cy=spot[1], r=NUMBER_PX, fill=stroke.colour, **of)
        picture.middle(*spot, str(stroke.number), 11, fill=PAPER, **of)


def _captions(
    words: Sequence[str], places: Sequence[Sequence[Place]], width: int
) -> Sequence[Caption]:
    """List the words below the board in their colours, each with the numbers of its strokes."""
    lines: list[list[tuple[str, str, bool]]] = []
    used = 0
    first = 1
    for i, word in enumerate(words):
        runs = [(word, STROKES[i % len(STROKES)], True)]
        if i < len(places) and len(places[i]) > 1:
            last = first + len(places[i]) - 2
            runs.append((f"{first}-{last}" if last > first else str(first), INK, False))
            first = last + 1
        size = sum(len(text) + 1 for text, _, _ in runs)
        if lines and used + 2 + size <= width:
            lines[-1].append(("·", INK, False))
        else:
            lines.append([])
            used = -2
        lines[-1] += runs
        used += 2 + size
    return lines
