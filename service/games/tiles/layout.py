"""How a board of Tiles is laid out for both drawings: rows, layers, and what each move clears."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from nightgrid.solvers.tiles.puzzle import Puzzle
from nightgrid.solvers.tiles.solution import Walk

WIDE = 1.2
"""Columns for each row, about: a published board has 5 rows of 6."""
WIDE_MIN, WIDE_MAX = 0.75, 3.0

_SHAPE = re.compile(r"#?([^\W\d_]{1,8})[-_ ]?(\d{1,4})")
"""A feature as published boards name it: the letter of its layer, the number of its shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where tiles and their features stand. The puzzle gives tiles row by row but no rows."""

    columns: int
    layers: tuple[str, ...]
    """Names of the layers from the lowest one; () where the features are not named by layer."""
    shapes: tuple[tuple[str | None, ...], ...]
    """The features of each tile, one a layer, None where the tile has none there; without layers
    one after the other."""
    colours: dict[str, int]
    """Number of each feature's colour: in each layer from 0."""

    @property
    def rows(self) -> int:
        """Rows that the tiles fill."""
        return -(-len(self.shapes) // self.columns)

    @property
    def height(self) -> int:
        """Most features of a tile."""
        return max(map(len, self.shapes), default=0)


def layout(puzzle: Puzzle) -> Layout:
    """Lay a board out; where its features are all named by layer and shape, by layers."""
    features = sorted({feature for tile in puzzle.tiles for feature in tile})
    read = {feature: _SHAPE.fullmatch(feature) for feature in features}
    layer_of = {feature: match[1] for feature, match in read.items() if match}
    layers = tuple(sorted(set(layer_of.values())))
    layered = len(layer_of) == len(features) and all(
        len({layer_of[feature] for feature in tile}) == len(tile) for tile in puzzle.tiles
    )
    if not layered:
        return Layout(
            columns=_columns(len(puzzle.tiles)),
            layers=(),
            shapes=puzzle.tiles,
            colours={feature: i for i, feature in enumerate(features)},
        )
    colours: dict[str, int] = {}
    for layer in layers:
        mine = [feature for feature in features if layer_of[feature] == layer]
        mine.sort(key=lambda feature: (len(feature), feature))
        colours |= {feature: i for i, feature in enumerate(mine)}
    shapes = []
    for tile in puzzle.tiles:
        here = {layer_of[feature]: feature for feature in tile}
        shapes.append(tuple(here.get(layer) for layer in layers))
    return Layout(
        columns=_columns(len(puzzle.tiles)), layers=layers, shapes=tuple(shapes), colours=colours
    )


def played(puzzle: Puzzle, walk: Walk) -> tuple[tuple[str, ...], ...]:
    """Play a walk; return the features that each selection clears. The first one clears none."""
    left = [set(tile) for tile in puzzle.tiles]
    cleared: list[tuple[str, ...]] = [()]
    for before, tile in zip(walk.tiles, walk.tiles[1:], strict=False):
        shared = left[before] & left[tile]
        left[before] -= shared
        left[tile] -= shared
        cleared.append(tuple(sorted(shared)))
    return tuple(cleared)


def _columns(tiles: int) -> int:
    """Choose a number of columns that fills the rows, if one is neither too small nor too large."""
    wanted = math.sqrt(WIDE * tiles)
    full = [
        columns
        for columns in range(1, tiles + 1)
        if tiles % columns == 0 and WIDE_MIN <= columns * columns / tiles <= WIDE_MAX
    ]
    return min(full, key=lambda columns: abs(columns - wanted), default=math.ceil(wanted))
