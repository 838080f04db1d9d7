"""Play given words on a board, letter by letter, keeping every way of playing that may matter.

A way of playing is a side and what is still to be collected. What is to be collected is one
integer with a field for every letter of every side; a way that has collected less than another on
the same side is dropped, for whatever follows suits the other as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.puzzle import Puzzle

WAYS_MAX = 200_000
"""Ways of playing the same letters that are kept side by side, some seconds of work."""

Way = tuple[int, int]
"""(side, fields of what is left to collect)"""


class TooManyWaysError(PermanentError):
    """Nobody can tell whether the letters can be played: there are too many ways to follow."""


class Playing:
    """Letters that are played on a board one after the other, in every way that may matter."""

    def __init__(self, puzzle: Puzzle, text: Sequence[str]) -> None:
        """Lay out the fields. `text` is every letter that will be played, in order."""
        self._sides = puzzle.sides
        self._text = text
        self._spots: dict[tuple[int, str], int] = {}
        self._guard = self._full = shift = 0
        self._fields: dict[str, list[tuple[int, int]]] = {}
        for side, letters in enumerate(puzzle.sides):
            for letter, times in sorted(Counter(letters).items()):
                width = times.bit_length()
                self._spots[side, letter] = shift
                self._full |= times << shift
                self._guard |= 1 << (shift + width)
                self._fields.setdefault(letter, []).append((shift, (1 << width) - 1))
                shift += width + 1
        self._to_come = Counter(text)
        self._trail: list[dict[Way, Way | None]] = []

    def start(self) -> bool:
        """Play the first letter; tell whether it stands on the board."""
        ways: dict[Way, Way | None] = {}
        for side in range(len(self._sides)):
            self._enter(ways, side, self._full, self._text[0], None)
        return self._keep(ways, self._text[0])

    def step(self) -> bool:
        """Play the next letter from another side; tell whether it can be."""
        letter = self._text[len(self._trail)]
        ways: dict[Way, Way | None] = {}
        for way in self._trail[-1]:
            for side in range(len(self._sides)):
                if side != way[0]:
                    self._enter(ways, side, way[1], letter, way)
        return self._keep(ways, letter)

    def _enter(
        self, ways: dict[Way, Way | None], side: int, left: int, letter: str, before: Way | None
    ) -> None:
        shift = self._spots.get((side, letter))
        if shift is None:
            return
        field = self._guard >> shift
        if left >> shift & ((field & -field) - 1):
            left -= 1 << shift
        ways.setdefault((side, left), before)

    def _keep(self, ways: dict[Way, Way | None], letter: str) -> bool:
        self._to_come[letter] -= 1
        rest = self._to_come[letter]
        fields = self._fields.get(letter, [])
        kept: dict[Way, Way | None] = {}
        several = len(fields) > 1
        for way in sorted(ways, key=lambda way: (way[0], way[1].bit_count())) if several else ways:
            # What the letters to come cannot collect any more leads nowhere.
            if sum(way[1] >> shift & mask for shift, mask in fields) > rest:
                continue
            kept[way] = ways[way]
        if len(kept) > WAYS_MAX:
            raise TooManyWaysError(
                f"there are more than {WAYS_MAX:,} ways of playing the first "
                f"{len(self._trail) + 1} letters, which are too many to follow"
            )
        if several and len(kept) <= 64:
            kept = self._undominated(kept)
        self._trail.append(kept)
        return bool(kept)

    def _undominated(self, ways: dict[Way, Way | None]) -> dict[Way, Way | None]:
        guard = self._guard
        return {
            way: before
            for way, before in ways.items()
            if not any(
                other != way
                and other[0] == way[0]
                and ((way[1] | guard) - other[1]) & guard == guard
                for other in ways
            )
        }

    @property
    def complete(self) -> bool:
        """Whether some way has collected every letter."""
        return any(not left for _, left in self._trail[-1])

    def sides(self) -> list[int]:
        """Give the side of every letter played, in a way that has collected every letter."""
        way: Way | None = min(way for way in self._trail[-1] if not way[1])
        sides = []
        for ways in reversed(self._trail):
            assert way is not None
            sides.append(way[0])
            way = ways[way]
        return sides[::-1]
