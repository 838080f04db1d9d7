"""Parts of a Tiles job: a range of the tiles that walks begin on."""

from __future__ import annotations

from nightgrid.solvers.base_game import even_parts
from nightgrid.solvers.sentences import numbered

Part = dict[str, int]
"""{"from", "to"}: the walks that begin on a tile from the one on, and before the other."""


def part_range(part: Part) -> range:
    """Name the tiles that the walks of a part begin on."""
    return range(part["from"], part["to"])


def part_words(part: Part, rules: str) -> str:  # noqa: ARG001 - the same of every game
    """Say what a part is: "walks that begin on tiles 1-6"."""
    return f"walks that begin on {numbered('tile', part['from'], part['to'])}"


def divide(part: Part | None, tiles: int, into: int) -> list[Part]:
    """Divide a job on so many tiles, or a part of it, by the tile that walks begin on."""
    return even_parts(range(tiles) if part is None else part_range(part), into)
