"""Draw games: the view of a game draws boards for a terminal and as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.text import Text

LINE_CHARS = 76
"""Width at which lists below a drawing are wrapped."""
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


def bar(share: float, width: int) -> str:
    """Return a bar for a share of `width` characters, to an eighth of one; empty if less."""
    full, eighths = divmod(round(8 * width * share), 8)
    return "█" * full + _EIGHTHS[eighths]


class View(Protocol):
    """How a game is shown: functions of its module `view`.

    Puzzles and solutions are the game's own values.
    """

    def describe(self, puzzle: Any) -> str:
        """Describe in a few words the parts of a puzzle."""

    def board(self, puzzle: Any) -> Text:
        """Draw a puzzle, with everything needed to solve it."""

    def solution(self, puzzle: Any, solution: Any) -> Text:
        """Draw a solution on its board."""

    def line(self, solution: Any) -> str:
        """Format a solution as one line."""

    def value(self, value: int, rules: str) -> str:
        """Format the value of a solution under the rules, in a game that compares: "2 words"."""

    def svg(self, puzzle: Any, solution: Any | None, title: str | None) -> str:
        """Draw a puzzle, with its solution if there is one, as the text of an SVG file.

        Raises PermanentError for a board too large for a picture, or a game without pictures.
        """
