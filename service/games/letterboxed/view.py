"""How Letter Boxed is shown: the polygon, its letters, the strokes of a chain, its words.

In a terminal a word's strokes have a style and, without colours, a pattern of dots; they start at
the word's number. In a picture every stroke has the colour of its word, an arrow at its end, and
its number in the order of play; strokes between the same two letters are bent apart.
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

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
from nightgrid.solvers.letterboxed.check import TooManyWaysError, strokes
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.sentences import plural

STEP_DOTS = 8
"""Least distance of two letters of one side."""
WIDTH_DOTS = 64
"""Smallest width of a board."""
WIDTH_MAX_DOTS = 320
"""Wider boards are not drawn."""
OUTSIDE_DOTS = 4
"""Distance from a letter's place on its side to the letter."""
STROKES_MAX = 2_000
"""Longer chains are only listed."""
OUTLINE = "bright_black"
PATTERNS = (
    ((True,), "⠒⠒⠒"),
    ((True, True, True, False, False, False), "⠒ ⠒"),
    ((True, False, False), "⠐⠐⠐"),
)
"""Which dots of a stroke are drawn, in rotation by word, and a sample of such a stroke."""
_COLLECTED, _FREE = "●", "○"

STEP_PX = 56
"""Smallest distance of two letters of one side."""
BOARD_PX = 300
"""Smallest width of the polygon."""
OUTSIDE_PX = 32
"""Distance from a side to the middle of its letters."""
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
"""Positions along a stroke at which its number may be, the best first."""

