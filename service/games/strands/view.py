"""How Strands is shown: the letters, and a stroke from letter to letter of a word.

In a terminal a letter is at every STEP columns and every second line, and the stroke is heavy for
the spangram. In a picture a letter is a circle, and its word a thick stroke of one colour.
Neighbouring words also have different colours.
"""

from __future__ import annotations

import itertools
from collections import Counter

from rich.cells import cell_len
from rich.text import Text

from nightgrid.service.drawing import LINE_CHARS
from nightgrid.service.drawing.colours import GOLD, PLAIN, TINTS, distinct_colours
from nightgrid.service.drawing.svg import CHAR_PX, MARGIN_PX, Picture
from nightgrid.service.drawing.text import STYLES, Canvas, stacked, wrapped
from nightgrid.solvers.reductions.one_in_three_to_strands import BLANK
from nightgrid.solvers.sentences import plural
from nightgrid.solvers.strands.puzzle import Cell, Puzzle
from nightgrid.solvers.strands.solution import Cover, Entry

STEP = 4
"""Columns from one letter to the next."""
GAP = STEP // 2
"""Columns from a letter to an adjacent diagonal stroke."""
SPANGRAM_STYLE = "bold bright_yellow"
_LIGHT, _HEAVY = ("─", "│"), ("━", "┃")
_FALLING, _RISING, _BOTH = "╲", "╱", "╳"  # noqa: RUF001 - strokes, not letters

STEP_PX = 56
"""Distance between the centres of two letters."""
RADIUS_PX = 21
STROKE_PX = 14
LETTER_PX = 24
CAPTION_CHARS = 38
"""Letters of a line of words below a board of six columns; wider boards have more."""
WORDS_MAX = 40
"""Most words that are listed below a picture."""


def inked(cover: Cover | None) -> list[tuple[Entry, str, str]]:
    """Assign a terminal style and a colour of pictures to every word, the spangram first."""
    if cover is None:
        return []
    themes = [entry for entry in cover.entries if entry is not cover.spangram]
    of = {cell: entry.word for entry in themes for cell in entry.path}
    beside: dict[str, set[str]] = {entry.word: set() for entry in themes}
    for (r, c), word in of.items():
        around = itertools.product((r - 1, r, r + 1), (c - 1, c, c + 1))
        beside[word] |= {of[cell] for cell in around if cell in of} - {word}
    turns = distinct_colours(beside, len(TINTS))
    return [
        (entry, SPANGRAM_STYLE, GOLD)
        if entry is cover.spangram
        else (entry, STYLES[turns[entry.word]], TINTS[turns[entry.word]])
        for entry in cover.entries
    ]


def draw(puzzle: Puzzle, cover: Cover | None = None) -> Text:
    """Draw a board with the paths of a cover; letters of words without a path have none."""
    canvas = Canvas()
    pitch = 1 if cover is None else 2
    styles: dict[Cell, str] = {}
    for entry, style, _ in inked(cover):
        _draw_path(canvas, entry, style, _HEAVY if style == SPANGRAM_STYLE else _LIGHT)
        styles |= dict.fromkeys(entry.path, style)
    for (r, c), letter in _letters(puzzle):
        canvas.write((pitch * r, STEP * c), letter, styles.get((r, c), ""))
        if cell_len(letter) == 2:
            canvas.texts[pitch * r, STEP * c + 1] = ("", "")
    return canvas.drawing()


board = draw


def _letters(puzzle: Puzzle) -> list[tuple[Cell, str]]:
    return [((r, c), letter) for r, row in enumerate(puzzle.board) for c, letter in enumerate(row)]


def _draw_path(canvas: Canvas, entry: Entry, style: str, strokes: tuple[str, str]) -> None:
    level, upright = strokes
    for (r, c), (below, right) in itertools.pairwise(entry.path):
        line, column = r + below, STEP * min(c, right)
        if r == below:
            canvas.write((line, column + 1), level * (STEP - 1), style)
        elif c == right:
            canvas.write((line, column), upright, style)
        else:
            place = (line, column + GAP)
            stroke = _FALLING if below - r == right - c else _RISING
            text, other = canvas.texts.get(place, (stroke, style))
            # Where two words cross, the crossing belongs to neither.
            mark = stroke if text == stroke else _BOTH
            canvas.write(place, mark, style if style == other else "")


