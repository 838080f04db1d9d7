"""Drawings for a terminal: lines of text in runs, each with a style that may be lost."""

from __future__ import annotations

Run = tuple[str, str]
"""A text and its style as rich names them: "bold yellow", "" for none."""
Line = tuple[Run, ...]
Drawing = tuple[Line, ...]


def plain(text: str) -> Drawing:
    """Make a drawing of a text without styles."""
    return tuple(((line, ""),) for line in text.split("\n"))


def text_of(drawing: Drawing) -> str:
    """Write a drawing without its styles."""
    return "\n".join("".join(text for text, _ in line) for line in drawing)
