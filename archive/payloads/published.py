"""The result of parsing a payload of any game: published puzzles, and faults with their place.

A module that parses the payloads of a game, a `nightgrid.archive.games.PayloadReader`, is a pure
function of the bytes: the caller knows when and where they came from, and so decides what is a
draft. No payload can make it raise.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One puzzle as published, with the payload's facts about it."""

    date: dt.date | None
    level: str | None
    """Set by `read_payload`; None from `read_puzzles` if the input does not say."""
    puzzle: Any
    """The game's puzzle, validated."""
    solution: Any = None
    """The official solution, checked against the puzzle, as the game's own solution value (for
    Strands a Cover of score 0). None if the payload has none."""
    source_id: str | None = None
    backend_id: str | None = None
    editor: str | None = None
    constructors: str | None = None
    clue: str | None = None
    """Text shown to the player with the board: the clue of Strands."""
    par: int | None = None
    """Number of words in which to solve the board: of Letter Boxed."""
    yesterday: str | None = None
    """The payload's description of the previous day's edition, as JSON with `sides` and `solution`,
    null if unreadable: compared by `nightgrid.archive.ingest.editions`, not trusted."""


EDITION_FACTS = ("source_id", "backend_id", "editor", "constructors", "clue", "par", "yesterday")
"""Facts of a published puzzle that the table of editions has as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A broken rule, with the place in the payload that breaks it."""

    level: str | None
    """None if the fault is outside of every level."""
    rule: str
    place: str
    message: str
    others: tuple[Fault, ...] = ()
    """Further faults there, in the order of the payload. A lake keeps only the first."""

    @property
    def all(self) -> tuple[Fault, ...]:
        """Return this fault and the others."""
        return (self, *self.others)

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


def input_fault(rule: str, message: str, place: str = "") -> Fault:
    """Return a fault of an input outside of every level."""
    return Fault(level=None, rule=rule, place=place, message=message)
