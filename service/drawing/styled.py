"""Drawings for a terminal: lines of text in runs, each with a style that may be lost."""

from __future__ import annotations

from collections.abc import Iterable

Run = tuple[str, str]
"""A text and its style as rich names them: "bold yellow", "" for none."""
Line = tuple[Run, ...]
Drawing = tuple[Line, ...]


def joined(characters: Iterable[Run]) -> Line:
    """Write characters as a line, neighbours of one style together; a space takes any style."""
    runs: list[Run] = []
    for text, own in characters:
        style = runs[-1][1] if text == " " and runs else own
        if runs and runs[-1][1] == style:
            runs[-1] = (runs[-1][0] + text, style)
        else:
            runs.append((text, style))
    return tuple(runs)


def plain(text: str) -> Drawing:
    """Make a drawing of a text without styles."""
    return tuple(((line, ""),) for line in text.split("\n"))


def text_of(drawing: Drawing) -> str:
    """Write a drawing without its styles."""
    return "\n".join("".join(text for text, _ in line) for line in drawing)
