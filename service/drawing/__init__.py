"""Drawings for a terminal, as lines of text in runs, and what people see of a game: its view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from nightgrid.solvers.plug import beside

Run = tuple[str, str]
"""A text and its style as rich names them: "bold yellow", "" for none."""
Line = tuple[Run, ...]
Drawing = tuple[Line, ...]

GROUND = " on "
"""What stands in a style that colours the ground, as rich names it: "black on #aedfee"."""
FULL = "█"
EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
LINE_CHARS = 76
"""Lists below a drawing are broken at this width."""
STYLES = (
    "bright_cyan",
    "bright_yellow",
    "bright_magenta",
    "bright_green",
    "bright_blue",
    "bright_red",
)
"""Styles of what stands side by side, taken in turn: each has a hue of its own."""


def joined(characters: Iterable[Run]) -> Line:
    """Write characters as a line, neighbours of one style together.

    A space takes any style, but for one with a ground.
    """
    runs: list[Run] = []
    for text, own in characters:
        bare = text == " " and runs and GROUND not in f"{own}{runs[-1][1]}"
        style = runs[-1][1] if bare else own
        if runs and runs[-1][1] == style:
            runs[-1] = (runs[-1][0] + text, style)
        else:
            runs.append((text, style))
    return tuple(runs)


def wrapped(items: Iterable[Sequence[Run]], separator: str, width: int) -> Drawing:
    """Write items of one or more runs after one another, on a new line what does not fit."""
    lines: list[list[Run]] = []
    used = 0
    for runs in items:
        size = sum(len(text) for text, _ in runs)
        if lines and used + len(separator) + size <= width:
            lines[-1].append((separator, ""))
            used += len(separator)
        else:
            lines.append([])
            used = 0
        lines[-1] += runs
        used += size
    return tuple(map(tuple, lines))


def bar(share: float, width: int) -> str:
    """Draw a bar of a share of so many characters, to an eighth of one; nothing for less."""
    full, eighths = divmod(round(8 * width * share), 8)
    return FULL * full + EIGHTHS[eighths]


def plain(text: str) -> Drawing:
    """Make a drawing of a text without styles."""
    return tuple(((line, ""),) for line in text.split("\n"))


def text_of(drawing: Drawing) -> str:
    """Write a drawing without its styles."""
    return "\n".join("".join(text for text, _ in line) for line in drawing)


class View(Protocol):
    """What people see of a game. Puzzles and solutions are the game's own values."""

    def describe(self, puzzle: Any) -> str:
        """Describe in a few words what a puzzle consists of."""

    def board(self, puzzle: Any) -> Drawing:
        """Draw a puzzle, with everything that has to be known to solve it."""

    def solution(self, puzzle: Any | None, solution: Any, *, scored: bool) -> Drawing:
        """Draw a solution on its board; `scored` solutions say what they are worth.

        A solution from the lake may come without its puzzle, and is drawn by itself.
        """

    def line(self, solution: Any) -> str:
        """Write a solution as one line."""

    def value(self, value: int, rules: str) -> str:  # noqa: ARG002 - in most games the same
        """Write what a solution is worth under the rules: "2 words"."""
        return str(value)

    def svg(self, puzzle: Any, solution: Any | None, title: str | None) -> str:
        """Draw a puzzle, with its solution if there is one, as the text of an SVG file.

        Calls `draw_svg` of the module `svg` beside the view's. Raises PermanentError for a board
        too large for a picture.
        """
        text: str = beside(self, "svg").draw_svg(puzzle, solution, title)
        return text
