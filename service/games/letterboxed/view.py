"""How Letter Boxed is shown: the polygon, its letters, the strokes of a chain, its words.

In a terminal a word's strokes have a style and, for where there is none, a pattern of dots; they
begin where the word's number stands. In a picture every stroke has the colour of its word, an arrow
at its end, and its number in the order of play; strokes between the same two letters are bent
apart.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from nightgrid.service.drawing import View
from nightgrid.service.drawing.colours import FAINT, INK, LINE, PAPER, STROKES
from nightgrid.service.drawing.svg import CHAR_PX, Picture
from nightgrid.service.drawing.text import (
    DOTS_HIGH,
    DOTS_WIDE,
    STYLES,
    Canvas,
    stacked,
    wrapped,
)
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.check import TooManyWaysError, strokes
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.sentences import plural

STEP_DOTS = 8
"""Least distance of two letters of one side."""
WIDTH_DOTS = 64
"""Least width of a board."""
WIDTH_MAX_DOTS = 320
"""Boards that would be wider are not drawn."""
OUTSIDE_DOTS = 4
"""From a letter's place on its side to the letter."""
STROKES_MAX = 2_000
"""Longer chains are listed alone."""
OUTLINE = "bright_black"
PATTERNS = (
    ((True,), "⠒⠒⠒"),
    ((True, True, True, False, False, False), "⠒ ⠒"),
    ((True, False, False), "⠐⠐⠐"),
)
"""Which dots of a stroke are drawn, word after word in turn, and a piece of such a stroke."""
_COLLECTED, _FREE = "●", "○"

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
CAPTION_CHARS = 38

_NUMBER_AT = (0.3, 0.24, 0.36, 0.18, 0.42, 0.5, 0.58)
"""Shares of a stroke at which its number may stand, the best one first."""

Place = tuple[int, int]
"""(side, letter on that side)."""
Point = tuple[float, float]

_UPRIGHT = 1e-9
"""Sides that differ by less than this in x stand upright."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Polygon:
    """A regular polygon whose sides have length 1, and the places of letters on them.

    Sides follow one another clockwise. With an even number of them the first one lies on top, with
    an odd number a corner does. The letters of a side are read from left to right, of an upright
    side from above. Coordinates are those of a page: x grows to the right, y downwards.
    """

    corners: tuple[Point, ...]
    """Corner i begins side i; the side ends where the next one begins. Fewer than
    three sides have no corners: they lie apart, one above the other."""
    segments: tuple[tuple[Point, Point], ...]
    """The ends of each side, in the order in which its letters are read."""
    outward: tuple[Point, ...]
    """The direction out of the polygon at each side, of length 1."""
    places: tuple[tuple[Point, ...], ...]
    """The place of each letter of each side."""

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right and lower end."""
        ends = [point for segment in self.segments for point in segment]
        xs, ys = [x for x, _ in ends], [y for _, y in ends]
        return min(xs), min(ys), max(xs), max(ys)


def polygon(letters: Sequence[int]) -> Polygon:
    """Lay out a polygon whose sides have these numbers of letters."""
    sides = len(letters)
    corners = _corners(sides) if sides > 2 else ()
    segments = []
    outward = []
    for i in range(sides):
        if corners:
            (ax, ay), (bx, by) = start, end = corners[i], corners[(i + 1) % sides]
            outward.append((by - ay, ax - bx))
        else:
            start, end = (0.0, float(i)), (1.0, float(i))
            outward.append((0.0, 2.0 * i - 1))
        if (start[0] > end[0] + _UPRIGHT) or (
            abs(start[0] - end[0]) < _UPRIGHT and start[1] > end[1]
        ):
            start, end = end, start
        segments.append((start, end))
    places = tuple(
        tuple(_between(segment, (j + 1) / (count + 1)) for j in range(count))
        for segment, count in zip(segments, letters, strict=True)
    )
    return Polygon(corners=corners, segments=tuple(segments), outward=tuple(outward), places=places)


def _corners(sides: int) -> tuple[Point, ...]:
    radius = 0.5 / math.sin(math.pi / sides)
    first = -math.pi / 2 - (math.pi / sides if sides % 2 == 0 else 0.0)
    angles = (first + 2 * math.pi * i / sides for i in range(sides))
    return tuple((radius * math.cos(angle), radius * math.sin(angle)) for angle in angles)


def _between(segment: tuple[Point, Point], share: float) -> Point:
    (ax, ay), (bx, by) = segment
    return (ax + share * (bx - ax), ay + share * (by - ay))


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


def pens(count: int) -> list[tuple[str, str, tuple[bool, ...], str]]:
    """Return style, colour, pattern and sample of so many words."""
    turns = zip(
        itertools.cycle(STYLES), itertools.cycle(STROKES), itertools.cycle(PATTERNS), strict=False
    )
    return [(style, colour, *how) for style, colour, how in itertools.islice(turns, count)]


