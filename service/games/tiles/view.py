"""How Tiles is shown: the tiles with their features, and a walk as numbered moves.

In a terminal tiles have numbers, and each layer is a line in a tile; in a solution each feature has
the number of the move that clears it next to it. In a picture the first three layers are a square,
a circle and a diamond, so that they differ even without colour, and below a tile are the numbers of
the moves that select it.
"""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from nightgrid.service.drawing.colours import EDGE, PLAIN, on, tint
from nightgrid.service.drawing.svg import Picture
from nightgrid.service.drawing.text import Canvas, stacked, wrapped
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.sentences import plural
from nightgrid.solvers.tiles.puzzle import Puzzle
from nightgrid.solvers.tiles.solution import Walk

TILES_MAX = 400
FEATURES_MAX = 12
"""Most features of a tile that is drawn."""
NAME_CHARS = 11
"""Longer names are truncated."""
LIGHT = (0.9, 0.8, 0.7)
"""Lightness of each layer; those above the third have their own."""
MOVES_MAX = 400
"""Most moves that are listed or shown in a picture."""
TELEPORT = "⇢"
LINE_TILES = 40
"""Most tiles of a walk in one line."""
WIDE = 1.2
"""Approximate columns for each row: a published board has 5 rows of 6."""

TILE_PX = 92
GAP_PX = 10
CIRCLE_PX = 34
DIAMOND_PX = 24
"""Radius of the shapes of the second and third layer."""
LABEL_PX = 11
CHIP_PX = 18
"""Height of a feature on a board without three layers."""
MOVES_PX = 18
"""Height of a line of moves below a tile."""
MOVES_A_LINE_CHARS = 15
FIGURES = 3
"""Number of layers with a shape of their own."""

