"""What every SVG picture of a board has: a light ground, a title, lines of text, a name for it.

A picture brings its own ground, so that it can be read on a dark page as well; it needs no font but
a sans-serif one and no script, and the same board gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

TEXT_PX = 16
CHAR_PX = 10
"""Width of a capital letter in TEXT_PX, about: fonts differ."""
SPACE_PX = 6
LINE_PX = 24
MARGIN_PX = 24

GROUND = "#fbfaf6"
INK = "#16161a"

TINTS = ("#aedfee", "#bfe3b4", "#e3c2ee", "#f5c6b0", "#b9c8f2", "#d6dd9f", "#a9ddd0", "#f3bccb")
"""Light fills for black letters, taken in turn."""
PLAIN = "#e9e6dc"
"""Fill of what has no tint."""

_FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"


def head_px(title: str | None) -> int:
    """Say where a board begins, below the title if there is one."""
    return MARGIN_PX + (LINE_PX if title else 0)


def page(width: int, height: int, spoken: str, title: str | None) -> ET.Element:
    """Begin a picture with its title; `spoken` says what it shows to those who do not see it."""
    svg = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width} {height}",
            "width": str(width),
            "height": str(height),
            "role": "img",
            "font-family": _FONT,
            "fill": INK,
        },
    )
    ET.SubElement(svg, "title").text = legal(spoken)
    ET.SubElement(
        svg, "rect", {"width": str(width), "height": str(height), "rx": "16", "fill": GROUND}
    )
    if title:
        add_line(svg, MARGIN_PX, MARGIN_PX + 2, title, bold=True)
    return svg


def add(parent: ET.Element, tag: str, text: str | None = None, **attributes: object) -> ET.Element:
    """Add an element; `stroke_width=2` is the attribute stroke-width, numbers are rounded.

    An attribute that is None is left out.
    """
    given = {name: value for name, value in attributes.items() if value is not None}
    element = ET.SubElement(
        parent, tag, {name.replace("_", "-"): _written(value) for name, value in given.items()}
    )
    element.text = None if text is None else legal(text)
    return element


def add_line(svg: ET.Element, x: int, y: int, text: str, *, bold: bool = False) -> None:
    """Write a line of text."""
    add(svg, "text", text, x=x, y=y, font_size=TEXT_PX, font_weight="700" if bold else "400")


def add_runs(svg: ET.Element, x: int, y: int, runs: Sequence[tuple[str, str]]) -> None:
    """Write a line of text in runs of (text, colour), with a space between two of them.

    What is not in INK is bold.
    """
    line = add(svg, "text", x=x, y=y, font_size=TEXT_PX)
    for i, (text, colour) in enumerate(runs):
        # Viewers differ in which spaces at the ends of runs they keep.
        add(
            line,
            "tspan",
            text,
            fill=colour,
            font_weight="400" if colour == INK else "700",
            dx=SPACE_PX if i else 0,
        )


def add_middle(
    svg: ET.Element,
    x: float,
    y: float,
    text: str,
    size: int,
    colour: str | None = None,
    weight: str | None = "700",
) -> None:
    """Write a text around a point, in the ink of the picture unless a colour is given."""
    add(
        svg,
        "text",
        text,
        x=float(x),
        y=float(y),
        dy="0.36em",
        text_anchor="middle",
        font_size=size,
        font_weight=weight,
        fill=colour,
    )


def text_of(svg: ET.Element) -> str:
    """Write the picture out as the text of an SVG file."""
    # Only between the elements of the picture: between the runs of a line, a space would be seen.
    svg.text = "\n "
    for element in svg:
        element.tail = "\n "
    svg[-1].tail = "\n"
    return ET.tostring(svg, encoding="unicode") + "\n"


def legal(text: str) -> str:
    """Replace characters that no XML document may hold, escaped or not."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def _written(value: object) -> str:
    """Write an attribute; a fraction with one digit after the point, and none that is 0."""
    if not isinstance(value, float):
        return str(value)
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
