"""Play a small Tiles board in every way there is, by the rules as article 000 words them.

Written to be obviously right, not fast, and without a line of the solver: only the values that
describe a question (tiles as tuples of features) are shared. A position is the features left on
every tile, and the player's tile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

Tiles = Sequence[Sequence[str]]
Position = tuple[tuple[frozenset[str], ...], int]

MOST_POSITIONS = 60_000


class TooLargeError(Exception):
    """The board has more positions than an oracle should visit."""


def moves(position: Position, teleports: str) -> Iterator[Position]:
    """Every position one move away: a new tile, with the features it shares with the old one
    deleted."""
    left, now = position
    for tile in range(len(left)):
        if tile == now:
            continue
        shared = left[now] & left[tile]
        if not shared:
            if teleports == "no" or (teleports == "forced" and left[now]):
                continue
            yield left, tile
            continue
        after = list(left)
        after[now] -= shared
        after[tile] -= shared
        yield tuple(after), tile


def fewest_moves(tiles: Tiles, teleports: str, first: Sequence[int] | None = None) -> int | None:
    """Count the fewest moves that delete everything, breadth first; None if impossible.

    `first` are the tiles that the player may begin on. Raises TooLargeError.
    """
    left = tuple(frozenset(tile) for tile in tiles)
    begins = range(len(left)) if first is None else first
    here: list[Position] = [(left, tile) for tile in begins]
    seen = set(here)
    made = 0
    while here:
        if any(not any(rest) for rest, _ in here):
            return made
        following = []
        for position in here:
            for after in moves(position, teleports):
                if after not in seen:
                    seen.add(after)
                    following.append(after)
        if len(seen) > MOST_POSITIONS:
            raise TooLargeError(f"more than {MOST_POSITIONS} positions")
        here = following
        made += 1
    return None


def every_feature_is_even(tiles: Tiles) -> bool:
    """Theorem 4, statement 3, taken literally."""
    return all(n % 2 == 0 for n in Counter(f for tile in tiles for f in tile).values())


def sharing_number(tiles: Tiles) -> int:
    """Definition 23, taken literally."""
    sets = [set(tile) for tile in tiles]
    return max((len(a & b) for i, a in enumerate(sets) for b in sets[:i]), default=0)


def has_euler_trail(tiles: Tiles) -> bool:
    """Theorem 24's condition: connected, features even, at most two tiles odd."""
    full = [set(tile) for tile in tiles if tile]
    reached = full[:1]
    rest = full[1:]
    grown = True
    while grown:
        seen = set().union(*reached)
        near = [tile for tile in rest if tile & seen]
        rest = [tile for tile in rest if not tile & seen]
        reached += near
        grown = bool(near)
    odd = sum(len(tile) % 2 for tile in tiles)
    return not rest and every_feature_is_even(tiles) and odd <= 2
