"""Random boards in the published form: the same number of layers on every tile, shapes in pairs.

In every layer each shape is on an even number of tiles, so that every board can be cleared. The
same form and seed give the same board on every machine: integers only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nightgrid.solvers.errors import PermanentError, RuleError
from nightgrid.solvers.tiles.puzzle import Puzzle

LAYERS_MAX = 26
"""Layers are named by letters."""
TILES_MAX = 2**24
SHAPES_MAX = 2**24

_GOLDEN = 0x9E3779B97F4A7C15
_MIX_A, _MIX_B = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_WORD = 2**64 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Parameters of boards. The defaults are the published form."""

    tiles: int = 30
    layers: int = 3
    shapes_min: int = 6
    """Bounds of the shapes of a layer: each layer draws its own number. Each shape appears if there
    are enough tiles."""
    shapes_max: int = 12

    def __post_init__(self) -> None:
        if self.tiles % 2 or not 2 <= self.tiles <= TILES_MAX:
            raise RuleError(
                "tiles",
                f"is {self.tiles}; expected an even number from 2 to {TILES_MAX:,}, or a shape "
                "would be left over",
            )
        if not 1 <= self.layers <= LAYERS_MAX:
            raise RuleError("layers", f"is {self.layers}; expected 1 to {LAYERS_MAX}")
        if not 1 <= self.shapes_min <= self.shapes_max <= SHAPES_MAX:
            raise RuleError(
                "shapes",
                f"is {self.shapes_min}-{self.shapes_max}; expected a smaller and a larger number "
                f"from 1 to {SHAPES_MAX:,}",
            )


class _Random:
    """splitmix64, which gives the same numbers on every machine."""

    def __init__(self, seed: int) -> None:
        self._state = _mixed((seed * _GOLDEN + _MIX_B) & _WORD)

    def below(self, bound: int) -> int:
        """Draw a number below a bound of at most 2^24; the bias is at most 2^-8 of one in 2^32."""
        self._state = (self._state + _GOLDEN) & _WORD
        return (_mixed(self._state) >> 32) * bound >> 32


def _mixed(x: int) -> int:
    x = (x ^ (x >> 30)) * _MIX_A & _WORD
    x = (x ^ (x >> 27)) * _MIX_B & _WORD
    return x ^ (x >> 31)


def generate(form: Form, seed: int) -> Puzzle:
    """Generate one board. Raises PermanentError for a seed below 0 or of more than 64 bits."""
    if not 0 <= seed <= _WORD:
        raise PermanentError(f"seed is {seed}; expected 0 or more, and at most 64 bits")
    rnd = _Random(seed)
    layers = []
    for layer in range(form.layers):
        shapes = form.shapes_min + rnd.below(form.shapes_max - form.shapes_min + 1)
        drawn = []
        for pair in range(form.tiles // 2):
            shape = rnd.below(shapes)
            drawn += 2 * [pair if pair < shapes <= form.tiles // 2 else shape]
        for i in range(form.tiles - 1, 0, -1):
            j = rnd.below(i + 1)
            drawn[i], drawn[j] = drawn[j], drawn[i]
        layers.append([f"{chr(ord('A') + layer)}{shape + 1}" for shape in drawn])
    return Puzzle(tiles=tuple(zip(*layers, strict=True)))


def to_page(puzzle: Puzzle) -> dict[str, Any]:
    """Return a board as the game's page holds it in memory, which
    `nightgrid.archive.games.tiles.payload` parses.
    """
    return {
        "board": [
            {"layers": [{"id": feature, "hidden": False} for feature in tile]}
            for tile in puzzle.tiles
        ]
    }
