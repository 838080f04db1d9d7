"""How Tiles is shown: the tiles with their features, and a walk as numbered moves.

Tiles have numbers, and each layer has a line of its own in a tile. In a solution each feature has
the number of the move that clears it beside it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from nightgrid.service.drawing import Drawing, Line, Run, View, plain, wrapped
from nightgrid.service.games.tiles.layout import Layout, layout, played
from nightgrid.service.terminal.console import plural
from nightgrid.solvers.tiles.puzzle import Puzzle
from nightgrid.solvers.tiles.solution import Walk

TILES_MAX = 400
FEATURES_MAX = 12
"""Most features of a tile that is drawn."""
NAME_CHARS = 8
"""Longer names are cut short."""
MOVES_MAX = 400
"""Moves that are listed."""
LINE_CHARS = 76
TELEPORT = "⇢"

FEATURE_STYLES = (
    "bright_cyan",
    "bright_yellow",
    "bright_magenta",
    "bright_green",
    "bright_blue",
    "bright_red",
    "cyan",
    "yellow",
    "magenta",
    "green",
    "blue",
    "red",
)
"""Styles of the shapes of a layer, taken in turn."""

Cleared = Mapping[tuple[int, str], int]
"""(tile, feature) -> number of the move that clears it."""


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
            for feature in features:
                cleared |= dict.fromkeys(
                    ((walk.tiles[i], feature), (walk.tiles[i - 1], feature)), i
                )
    name = max(map(len, how.colours), default=1)
    number = len(str(walk.moves)) + 2 if walk is not None else 0
    inner = max(min(name, NAME_CHARS) + number, len(str(len(puzzle.tiles))) + 1)
    lines: list[Line] = []
    for row in range(how.rows):
        lines.append(_rule(how, row, inner))
        lines += [_row_line(how, row, level, inner, cleared) for level in range(how.height or 1)]
    lines.append(_rule(how, how.rows, inner))
    return tuple(lines)


def list_moves(puzzle: Puzzle, walk: Walk) -> Drawing:
    """List the moves of a walk: the tile that each goes to, and what it clears."""
    start = f"Begin on tile {walk.tiles[0] + 1}. Then go to"
    teleports = set(walk.teleports)
    colours = layout(puzzle).colours if len(puzzle.tiles) <= TILES_MAX else {}
    steps = zip(walk.tiles[1:], played(puzzle, walk)[1:], strict=True)
    items = (
        [
            (f"{i}.{f' {TELEPORT}' if i in teleports else ''} {tile + 1}", ""),
            *((f" {_cut(feature)}", _style(colours, feature)) for feature in features),
        ]
        for i, (tile, features) in enumerate(itertools.islice(steps, MOVES_MAX), 1)
    )
    drawn: list[Line] = [*plain(start), *wrapped(items, " · ", LINE_CHARS)]
    if walk.moves > MOVES_MAX:
        drawn += plain(f"and {walk.moves - MOVES_MAX:,} more moves")
    if teleports:
        drawn += plain(f"{TELEPORT} is a teleport: the two tiles share nothing.")
    return tuple(drawn)


def _rule(how: Layout, row: int, inner: int) -> Line:
    ends = ("┌┬┐", "├┼┤", "└┴┘")[0 if row == 0 else 2 if row == how.rows else 1]
    runs: list[Run] = []
    for column in range(how.columns):
        tile = row * how.columns + column
        runs.append((ends[0] if column == 0 else ends[1], "bright_black"))
        if tile < len(how.shapes) and row < how.rows:
            text = f"{tile + 1}"
            runs += [(text, ""), ("─" * (inner + 2 - len(text)), "bright_black")]
        else:
            runs.append(("─" * (inner + 2), "bright_black"))
    return (*runs, (ends[2], "bright_black"))


def _row_line(how: Layout, row: int, level: int, inner: int, cleared: Cleared) -> Line:
    runs: list[Run] = []
    for column in range(how.columns):
        runs.append(("│ ", "bright_black"))
        tile = row * how.columns + column
        shapes = how.shapes[tile] if tile < len(how.shapes) else ()
        feature = shapes[level] if level < len(shapes) else None
        if feature is None:
            runs.append((" " * (inner + 1), ""))
            continue
        name = _cut(feature)
        number = str(cleared.get((tile, feature), ""))
        runs.append((name, _style(how.colours, feature)))
        runs.append((f"{number:>{inner - len(name)}} ", ""))
    return (*runs, ("│", "bright_black"))


def _style(colours: Mapping[str, int], feature: str) -> str:
    if feature not in colours:
        return ""
    return FEATURE_STYLES[colours[feature] % len(FEATURE_STYLES)]


def _cut(feature: str) -> str:
    name = "".join(c if c.isprintable() else "?" for c in feature)
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"


LINE_TILES = 40
"""Tiles of a walk that are written in one line."""


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

    def svg(self, puzzle: Puzzle, solution: Walk | None, title: str | None) -> str:
        """Draw the figures, and the numbers of the moves."""
        from nightgrid.service.games.tiles.svg import draw_svg

        return draw_svg(puzzle, solution, title)


VIEW = TilesView()
