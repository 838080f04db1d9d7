"""How Letter Boxed is shown: the polygon, its letters, the strokes of a chain, its words.

A word's strokes have a colour and, for where there is none, a pattern of dots. They begin where
the word's number stands.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from nightgrid.service.drawing import LINE_CHARS, STYLES, Drawing, Line, Run, View, plain, wrapped
from nightgrid.service.drawing.canvas import DOTS_HIGH, DOTS_WIDE, Canvas
from nightgrid.solvers.letterboxed.check import TooManyWaysError, strokes
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.sentences import plural

STEP_DOTS = 8
"""Least distance of two letters of one side."""
WIDTH_DOTS = 64
"""Least width of a board."""
WIDTH_MAX_DOTS = 320
"""Boards that would be wider are listed instead."""
OUTSIDE_DOTS = 4
"""From a letter's place on its side to the letter."""
STROKES_MAX = 2_000
"""Longer chains are listed alone."""

OUTLINE = "bright_black"
WORD_STYLES = STYLES
"""Styles of words, taken in turn."""
PATTERNS = (
    ((True,), "⠒⠒⠒"),
    ((True, True, True, False, False, False), "⠒ ⠒"),
    ((True, False, False), "⠐⠐⠐"),
)
"""Which dots of a stroke are drawn, word after word in turn, and a piece of such a stroke."""
_PENS = [
    (style, *pattern)
    for style, pattern in zip(WORD_STYLES, itertools.cycle(PATTERNS), strict=False)
]
"""Style, pattern and sample of words, taken in turn."""
_COLLECTED, _FREE = "●", "○"

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


def draw_board(puzzle: Puzzle, strokes: Sequence[Sequence[Place]] = ()) -> Drawing:
    """Draw a board, with the places that each word of a chain passes in turn."""
    shape = polygon([len(side) for side in puzzle.sides])
    left, top, right, below = shape.bounds
    span = max(right - left, below - top)
    scale = max(STEP_DOTS * (1 + max(map(len, puzzle.sides))), WIDTH_DOTS / span)
    if scale * span > WIDTH_MAX_DOTS:
        return _listed(puzzle)
    if sum(map(len, strokes)) > STROKES_MAX:
        strokes = ()
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
    for word, (style, pattern, _) in zip(strokes, itertools.cycle(_PENS), strict=False):
        for (side, place), (other, next_place) in itertools.pairwise(word):
            start, end = shape.places[side][place], shape.places[other][next_place]
            canvas.line(dot(start), dot(end), style, pattern)
    marks = _marks(strokes)
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


def list_words(words: Sequence[str]) -> Drawing:
    """List the words of a chain in the order in which they are played, as their strokes look."""
    pens = zip(words, itertools.cycle(_PENS), strict=False)
    items = (
        [(f"{_number(number)} {word} {sample}", style)]
        for number, (word, (style, _, sample)) in enumerate(pens, 1)
    )
    return wrapped(items, "   ", LINE_CHARS)


def _marks(strokes: Sequence[Sequence[Place]]) -> dict[Place, Run]:
    """Mark the letters of a chain: the first of a word by its number, until a later word's."""
    marks: dict[Place, Run] = {}
    numbered: set[Place] = set()
    pens = zip(strokes, itertools.cycle(_PENS), strict=False)
    for number, (word, (style, _, _)) in enumerate(pens, 1):
        for place in word:
            if place not in numbered:
                marks[place] = (_COLLECTED, style)
        if word and word[0] not in numbered:
            marks[word[0]] = (_number(number), style)
            numbered.add(word[0])
    return marks


def _number(number: int) -> str:
    return chr(ord("①") + number - 1) if number <= 20 else _COLLECTED


def _listed(puzzle: Puzzle) -> Drawing:
    lines: list[Line] = [((f"{len(puzzle.sides)} sides, too large a board to draw:", ""),)]
    for side in puzzle.sides[:20]:
        lines += plain(side if len(side) <= LINE_CHARS else f"{side[: LINE_CHARS - 3]}...")
    if len(puzzle.sides) > 20:
        lines += plain(f"and {len(puzzle.sides) - 20} more")
    return tuple(lines)


class LetterBoxedView(View):
    """See nightgrid.service.drawing.View."""

    def describe(self, puzzle: Puzzle) -> str:
        """Count sides, letters and the board's own words."""
        words = puzzle.dictionary
        own = "" if words is None else f", {plural(len(words), 'word')}"
        return f"{plural(len(puzzle.sides), 'side')}, {plural(puzzle.letter_count, 'letter')}{own}"

    def board(self, puzzle: Puzzle) -> Drawing:
        """Draw the polygon with its letters."""
        return draw_board(puzzle)

    def solution(self, puzzle: Puzzle | None, solution: Chain, *, scored: bool) -> Drawing:  # noqa: ARG002 - the words say what they are worth
        """Draw the strokes, and list the words below; a chain without its board has no strokes."""
        words = list_words(solution.words)
        if puzzle is None:
            return words
        return (*draw_board(puzzle, places_of(puzzle, solution)), (("", ""),), *words)

    def line(self, solution: Chain) -> str:
        """Write the words, and how many letters they take."""
        return f"{' - '.join(solution.words)}  ({solution.letters} letters)"

    def value(self, value: int, rules: str) -> str:
        """Write a number of words, or of letters where the fewest of these were asked for."""
        return plural(value, "letter" if "chains=fewest-letters" in rules.split() else "word")


def places_of(puzzle: Puzzle, chain: Chain) -> list[list[Place]]:
    """Return the places that each word passes; two words share the one between them.

    None where there are too many ways of playing to choose one: the words are listed alone.
    """
    try:
        places = strokes(puzzle, chain)
    except TooManyWaysError:
        return []
    words = []
    start = 0
    for word in chain.words:
        words.append(places[start : start + len(word)])
        start += len(word) - 1
    return words


VIEW = LetterBoxedView()
