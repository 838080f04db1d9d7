"""How Tiles is shown: the tiles with their features, and a walk as numbered moves.

Tiles have numbers, and each layer has a line of its own in a tile. In a solution each feature has
the number of the move that clears it beside it.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from nightgrid.service.drawing import LINE_CHARS, Drawing, Line, View, plain, wrapped
from nightgrid.service.drawing.canvas import Canvas
from nightgrid.service.drawing.colours import apart, on, tint
from nightgrid.solvers.sentences import plural
from nightgrid.solvers.tiles.puzzle import Puzzle
from nightgrid.solvers.tiles.solution import Walk

TILES_MAX = 400
FEATURES_MAX = 12
"""Most features of a tile that is drawn."""
NAME_CHARS = 8
"""Longer names are cut short."""
LIGHT = (0.92, 0.82, 0.72)
"""Lightness of each layer; those above the third have its own."""
MOVES_MAX = 400
"""Moves that are listed."""
TELEPORT = "⇢"
LINE_TILES = 40
"""Tiles of a walk that are written in one line."""
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
    tints: dict[str, str]
    """The tint of each feature. No two share a hue, those of one layer are far from one another,
    and each layer is darker than the one beneath it."""

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
            tints=_tints([features]),
        )
    groups = [
        sorted((f for f in features if layer_of[f] == layer), key=lambda f: (len(f), f))
        for layer in layers
    ]
    shapes = []
    for tile in puzzle.tiles:
        here = {layer_of[feature]: feature for feature in tile}
        shapes.append(tuple(here.get(layer) for layer in layers))
    return Layout(
        columns=_columns(len(puzzle.tiles)),
        layers=layers,
        shapes=tuple(shapes),
        tints=_tints(groups),
    )


def _tints(layers: Sequence[Sequence[str]]) -> dict[str, str]:
    turns = apart(layers)
    return {
        feature: tint(turns[feature], LIGHT[min(level, len(LIGHT) - 1)])
        for level, layer in enumerate(layers)
        for feature in layer
    }


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


def draw_board(puzzle: Puzzle, walk: Walk | None = None) -> Drawing:
    """Draw the tiles, for a walk with the number of the move that clears each feature."""
    if len(puzzle.tiles) > TILES_MAX:
        return plain(f"(a board of {len(puzzle.tiles):,} tiles is too large to draw)")
    how = layout(puzzle)
    if how.height > FEATURES_MAX:
        return plain(f"(tiles of {how.height:,} features are too large to draw)")
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
    widths = dict.fromkeys(range(how.columns), inner + 2)
    inside = canvas.cells(numbers, widths, how.height or 1, "bright_black")
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


def list_moves(puzzle: Puzzle, walk: Walk) -> Drawing:
    """List the moves of a walk: the tile that each goes to, and what it clears."""
    start = f"Begin on tile {walk.tiles[0] + 1}. Then go to"
    teleports = set(walk.teleports)
    tints = layout(puzzle).tints if len(puzzle.tiles) <= TILES_MAX else {}
    steps = zip(walk.tiles[1:], played(puzzle, walk)[1:], strict=True)
    items = (
        [
            (f"{i}.{f' {TELEPORT}' if i in teleports else ''} {tile + 1}", ""),
            *(
                run
                for feature in features
                for run in ((" ", ""), (_cut(feature), on(tints[feature]) if tints else ""))
            ),
        ]
        for i, (tile, features) in enumerate(itertools.islice(steps, MOVES_MAX), 1)
    )
    drawn: list[Line] = [*plain(start), *wrapped(items, " · ", LINE_CHARS)]
    if walk.moves > MOVES_MAX:
        drawn += plain(f"and {walk.moves - MOVES_MAX:,} more moves")
    if teleports:
        drawn += plain(f"{TELEPORT} is a teleport: the two tiles share nothing.")
    return tuple(drawn)


def _cut(feature: str) -> str:
    name = "".join(c if c.isprintable() else "?" for c in feature)
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"


class TilesView(View):
    """See nightgrid.service.drawing.View."""

    def describe(self, puzzle: Puzzle) -> str:
        """Count tiles and features."""
        features = len({feature for tile in puzzle.tiles for feature in tile})
        return f"{plural(len(puzzle.tiles), 'tile')}, {plural(features, 'feature')}"

    def board(self, puzzle: Puzzle) -> Drawing:
        """Draw the tiles."""
        return draw_board(puzzle)

    def solution(self, puzzle: Puzzle | None, solution: Walk, *, scored: bool) -> Drawing:  # noqa: ARG002 - the moves are numbered
        """Draw which move clears what, and list the moves; a walk without its board is a line."""
        if puzzle is None:
            return plain(self.line(solution))
        return (*draw_board(puzzle, solution), (("", ""),), *list_moves(puzzle, solution))

    def line(self, solution: Walk) -> str:
        """Write the tiles in the order in which they are selected."""
        tiles = " ".join(str(tile + 1) for tile in solution.tiles[:LINE_TILES])
        more = " ..." if len(solution.tiles) > LINE_TILES else ""
        return f"{plural(solution.moves, 'move')}: {tiles}{more}"

    def value(self, value: int, rules: str) -> str:  # noqa: ARG002 - the same under all rules
        """Write a number of moves."""
        return plural(value, "move")


VIEW = TilesView()