Place = tuple[int, int]
"""(side, letter on that side)."""
Point = complex
"""x + y j, in page coordinates: x grows to the right, y downwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Polygon:
    """A regular polygon whose sides have length 1, and the places of letters on them.

    Sides follow one another clockwise. With an even number of them the first one is on top, with an
    odd number a corner is. The letters of a side are read from left to right, those of a vertical
    side from the top. Fewer than three sides are separate, one above the other.
    """

    outline: list[list[Point]]
    """Its outline: the corners, or each side if there are fewer than three."""
    outward: list[Point]
    """The outward normal of each side, of length 1."""
    at: dict[Place, Point]
    """The position of each letter."""
    size: Point
    """Its width and height; its origin is 0, 0."""


def polygon(letters: Sequence[int]) -> Polygon:
    """Lay out a polygon whose sides have these numbers of letters."""
    n = len(letters)
    if n > 2:
        start = cmath.rect(0.5 / math.sin(math.pi / n), -math.pi / 2 - (n % 2 == 0) * math.pi / n)
        corners = [start * cmath.rect(1, 2 * math.pi * i / n) for i in range(n)]
        corner = complex(min(c.real for c in corners), min(c.imag for c in corners))
        outline = [[c - corner for c in corners]]
        sides = [[outline[0][i], outline[0][(i + 1) % n]] for i in range(n)]
        outward = [(end - start) * -1j for start, end in sides]
    else:
        sides = outline = [[i * 1j, 1 + i * 1j] for i in range(n)]
        outward = [(2 * i - 1) * 1j for i in range(n)]
    at: dict[Place, Point] = {}
    for i, count in enumerate(letters):
        first, last = sorted(sides[i], key=lambda end: (round(end.real, 6), end.imag))
        at |= {(i, j): first + (last - first) * (j + 1) / (count + 1) for j in range(count)}
    ends = list(itertools.chain(*outline))
    size = complex(max(end.real for end in ends), max(end.imag for end in ends))
    return Polygon(outline=outline, outward=outward, at=at, size=size)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stroke:
    number: int
    colour: str
    start: Point
    bend: Point
    end: Point

    def at(self, share: float) -> Point:
        """Return the point at a share of the curve."""
        rest = 1 - share
        return rest**2 * self.start + 2 * rest * share * self.bend + share**2 * self.end


def pens(count: int) -> list[tuple[str, str, tuple[bool, ...], str]]:
    """Return style, colour, pattern and sample for a number of words."""
    turns = zip(
        itertools.cycle(STYLES), itertools.cycle(STROKES), itertools.cycle(PATTERNS), strict=False
    )
    return [(style, colour, *how) for style, colour, how in itertools.islice(turns, count)]


def draw_board(puzzle: Puzzle, strokes: Sequence[Sequence[Place]] = ()) -> Text:
    """Draw a board, with the places that each word of a chain visits."""
    shape = polygon([len(side) for side in puzzle.sides])
    span = max(shape.size.real, shape.size.imag)
    scale = max(STEP_DOTS * (1 + max(map(len, puzzle.sides))), WIDTH_DOTS / span)
    if scale * span > WIDTH_MAX_DOTS:
        return Text(f"(a board of {len(puzzle.sides)} sides is too large to draw)")
    canvas = Canvas()

    def character(point: Point) -> tuple[int, int]:
        line = math.floor(scale * point.imag / DOTS_HIGH + 0.5)
        return line, math.floor(scale * point.real / DOTS_WIDE + 0.5)

    def draw_line(points: Sequence[Point], style: str, pattern: Sequence[bool] = (True,)) -> None:
        # From the centre of a character to that of another: strokes end in marks of letters.
        ends = [(x * DOTS_WIDE, y * DOTS_HIGH + DOTS_HIGH // 2) for y, x in map(character, points)]
        for start, end in itertools.pairwise(ends):
            canvas.line(start, end, style, pattern)

    for points in shape.outline:
        draw_line([*points, points[0]], OUTLINE)
    marks: dict[Place, tuple[str, str]] = {}
    for number, (word, (style, _, pattern, _)) in enumerate(
        zip(strokes, pens(len(strokes)), strict=True), 1
    ):
        draw_line([shape.at[place] for place in word], style, pattern)
        # The first letter of a word gets its number, whatever other words visit it.
        marks = dict.fromkeys(word, (_COLLECTED, style)) | marks
        if marks[word[0]][0] == _COLLECTED:
            marks[word[0]] = (_number(number), style)
    taken = {*map(character, shape.at.values())}
    for (i, j), point in shape.at.items():
        canvas.write(character(point), *marks.get((i, j), (_FREE, "")))
        away = OUTSIDE_DOTS / scale
        # Characters are coarse: move outwards if a mark or a letter is there.
        while (beside := character(point + away * shape.outward[i])) in taken:
            away += 1 / scale
        taken.add(beside)
        canvas.write(beside, puzzle.sides[i][j], "bold")
    return canvas.drawing()


board = draw_board


def list_words(words: Sequence[str]) -> Text:
    """List the words of a chain in playing order, in the style of their strokes."""
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
    """Return the places that each word visits; two words share the one between them.

    None if there are too many to draw, or too many ways of playing to choose one: then the words
    are only listed.
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
    """Draw a board as SVG, with the places that each word of a chain visits."""
    shape = polygon([len(side) for side in puzzle.sides])
    longest = max(map(len, puzzle.sides))
    scale = max(STEP_PX * (1 + longest), BOARD_PX / max(shape.size.real, shape.size.imag))
    edge_px = OUTSIDE_PX + LETTER_PX / 2
    size = scale * shape.size + 2 * complex(edge_px, edge_px)
    spoken = [title or "Letter Boxed board", " - ".join(puzzle.sides), ", ".join(words)]
    captions = _captions(words, places, max(CAPTION_CHARS, math.ceil(size.real) // CHAR_PX))
    said = ": ".join(part for part in spoken if part)
    picture = Picture(said, title, size.real, size.imag, captions)

    def on_page(point: Point) -> Point:
        return scale * point + complex(edge_px, edge_px)

    for ends in shape.outline:
        points = [_xy(on_page(end)) for end in ends]
        picture.add("polygon", points=points, fill=PAPER, stroke=LINE, stroke_width=3)
    at = {place: on_page(point) for place, point in shape.at.items()}
    strokes = list(_strokes(places, at))
    for stroke in strokes:
        _draw_stroke(picture, stroke)
    passed = {place for word in places for place in word}
    starts = {word[0]: colour for word, colour in zip(places[:1], STROKES, strict=False) if word}
    for (i, j), point in at.items():
        # A letter that no word uses is greyed out.
        ink = INK if (i, j) in passed or not places else FAINT
        fill = starts.get((i, j), INK if (i, j) in passed else PAPER)
        radius = NODE_PX + 2 if (i, j) in starts else NODE_PX
        x, y = _xy(point)
        picture.add("circle", cx=x, cy=y, r=radius, fill=fill, stroke=ink, stroke_width=2)
        beside = point + OUTSIDE_PX * shape.outward[i]
        picture.middle(*_xy(beside), puzzle.sides[i][j], LETTER_PX, fill=ink)
    _draw_numbers(picture, strokes, list(at.values()))
    return picture.text()


def _xy(point: Point) -> tuple[float, float]:
    return point.real, point.imag


def _unit(point: Point) -> Point:
    return point / (abs(point) or 1.0)


def _strokes(places: Sequence[Sequence[Place]], at: dict[Place, Point]) -> Iterator[_Stroke]:
    """Number the steps of all words, and bend apart those that join the same two letters."""
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
        one, other = (at[end] for end in pair)
        # 0, then alternating sides, further and further out.
        away = (turn + 1) // 2 * BEND_PX * (1 if turn % 2 else -1)
        bend = (one + other) / 2 - away * 1j * _unit(other - one)
        yield _Stroke(number=number, colour=colour, start=at[place], bend=bend, end=at[then])


def _draw_stroke(picture: Picture, stroke: _Stroke) -> None:
    curve = " ".join(f"{x:.1f} {y:.1f}" for x, y in map(_xy, (stroke.bend, stroke.end)))
    picture.add(
        "path",
        d=f"M{stroke.start.real:.1f} {stroke.start.imag:.1f}Q{curve}",
        fill="none",
        stroke=stroke.colour,
        stroke_width=STROKE_PX,
        stroke_linecap="round",
        class_="step",
        data_step=stroke.number,
    )
    ahead = _unit(stroke.end - stroke.bend)
    tip = stroke.end - NODE_PX * ahead
    wings = [tip + ARROW_PX * ahead * wing for wing in (-1 + 0.5j, -1 - 0.5j)]
    points = [_xy(point) for point in (tip, *wings)]
    picture.add("polygon", points=points, fill=stroke.colour, data_step=stroke.number)


def _draw_numbers(picture: Picture, strokes: Sequence[_Stroke], taken: list[Point]) -> None:
    """Place the numbers where they overlap neither each other nor a letter's mark, if possible."""
    for stroke in strokes:
        spots = [stroke.at(share) for share in _NUMBER_AT]
        gaps = [min((abs(spot - other) for other in taken), default=0.0) for spot in spots]
        free = (spot for spot, gap in zip(spots, gaps, strict=True) if gap > 2 * NUMBER_PX + 1)
        spot = next(free, spots[gaps.index(max(gaps))])
        taken.append(spot)
        of: dict[str, Any] = {"data_step": stroke.number}
        x, y = _xy(spot)
        picture.add("circle", cx=x, cy=y, r=NUMBER_PX, fill=stroke.colour, **of)
        picture.middle(x, y, str(stroke.number), 11, fill=PAPER, **of)


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


def describe(puzzle: Puzzle) -> str:
    """Count sides, letters and the board's own words."""
    words = puzzle.dictionary
    own = "" if words is None else f", {plural(len(words), 'word')}"
    return f"{plural(len(puzzle.sides), 'side')}, {plural(puzzle.letter_count, 'letter')}{own}"


def solution(puzzle: Puzzle, solution: Chain) -> Text:
    """Draw the strokes, and list the words below."""
    words = list_words(solution.words)
    sure = [Text(_sure(solution), "dim")] if solution.probability is not None else []
    return stacked(draw_board(puzzle, places_of(puzzle, solution)), Text(), words, *sure)


def line(solution: Chain) -> str:
    """Write the words, how many letters they take, and how sure it is that they are accepted."""
    about = ", ".join(filter(None, (f"{solution.letters} letters", _sure(solution))))
    return f"{' - '.join(solution.words)}  ({about})"


def _sure(solution: Chain) -> str:
    accepted = solution.probability
    return "" if accepted is None else f"{accepted:.0%} likely accepted"


def value(value: int, rules: str) -> str:
    """Format a number of words, or of letters if the fewest of these were asked for."""
    return plural(value, "letter" if "chains=fewest-letters" in rules.split() else "word")


def svg(puzzle: Puzzle, solution: Chain | None, title: str | None) -> str:
    """Draw the polygon and the strokes."""
    if solution is None:
        return draw_svg(puzzle, (), (), title)
    return draw_svg(puzzle, solution.words, places_of(puzzle, solution), title)