def draw_board(puzzle: Puzzle, strokes: Sequence[Sequence[Place]] = ()) -> Text:
    """Draw a board, with the places that each word of a chain passes in turn."""
    shape = polygon([len(side) for side in puzzle.sides])
    left, top, right, below = shape.bounds
    span = max(right - left, below - top)
    scale = max(STEP_DOTS * (1 + max(map(len, puzzle.sides))), WIDTH_DOTS / span)
    if scale * span > WIDTH_MAX_DOTS:
        return Text(f"(a board of {len(puzzle.sides)} sides is too large to draw)")
    canvas = Canvas()

    def character(point: Point) -> tuple[int, int]:
        line = math.floor(scale * point[1] / DOTS_HIGH + 0.5)
        return line, math.floor(scale * point[0] / DOTS_WIDE + 0.5)

    def dot(point: Point) -> tuple[int, int]:
        """Take the middle of a character, so that strokes end in the mark of their letter."""
        line, column = character(point)
        return column * DOTS_WIDE, line * DOTS_HIGH + DOTS_HIGH // 2

    for start, end in shape.segments:
        canvas.line(dot(start), dot(end), OUTLINE)
    marks: dict[Place, tuple[str, str]] = {}
    for number, (word, (style, _, pattern, _)) in enumerate(
        zip(strokes, pens(len(strokes)), strict=True), 1
    ):
        for (side, place), (other, then) in itertools.pairwise(word):
            canvas.line(
                dot(shape.places[side][place]), dot(shape.places[other][then]), style, pattern
            )
        # The first letter of a word has its number, whatever other words pass it.
        marks = dict.fromkeys(word, (_COLLECTED, style)) | marks
        if marks[word[0]][0] == _COLLECTED:
            marks[word[0]] = (_number(number), style)
    taken = {character(point) for side in shape.places for point in side}
    for i, letters in enumerate(puzzle.sides):
        outward_x, outward_y = shape.outward[i]
        for j, letter in enumerate(letters):
            mark, style = marks.get((i, j), (_FREE, ""))
            x, y = shape.places[i][j]
            canvas.write(character((x, y)), mark, style)
            away = OUTSIDE_DOTS / scale
            # Characters are coarse: further out, if a mark or a letter stands there.
            while (beside := character((x + outward_x * away, y + outward_y * away))) in taken:
                away += 1 / scale
            taken.add(beside)
            canvas.write(beside, letter, "bold")
    return canvas.drawing()


def list_words(words: Sequence[str]) -> Text:
    """List the words of a chain in the order in which they are played, as their strokes look."""
    items = (
        Text.assemble((f"{_number(number)} {word} {sample}", style))
        for number, (word, (style, _, _, sample)) in enumerate(
            zip(words, pens(len(words)), strict=True), 1
        )
    )
    return stacked(*wrapped(items, "   "))


def _number(number: int) -> str:
    return chr(ord("①") + number - 1) if number <= 20 else _COLLECTED


def places_of(puzzle: Puzzle, chain: Chain) -> list[list[Place]]:
    """Return the places that each word passes; two words share the one between them.

    None where there are too many to draw, or too many ways of playing to choose one: the words are
    listed alone.
    """
    try:
        places = strokes(puzzle, chain)
    except TooManyWaysError:
        return []
    if len(places) > STROKES_MAX:
        return []
    words = []
    start = 0
    for word in chain.words:
        words.append(places[start : start + len(word)])
        start += len(word) - 1
    return words


def draw_svg(
    puzzle: Puzzle,
    words: Sequence[str],
    places: Sequence[Sequence[Place]],
    title: str | None = None,
) -> str:
    """Draw a board as SVG, with the places that each word of a chain passes."""
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
    spoken = [title or "Letter Boxed board", " - ".join(puzzle.sides), ", ".join(words)]
    picture = Picture(
        ": ".join(part for part in spoken if part),
        title,
        wide,
        scale * (below - top) + 2 * edge_px,
        _captions(words, places, max(CAPTION_CHARS, math.ceil(wide) // CHAR_PX)),
    )
    shift_x, shift_y = edge_px - scale * left, edge_px - scale * top

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


def _captions(words: Sequence[str], places: Sequence[Sequence[Place]], width: int) -> list[Text]:
    """List the words below the board in their colours, each with the numbers of its strokes."""
    items = []
    first = 1
    for word, (_, colour, _, _), passed in itertools.zip_longest(words, pens(len(words)), places):
        items.append(Text.assemble((word, f"bold {colour}")))
        if passed and len(passed) > 1:
            last = first + len(passed) - 2
            items[-1].append(f" {first}-{last}" if last > first else f" {first}")
            first = last + 1
    return wrapped(items, " · ", width)


class LetterBoxedView(View):
    """See nightgrid.service.drawing.View."""

    def describe(self, puzzle: Puzzle) -> str:
        """Count sides, letters and the board's own words."""
        words = puzzle.dictionary
        own = "" if words is None else f", {plural(len(words), 'word')}"
        return f"{plural(len(puzzle.sides), 'side')}, {plural(puzzle.letter_count, 'letter')}{own}"

    def board(self, puzzle: Puzzle) -> Text:
        """Draw the polygon with its letters."""
        return draw_board(puzzle)

    def solution(self, puzzle: Puzzle, solution: Chain) -> Text:
        """Draw the strokes, and list the words below."""
        words = list_words(solution.words)
        return stacked(draw_board(puzzle, places_of(puzzle, solution)), Text(), words)

    def line(self, solution: Chain) -> str:
        """Write the words, and how many letters they take."""
        return f"{' - '.join(solution.words)}  ({solution.letters} letters)"

    def value(self, value: int, rules: str) -> str:
        """Write a number of words, or of letters where the fewest of these were asked for."""
        return plural(value, "letter" if "chains=fewest-letters" in rules.split() else "word")

    def svg(self, puzzle: Puzzle, solution: Chain | None, title: str | None) -> str:
        """Draw the polygon and the strokes."""
        if solution is None:
            return draw_svg(puzzle, (), (), title)
        return draw_svg(puzzle, solution.words, places_of(puzzle, solution), title)


VIEW = LetterBoxedView()
