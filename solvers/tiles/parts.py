"""Parts of a Tiles job: a range of the tiles that walks begin on."""

from __future__ import annotations

from itertools import pairwise

Part = dict[str, int]
"""{"from", "to"}: the walks that begin on a tile from the one on, and before the other."""


def part_range(part: Part) -> range:
    """Name the tiles that the walks of a part begin on."""
    return range(part["from"], part["to"])


def divide(part: Part | None, tiles: int, into: int) -> list[Part]:
    """Divide a job on so many tiles, or a part of it, by the tile that walks begin on."""
    at = range(tiles) if part is None else part_range(part)
    many = max(1, min(into, len(at)))
    cuts = [at.start + len(at) * i // many for i in range(many + 1)]
    return [{"from": a, "to": b} for a, b in pairwise(cuts)]