def list_words(cover: Cover) -> Text:
    """List a cover's words: the spangram by its parts, then the theme words."""
    lines = [
        Text.assemble("Spangram: ", (spell(entry), style))
        for entry, style, _ in inked(cover)
        if entry is cover.spangram
    ]
    words = [(spell(entry), style) for entry, style, _ in inked(cover)[len(lines) :]]
    head = f"{plural(len(words), 'theme word')}: " if lines else "Words: "
    times = Counter(word for word, _ in words)
    # One item a word: boards with repeated words may have hundreds of the same.
    styled = [
        (word, style) if times[word] == 1 else (f"{word} x {times[word]:,}", "")
        for word, style in dict(words).items()
    ]
    items = [Text.assemble(word, ",") for word in styled[:-1]] + [Text.assemble(*styled[-1:])]
    for i, line in enumerate(wrapped(items, " ", LINE_CHARS - len(head))):
        lines.append(Text(" " * len(head) if i else head).append_text(line))
    return stacked(*lines)


def spell(entry: Entry) -> str:
    """Format a word with spaces between the words that it is joined from."""
    return " ".join(entry.components)


def svg(
    puzzle: Puzzle, cover: Cover | None = None, title: str | None = None, note: str = ""
) -> str:
    """Draw a board, with the words of a cover, as the text of an SVG file.

    `title` is above it, `note` below the words.
    """
    wide = (puzzle.column_count - 1) * STEP_PX + 2 * RADIUS_PX
    high = (puzzle.row_count - 1) * STEP_PX + 2 * RADIUS_PX
    words = [word for word in inked(cover) if word[0].word != BLANK]
    captions = []
    if len(words) <= WORDS_MAX:
        themes = [spell(entry) for entry, _, colour in words if colour != GOLD]
        items = [Text(f"{word},") for word in themes[:-1]] + [*map(Text, themes[-1:])]
        captions = [Text.assemble((spell(e), "bold")) for e, _, colour in words if colour == GOLD]
        captions += wrapped(items, " ", max(CAPTION_CHARS, (wide + 2 * MARGIN_PX) // CHAR_PX))
    named = "; ".join(spell(entry) for entry, _, _ in words[:WORDS_MAX])
    spoken = ": ".join(part for part in (title or "Strands board", named) if part)
    picture = Picture(spoken, title, wide, high, captions + [Text(note)] * bool(note))
    centre = {
        (r, c): (RADIUS_PX + c * STEP_PX, RADIUS_PX + r * STEP_PX) for (r, c), _ in _letters(puzzle)
    }
    look = {"fill": "none", "stroke_linejoin": "round", "stroke_linecap": "round"}
    for entry, _, colour in words:
        if len(entry.path) > 1:
            points = [centre[cell] for cell in entry.path]
            picture.add("polyline", points=points, stroke=colour, stroke_width=STROKE_PX, **look)
    owner = {cell: colour for entry, _, colour in words for cell in entry.path}
    for (r, c), letter in _letters(puzzle):
        if letter != BLANK:
            (x, y), fill = centre[r, c], owner.get((r, c), PLAIN)
            picture.add("circle", cx=x, cy=y, r=RADIUS_PX, fill=fill, data_cell=f"{r},{c}")
            gold = {"font_weight": "700", "class_": "on-gold"}
            picture.middle(x, y, letter, LETTER_PX, **({"font_weight": "500"}, gold)[fill == GOLD])
    return picture.text()


def describe(puzzle: Puzzle) -> str:
    """Describe the size, and the number of words if known."""
    words = puzzle.theme_words
    known = "" if words is None else f", {plural(words, 'theme word')}"
    return f"{puzzle.row_count} x {puzzle.column_count} letters{known}"


def solution(puzzle: Puzzle, solution: Cover) -> Text:
    """Draw the paths, and list the words below, with the score if it was computed."""
    score = [Text(f"Score: {score_text(solution)}")] if solution.score else []
    return stacked(draw(puzzle, solution), Text(), list_words(solution), *score)


def line(solution: Cover) -> str:
    """Format the score, the spangram and the theme words."""
    words = ", ".join(spell(entry) for entry in solution.theme_words)
    head = "" if solution.spangram is None else f"{spell(solution.spangram)}: "
    return f"{score_text(solution)}  {head}{words}"


def score_text(cover: Cover) -> str:
    """Format a score in decades of probability."""
    return f"{cover.score / 100:.2f}"
