"""Where the letters of a polygon's sides stand: the geometry of both drawings of Letter Boxed.

Sides follow one another clockwise. With an even number of them the first one lies on top, with an
odd number a corner does. The letters of a side are read from left to right, of an upright side
from above. Coordinates are those of a page: x grows to the right, y downwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float]

_UPRIGHT = 1e-9
"""Sides that differ by less than this in x stand upright."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Polygon:
    """A regular polygon whose sides have length 1, and the places of letters on them."""

    corners: tuple[Point, ...]
    """Corner i begins side i; the side ends where the next one begins. Of fewer than three sides
    there are none: they lie apart, one above the other."""
    segments: tuple[tuple[Point, Point], ...]
    """The ends of each side, in the order in which its letters are read."""
    outward: tuple[Point, ...]
    """The direction out of the polygon at each side, of length 1."""
    places: tuple[tuple[Point, ...], ...]
    """The place of each letter of each side."""

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right and lower end."""
        ends = [point for segment in self.segments for point in segment]
        xs, ys = [x for x, _ in ends], [y for _, y in ends]
        return min(xs), min(ys), max(xs), max(ys)


def polygon(letters: Sequence[int]) -> Polygon:
    """Lay out a polygon whose sides have these numbers of letters."""
    sides = len(letters)
    corners = _corners(sides) if sides > 2 else ()
    segments = []
    outward = []
    for i in range(sides):
        if corners:
            (ax, ay), (bx, by) = start, end = corners[i], corners[(i + 1) % sides]
            outward.append((by - ay, ax - bx))
        else:
            start, end = (0.0, float(i)), (1.0, float(i))
            outward.append((0.0, 2.0 * i - 1))
        if (start[0] > end[0] + _UPRIGHT) or (
            abs(start[0] - end[0]) < _UPRIGHT and start[1] > end[1]
        ):
            start, end = end, start
        segments.append((start, end))
    places = tuple(
        tuple(_between(segment, (j + 1) / (count + 1)) for j in range(count))
        for segment, count in zip(segments, letters, strict=True)
    )
    return Polygon(corners=corners, segments=tuple(segments), outward=tuple(outward), places=places)


def _corners(sides: int) -> tuple[Point, ...]:
    radius = 0.5 / math.sin(math.pi / sides)
    first = -math.pi / 2 - (math.pi / sides if sides % 2 == 0 else 0.0)
    angles = (first + 2 * math.pi * i / sides for i in range(sides))
    return tuple((radius * math.cos(angle), radius * math.sin(angle)) for angle in angles)


def _between(segment: tuple[Point, Point], share: float) -> Point:
    (ax, ay), (bx, by) = segment
    return (ax + share * (bx - ax), ay + share * (by - ay))
