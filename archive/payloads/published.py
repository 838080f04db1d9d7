"""What reading a payload gives, whatever the game: published puzzles, and faults with their place.

A module that reads the payloads of a game, a `nightgrid.archive.games.PayloadReader`, is a pure
function of the bytes: the caller knows when and from where they came, and so decides what is a
draft. Nothing a payload can hold makes it raise.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One puzzle as published, with what the payload says about it."""

    date: dt.date | None
    level: str | None
    """`read_payload` sets both; None from `read_puzzles` where the input does not say."""
    puzzle: Any
    """The game's puzzle, validated."""
    solution: Any = None
    """The official solution, checked against the puzzle, as the game's own solution value (for
    Strands a Cover of score 0). None where the payload has none."""
    source_id: str | None = None
    backend_id: str | None = None
    editor: str | None = None
    constructors: str | None = None
    clue: str | None = None
    """What the player is told beside the board: the clue of Strands."""
    par: int | None = None
    """In how many words the player is asked to solve it: of Letter Boxed."""
    yesterday: str | None = None
    """What the payload says of the edition of the day before, as JSON with `sides` and `solution`,
    null where it cannot be read: compared by `nightgrid.archive.ingest.editions`, not
    trusted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A broken rule, with the place in the payload that breaks it."""

    level: str | None
    """None when the fault lies outside of every level."""
    rule: str
    place: str
    message: str
    others: tuple[Fault, ...] = ()
    """What else is wrong there, in the order of the payload. A lake keeps the first alone."""

    @property
    def all(self) -> tuple[Fault, ...]:
        """It and the others."""
        return (self, *self.others)

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


def input_fault(rule: str, message: str, place: str = "") -> Fault:
    """Return what is wrong with an input outside of every level."""
    return Fault(level=None, rule=rule, place=place, message=message)
