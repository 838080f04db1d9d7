"""Common parts of SVG pictures of boards: a light background, a title, captions, colour names.

A picture has its own background, so that it is readable on a dark page; it needs no font but a
sans-serif one and no scripts, and the same board gives the same bytes.

Elements with a named colour have that name as a class, `fill-ink` or `stroke-line`, so that a page
can restyle boards, for a dark theme for instance. Titles and captions have classes too, since a
page has its own text for them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from rich.text import Text

from nightgrid.service.drawing.colours import GROUND, INK, NAMES
from nightgrid.solvers.errors import PermanentError

TEXT_PX = 16
CHAR_PX = 10
"""Approximate width of a capital letter in TEXT_PX; fonts differ."""
LINE_PX = 24
NO_BREAK = "\u00a0"
"""A space that every viewer draws, even at the ends of runs."""
MARGIN_PX = 24
LARGE_PX = 1_500
SCALE_MIN = 0.4
"""Boards wider or higher than LARGE_PX are scaled down, at most to this."""
SIDE_MAX_PX = 20_000
"""Largest width and height of a board."""

_FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"


class Page:
    """A picture of some size, with its background, to which elements are added."""

    def __init__(self, spoken: str, width: float, height: float, ground: str, **look: Any) -> None:
        """Start a picture; `spoken` describes it for screen readers."""
        wide, high = _written(width), _written(height)
        self._svg = element(
            None,
            "svg",
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {wide} {high}",
            width=wide,
            height=high,
            role="img",
            **look,
        )
        self._group = self._svg
        self.add("title", spoken)
        self.add("rect", width=wide, height=high, rx=16, fill=ground, class_="page")

    def add(self, tag: str, text: str | None = None, **attributes: object) -> ET.Element:
        """Add an element, as `element` makes it."""
        return element(self._group, tag, text, **attributes)

    def text(self) -> str:
        """Return the picture as the text of an SVG file."""
        # Only between the picture's elements: between the runs of a line, a space would be visible.
        self._svg.text = "\n "
        for child in (*self._svg, *self._svg.findall("g/*")):
            child.tail = "\n "
        self._svg[-1].tail = "\n"
        return ET.tostring(self._svg, encoding="unicode") + "\n"


class Picture(Page):
    """A picture with a title above a board and captions below.

    The board's elements are added to it, with 0, 0 at the upper left. A large board is scaled down.
    """

    def __init__(
        self,
        spoken: str,
        title: str | None,
        wide: float,
        high: float,
        captions: Sequence[Text] = (),
    ) -> None:
        """Make room for a board; `spoken` describes it for screen readers.

        Raises PermanentError for a board that is too large.
        """
        if max(wide, high) > SIDE_MAX_PX:
            raise PermanentError(
                f"a board of {wide:,.0f} x {high:,.0f} pixels is too large for a picture"
            )
        longest = max(text.cell_len for text in (*captions, Text(title or "")))
        scale = max(SCALE_MIN, min(1, LARGE_PX / max(wide, high)))
        width = math.ceil(max(scale * wide, longest * CHAR_PX)) + 2 * MARGIN_PX
        top = MARGIN_PX + (LINE_PX if title else 0)
        foot = top + math.ceil(scale * high) + MARGIN_PX
        height = foot + LINE_PX * len(captions)
        super().__init__(spoken, width, height, GROUND, font_family=_FONT, fill=INK)
        if title:
            self._line(MARGIN_PX + 2, Text.assemble((title, "bold")), "title")
        place = f"translate({int(width - scale * wide) // 2} {top})"
        smaller = f" scale({scale:.3f})" if scale < 1 else ""
        for i, caption in enumerate(captions):
            self._line(foot + i * LINE_PX + 6, caption, "caption")
        self._group = self.add("g", transform=place + smaller)

    def middle(self, x: float, y: float, text: str, size: int, **look: Any) -> None:
        """Draw a text centred on a point, bold and in ink unless `look` differs."""
        place = {"x": x, "y": y, "dy": "0.36em", "text_anchor": "middle", "font_size": size}
        self.add("text", text, **place, **{"font_weight": "700"} | look)

    def _line(self, y: float, text: Text, kind: str) -> None:
        from rich.console import Console  # only pictures need it

        line = self.add("text", x=MARGIN_PX, y=y, font_size=TEXT_PX, class_=kind)
        runs = list(text.render(Console()))
        space = NO_BREAK if len(runs) > 1 else " "
        for run, style, _ in runs:
            look = {"fill": INK if style is None or style.color is None else style.color.name}
            weight = "700" if style is not None and style.bold else "400"
            element(line, "tspan", run.replace(" ", space), font_weight=weight, **look)


def element(
    parent: ET.Element | None, tag: str, text: str | None = None, **attributes: object
) -> ET.Element:
    """Add an element to its parent, if any.

    `stroke_width=2` is the attribute stroke-width, `class_` is class, None leaves one out. Names of
    colours are added to the classes.

    Numbers are rounded, and points are written as coordinates of a line.
    """
    given = {name: value for name, value in attributes.items() if value is not None}
    own = given.pop("class_", None)
    classes = ([str(own)] if own else []) + _colour_classes(given)
    given |= {"class": " ".join(classes)} if classes else {}
    written = {name.replace("_", "-"): _written(value) for name, value in given.items()}
    made = ET.Element(tag, written) if parent is None else ET.SubElement(parent, tag, written)
    made.text = text and _printable(text)
    return made


def _printable(text: str) -> str:
    """Replace characters that XML does not allow, escaped or not."""
    return "".join(c if c.isprintable() or c == NO_BREAK else "\ufffd" for c in text)


def _colour_classes(given: Mapping[str, object]) -> list[str]:
    """Return the class names of an element's named colours."""
    colours = {part: NAMES.get(str(given.get(part))) for part in ("fill", "stroke")}
    return [f"{part}-{name}" for part, name in colours.items() if name]


def _written(value: object) -> str:
    """Format an attribute; a fraction with one decimal digit, none if it is 0."""
    if isinstance(value, list):
        return " ".join(f"{_written(x)},{_written(y)}" for x, y in value)
    if not isinstance(value, float):
        return _printable(str(value))
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
