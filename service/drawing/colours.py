"""Colours of neighbouring items, the same in terminals and pictures.

Colour is never the only difference: coloured items also differ by letters or walls.
"""

from __future__ import annotations

import colorsys
from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

Thing = TypeVar("Thing", bound=Hashable)

GROUND = "#fbfaf6"
INK = "#16161a"
PLAIN = "#e9e6dc"
"""Fill of untinted areas."""
PAPER = "#ffffff"
"""Fill of pieces on a board, and of the holes in them."""
LINE = "#b9b5a7"
FAINT = "#a19d90"
EDGE = "#8d897c"
"""Greys of background lines and letters, the lightest first."""
GOLD = "#f8cd05"
"""Colour of the most prominent item: the spangram of Strands."""
TINTS = ("#aedfee", "#bfe3b4", "#e3c2ee", "#f5c6b0", "#b9c8f2", "#d6dd9f", "#a9ddd0", "#f3bccb")
"""Light fills for black letters, used in rotation."""
STROKES = ("#0b7285", "#c2410c", "#6d28d9", "#2b7a2f", "#be185d", "#1d4ed8", "#8a6d00", "#475569")
"""Dark colours of lines on paper, used in rotation."""
NAMES = {
    GROUND: "ground",
    INK: "ink",
    PLAIN: "plain",
    PAPER: "paper",
    LINE: "line",
    FAINT: "faint",
    EDGE: "edge",
    GOLD: "gold",
    **{tint: f"tint-{i}" for i, tint in enumerate(TINTS, 1)},
    **{stroke: f"pen-{i}" for i, stroke in enumerate(STROKES, 1)},
}
"""Class names of the colours in pictures, so that a page can restyle them (dark themes)."""

_SATURATION = 0.55
"""Saturation of tints."""


def on(tint: str) -> str:
    """Return rich's style of ink on a tinted background."""
    return f"{INK} on {tint}"


def tint(turn: float, light: float) -> str:
    """Return the tint with a hue from 0 to 1 and a lightness from 0 to 1."""
    rgb = colorsys.hls_to_rgb(turn, light, _SATURATION)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


def distinct_colours(
    neighbours: Mapping[Thing, Collection[Thing]], colours: int
) -> dict[Thing, int]:
    """Assign colour numbers so that neighbours differ, if there are enough colours.

    Items are coloured in the order given, each with the colour least used among its neighbours and,
    among equals, the one least used overall.
    """
    used = [0] * colours
    chosen: dict[Thing, int] = {}
    for thing, beside in neighbours.items():
        met = [chosen[other] for other in beside if other in chosen]
        chosen[thing] = min(range(colours), key=lambda c: (met.count(c), used[c], c))
        used[chosen[thing]] += 1
    return chosen
