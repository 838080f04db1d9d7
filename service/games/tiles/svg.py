"""Pictures of Tiles as SVG: the figures of each tile's layers, one in the other, and a walk.

The first three layers are a square, a circle and a diamond, so that they are told apart without
colour; a figure names its shape. Below a tile stand the numbers of the moves that select it, and
teleports are marked there.
"""

from __future__ import annotations

import textwrap
from typing import Any

from nightgrid.service.drawing.colours import EDGE, INK, PLAIN
from nightgrid.service.drawing.svg import Picture
from nightgrid.service.games.tiles.view import TELEPORT, Layout, layout
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.tiles.puzzle import Puzzle
from nightgrid.solvers.tiles.solution import Walk

TILE_PX = 92
GAP_PX = 10
CIRCLE_PX = 34
DIAMOND_PX = 24
"""Radius of the figures of the second and third layer."""
LABEL_PX = 11
CHIP_PX = 18
"""Height of a feature on a board that has no three layers."""
MOVES_PX = 18
"""Height of a line of moves below a tile."""
MOVES_A_LINE_CHARS = 15
NAME_CHARS = 11
TILES_MAX = 400
FEATURES_MAX = 40
MOVES_MAX = 4_000
FIGURES = 3
"""Layers that have a figure of their own."""


def draw_svg(puzzle: Puzzle, walk: Walk | None = None, title: str | None = None) -> str:
    """Draw a board, with the moves of a walk, as the text of an SVG file.

    Raises PermanentError for a board too large for a picture.
    """
    how = layout(puzzle)
    if len(puzzle.tiles) > TILES_MAX or how.height > FEATURES_MAX:
        raise PermanentError(
            f"{len(puzzle.tiles):,} tiles of up to {how.height} features are too many for a picture"
        )
    figures = 0 < len(how.layers) <= FIGURES
    tile_high = TILE_PX if figures else max(TILE_PX, 12 + CHIP_PX * how.height)
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
        [[(text, INK, False)] for text in captions],
    )
    left = (picture.width - wide) // 2
    for tile in range(len(how.shapes)):
        x, y = left + tile % how.columns * step_x, picture.top + tile // how.columns * step_y
        look: dict[str, Any] = {"fill": PLAIN, "stroke": EDGE, "class_": "tile", "data_tile": tile}
        picture.add("rect", x=x, y=y, width=TILE_PX, height=tile_high, rx=10, **look)
        (_draw_figures if figures else _draw_chips)(picture, how, tile, x, y)
        for i, text in enumerate(moves[tile] if moves else ()):
            picture.middle(
                x + TILE_PX / 2,
                y + tile_high + MOVES_PX * (i + 0.6),
                text,
                LABEL_PX + 1,
                class_="moves",
            )
    return picture.text()


def _draw_figures(picture: Picture, how: Layout, tile: int, x: int, y: int) -> None:
    mid_x, mid_y = x + TILE_PX / 2, y + TILE_PX / 2
    for level, feature in enumerate(how.shapes[tile]):
        if feature is None:
            continue
        of: dict[str, Any] = {"data_tile": tile, "data_feature": feature}
        look = {"fill": how.tints[feature], "stroke": EDGE, "class_": "figure", **of}
        named = {"class_": "on-figure", **of}
        if level == 0:
            picture.add("rect", x=x, y=y, width=TILE_PX, height=TILE_PX, rx=10, **look)
            picture.middle(x + 14, y + 13, feature, LABEL_PX, **named)
        elif level == 1:
            picture.add("circle", cx=mid_x, cy=mid_y, r=CIRCLE_PX, **look)
            picture.middle(mid_x, mid_y - CIRCLE_PX + 8, feature, LABEL_PX, **named)
        else:
            ends = ((0, -0.75), (1, 0.1), (0, 0.95), (-1, 0.1))
            points = [(mid_x + dx * DIAMOND_PX, mid_y + dy * DIAMOND_PX) for dx, dy in ends]
            picture.add("polygon", points=points, **look)
            picture.middle(mid_x, mid_y + 2, feature, LABEL_PX, **named)


def _draw_chips(picture: Picture, how: Layout, tile: int, x: int, y: int) -> None:
    """Write the features below one another, each on a ground of its colour."""
    for i, feature in enumerate(how.shapes[tile]):
        if feature is None:
            continue
        of: dict[str, Any] = {"data_tile": tile, "data_feature": feature}
        look = {"fill": how.tints[feature], "class_": "figure", **of}
        top, wide = y + 6 + i * CHIP_PX, TILE_PX - 12
        picture.add("rect", x=x + 6, y=top, width=wide, height=CHIP_PX - 3, rx=5, **look)
        name = feature if len(feature) <= NAME_CHARS else f"{feature[: NAME_CHARS - 1]}…"
        look = {"class_": "on-figure", **of}
        picture.middle(x + TILE_PX / 2, top + CHIP_PX / 2 - 1, name, LABEL_PX, **look)


def _moves(walk: Walk | None, tiles: int) -> list[list[str]]:
    """Write the moves of each tile in lines."""
    if walk is None or walk.moves > MOVES_MAX:
        return []
    found: list[list[str]] = [[] for _ in range(tiles)]
    teleports = set(walk.teleports)
    for i, tile in enumerate(walk.tiles):
        found[tile].append(f"{TELEPORT}{i}" if i in teleports else str(i))
    return [textwrap.wrap(" ".join(mine), MOVES_A_LINE_CHARS) for mine in found]
