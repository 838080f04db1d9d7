"""Parts of a Tiles job: a range of the tiles that walks begin on."""

from __future__ import annotations

from nightgrid.solvers.base_game import even_parts

Part = dict[str, int]
"""{"from", "to"}: the walks that begin on a tile from the one on, and before the other."""


def part_range(part: Part) -> range:
    """Name the tiles that the walks of a part begin on."""
    return range(part["from"], part["to"])


def divide(part: Part | None, tiles: int, into: int) -> list[Part]:
    """Divide a job on so many tiles, or a part of it, by the tile that walks begin on."""
    return even_parts(range(tiles) if part is None else part_range(part), into)