_SHAPE = re.compile(r"#?([^\W\d_]{1,8})[-_ ]?(\d{1,4})")
"""A feature as published boards name it: the letter of its layer, the number of its shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Positions of tiles and features. The puzzle lists tiles row by row, without rows."""

    columns: int
    has_figures: bool
    """Whether the features are named by layer, and every layer has a shape of its own."""
    shapes: tuple[tuple[str | None, ...], ...]
    """The features of each tile, one a layer, None if the tile has none there; without layers, in
    sequence."""
    tints: dict[str, str]
    """The tint of each feature: those of one layer differ clearly, and each layer is darker than
    the one beneath it."""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return -(-len(self.shapes) // self.columns)

    @property
    def height(self) -> int:
        """Most features of a tile."""
        return max(map(len, self.shapes), default=0)


def layout(puzzle: Puzzle) -> Layout:
    """Lay out a board; by layers if all features are named by layer and shape."""
    features = sorted({feature for tile in puzzle.tiles for feature in tile})
    read = {feature: _SHAPE.fullmatch(feature) for feature in features}
    layer_of = {feature: match[1] for feature, match in read.items() if match}
    layers = tuple(sorted(set(layer_of.values())))
    layered = 0 < len(layer_of) == len(features) and all(
        len({layer_of[feature] for feature in tile}) == len(tile) for tile in puzzle.tiles
    )
    groups: Sequence[Sequence[str]] = [features]
    shapes: Sequence[tuple[str | None, ...]] = puzzle.tiles
    if layered:
        groups = [
            sorted((f for f in features if layer_of[f] == layer), key=lambda f: (len(f), f))
            for layer in layers
        ]
        by_layer = ({layer_of[feature]: feature for feature in tile} for tile in puzzle.tiles)
        shapes = [tuple(map(tile.get, layers)) for tile in by_layer]
    return Layout(
        columns=round(math.sqrt(WIDE * len(puzzle.tiles))),
        has_figures=layered and len(layers) <= FIGURES,
        shapes=tuple(shapes),
        tints={
            feature: tint((j + i / len(groups)) / len(group), LIGHT[min(i, len(LIGHT) - 1)])
            for i, group in enumerate(groups)
            for j, feature in enumerate(group)
        },
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


def draw_board(puzzle: Puzzle, walk: Walk | None = None) -> Text:
    """Draw the tiles; for a walk, with the number of the move that clears each feature."""
    how = layout(puzzle)
    if too_large := _too_large(how):
        return Text(f"({too_large} are too large to draw)")
    cleared: dict[tuple[int, str], int] = {}
    if walk is not None:
        for i, features in enumerate(played(puzzle, walk)):
            for tile in walk.tiles[i - 1 : i + 1]:
                cleared |= {(tile, feature): i for feature in features}
    name = max(map(len, how.tints), default=1)
    number = len(str(walk.moves)) + 2 if walk is not None else 0
    inner = max(min(name, NAME_CHARS) + number, len(str(len(puzzle.tiles))) + 1)
    canvas = Canvas()
    numbers = {divmod(i, how.columns): i for i in range(how.rows * how.columns)}
    inside = canvas.cells(numbers, inner + 2, how.height or 1, "bright_black")
    for (y, x), tile, shapes in zip(inside.values(), itertools.count(), how.shapes, strict=False):
        canvas.write((y - 1, x), str(tile + 1), "")
        for level, feature in enumerate(shapes):
            if feature is not None:
                move = str(cleared.get((tile, feature), ""))
                band = [(y + level, x + i) for i in range(inner + 2)]
                canvas.ground(band, on(how.tints[feature]))
                canvas.write((y + level, x + 1), _cut(feature), "")
                canvas.write((y + level, x + 1 + inner - len(move)), move, "")
    return canvas.drawing()


board = draw_board


def _too_large(how: Layout) -> str:
    """Describe which part of a board is too large to draw; "" if none is."""
    if len(how.shapes) > TILES_MAX:
        return f"{len(how.shapes):,} tiles"
    return f"tiles of {how.height:,} features" if how.height > FEATURES_MAX else ""


def list_moves(puzzle: Puzzle, walk: Walk) -> Text:
    """List the moves of a walk: the tile that each goes to, and what it clears."""
    teleports = set(walk.teleports)
    tints = layout(puzzle).tints
    steps = zip(walk.tiles[1:], played(puzzle, walk)[1:], strict=True)
    items = []
    for i, (tile, features) in enumerate(itertools.islice(steps, MOVES_MAX), 1):
        item = Text(f"{i}.{f' {TELEPORT}' if i in teleports else ''} {tile + 1}")
        for feature in features:
            item.append(" ").append(_cut(feature), on(tints[feature]))
        items.append(item)
    start = Text(f"Start on tile {walk.tiles[0] + 1}. Then go to")
    lines = [start, *wrapped(items, " · ")]
    if walk.moves > MOVES_MAX:
        lines.append(Text(f"and {walk.moves - MOVES_MAX:,} more moves"))
    if teleports:
        lines.append(Text(f"{TELEPORT} is a teleport: the two tiles share nothing."))
    return stacked(*lines)


def _cut(feature: str) -> str:
    name = "".join(c if c.isprintable() else "?" for c in feature)
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"


def svg(puzzle: Puzzle, walk: Walk | None, title: str | None) -> str:
    """Draw a board, with the moves of a walk, as the text of an SVG file."""
    how = layout(puzzle)
    if too_large := _too_large(how):
        raise PermanentError(f"{too_large} are too large for a picture")
    tile_high = TILE_PX if how.has_figures else max(TILE_PX, 12 + CHIP_PX * how.height)
    moves = _moves(walk, len(puzzle.tiles))
    lines = max(map(len, moves), default=0)
    step_x, step_y = TILE_PX + GAP_PX, tile_high + GAP_PX + lines * MOVES_PX
    captions = ["Below each tile: the moves that select it, from 0."] if walk else []
    if walk and walk.teleports:
        captions.append(f"{TELEPORT} is a teleport from the tile of the move before.")
    cleared = f", cleared in {walk.moves} moves" if walk else ""
    wide = how.columns * step_x - GAP_PX
    picture = Picture(
        f"{title or 'Tiles board'}: {len(puzzle.tiles)} tiles{cleared}",
        title,
        wide,
        how.rows * step_y,
        [Text(text) for text in captions],
    )
    for tile in range(len(how.shapes)):
        x, y = tile % how.columns * step_x, tile // how.columns * step_y
        look: dict[str, Any] = {"fill": PLAIN, "stroke": EDGE, "class_": "tile", "data_tile": tile}
        picture.add("rect", x=x, y=y, width=TILE_PX, height=tile_high, rx=10, **look)
        for level in range(len(how.shapes[tile])):
            _draw_feature(picture, how, tile, level, x, y)
        for i, text in enumerate(moves[tile] if moves else ()):
            picture.middle(
                x + TILE_PX / 2,
                y + tile_high + MOVES_PX * (i + 0.6),
                text,
                LABEL_PX + 1,
                class_="moves",
            )
    return picture.text()


def _draw_feature(picture: Picture, how: Layout, tile: int, level: int, x: int, y: int) -> None:
    """Draw a feature on its tile: as the shape of its layer, or as a line of text.

    Features are stacked on a board without layers, or with more layers than shapes.
    """
    feature = how.shapes[tile][level]
    if feature is None:
        return
    of: dict[str, Any] = {"data_tile": tile, "data_feature": feature}
    look = {"fill": how.tints[feature], "stroke": EDGE, "class_": "figure", **of}
    mid_x, mid_y = x + TILE_PX / 2, y + TILE_PX / 2
    if not how.has_figures:
        top, wide = y + 6 + level * CHIP_PX, TILE_PX - 12
        picture.add("rect", x=x + 6, y=top, width=wide, height=CHIP_PX - 3, rx=5, **look)
        label = (mid_x, top + CHIP_PX / 2 - 1)
    elif level == 0:
        picture.add("rect", x=x, y=y, width=TILE_PX, height=TILE_PX, rx=10, **look)
        label = (x + 14, y + 13)
    elif level == 1:
        picture.add("circle", cx=mid_x, cy=mid_y, r=CIRCLE_PX, **look)
        label = (mid_x, mid_y - CIRCLE_PX + 8)
    else:
        ends = ((0, -0.75), (1, 0.1), (0, 0.95), (-1, 0.1))
        points = [(mid_x + dx * DIAMOND_PX, mid_y + dy * DIAMOND_PX) for dx, dy in ends]
        picture.add("polygon", points=points, **look)
        label = (mid_x, mid_y + 2)
    picture.middle(*label, _cut(feature), LABEL_PX, class_="on-figure", **of)


def _moves(walk: Walk | None, tiles: int) -> list[list[str]]:
    """Format the moves of each tile in lines."""
    if walk is None or walk.moves > MOVES_MAX:
        return []
    found: list[list[str]] = [[] for _ in range(tiles)]
    teleports = set(walk.teleports)
    for i, tile in enumerate(walk.tiles):
        found[tile].append(f"{TELEPORT}{i}" if i in teleports else str(i))
    return [textwrap.wrap(" ".join(mine), MOVES_A_LINE_CHARS) for mine in found]


def describe(puzzle: Puzzle) -> str:
    """Count tiles and features."""
    features = len({feature for tile in puzzle.tiles for feature in tile})
    return f"{plural(len(puzzle.tiles), 'tile')}, {plural(features, 'feature')}"


def solution(puzzle: Puzzle, solution: Walk) -> Text:
    """Draw which move clears what, and list the moves."""
    return stacked(draw_board(puzzle, solution), Text(), list_moves(puzzle, solution))


def line(solution: Walk) -> str:
    """Format the tiles in the order in which they are selected."""
    tiles = " ".join(str(tile + 1) for tile in solution.tiles[:LINE_TILES])
    more = " ..." if len(solution.tiles) > LINE_TILES else ""
    return f"{plural(solution.moves, 'move')}: {tiles}{more}"


def value(value: int, _rules: str) -> str:
    """Format a number of moves."""
    return plural(value, "move")
