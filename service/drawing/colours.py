"""Colours of what stands side by side: the same in terminals and in pictures.

A colour is never all there is: what has one is told apart by its letters or walls as well.
"""

from __future__ import annotations

import colorsys
from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

Thing = TypeVar("Thing", bound=Hashable)

GROUND = "#fbfaf6"
INK = "#16161a"
PLAIN = "#e9e6dc"
"""Fill of what has no tint."""
PAPER = "#ffffff"
"""Fill of what lies on a board, and of what lies open in it."""
LINE = "#b9b5a7"
FAINT = "#a19d90"
EDGE = "#8d897c"
"""Greys of lines and letters that stand back, the lightest first."""
GOLD = "#f8cd05"
"""What stands out from everything else: the spangram of Strands."""
TINTS = ("#aedfee", "#bfe3b4", "#e3c2ee", "#f5c6b0", "#b9c8f2", "#d6dd9f", "#a9ddd0", "#f3bccb")
"""Light fills for black letters, taken in turn."""
STROKES = ("#0b7285", "#c2410c", "#6d28d9", "#2b7a2f", "#be185d", "#1d4ed8", "#8a6d00", "#475569")
"""Dark colours of lines on paper, taken in turn."""
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
"""What a picture calls its colours, so that a page that shows it can have its own, a dark one for
instance."""

_SATURATION = 0.55
"""Saturation of tints."""


def on(tint: str) -> str:
    """Write the style of ink on a ground of a tint, as rich names it."""
    return f"{INK} on {tint}"


def tint(turn: float, light: float) -> str:
    """Return the tint at a turn of the circle of hues, 0 to 1, of a lightness from 0 to 1."""
    rgb = colorsys.hls_to_rgb(turn, light, _SATURATION)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


def distinct_colours(
    neighbours: Mapping[Thing, Collection[Thing]], colours: int
) -> dict[Thing, int]:
    """Number the colours of things so that neighbours differ, where there are enough colours.

    Things are coloured in the order given, each with the colour that it meets least often among its
    neighbours, and of several the one that was used least.
    """
    used = [0] * colours
    chosen: dict[Thing, int] = {}
    for thing, beside in neighbours.items():
        met = [chosen[other] for other in beside if other in chosen]
        chosen[thing] = min(range(colours), key=lambda c: (met.count(c), used[c], c))
        used[chosen[thing]] += 1
    return chosen
