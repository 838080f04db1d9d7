"""The arguments of `nightgrid submit`, and the line for each job, for a lake or a service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nightgrid.service.options.game_options import GameRules
from nightgrid.service.terminal.console import emit, say
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.registry import game_plug

if TYPE_CHECKING:
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """The puzzles that are submitted, what is asked of them, and the jobs they have become."""

    files: Sequence[str]
    """Files, folders and references, as they were given."""
    typed: Mapping[str, str]
    """Boards that were typed, by the option of their game."""
    levels: Sequence[str]
    game: str | None
    """The game that was named; None: what each file holds."""
    chosen: Ask | None
    """The ask that was given; None: what is usually asked of each game."""
    rules: GameRules
    deadline_s: float | None
    """How long an answer is wanted, from when its puzzle is submitted; None: for ever."""
    json: bool
    wait_s: float | None
    """How long the command waits for answers; None: it prints the ids of jobs instead."""
    jobs: dict[str, str] = field(default_factory=dict)
    """What the puzzle of each submitted job is called, by job id."""

    @property
    def prints_ids(self) -> bool:
        """Tell whether each job is printed when it is submitted, not only when it has ended."""
        return self.wait_s is None

    def ask_of(self, game: str) -> Ask | None:
        """Tell what is asked of a game's puzzles; None for an unknown game, which is ""."""
        return self.chosen or (game_plug(game).usual_ask if game else None)

    def print_job(self, job_id: str, name: str, value: Mapping[str, Any]) -> None:
        """Record a submitted job, and print it if `prints_ids`; `value` is its --json."""
        self.jobs[job_id] = name
        if not self.prints_ids:
            return
        if self.json:
            emit(value)
        else:
            say(f"{job_id}  {name}")


def puzzle_name(found: Found, published: Published) -> str:
    """Say which puzzle it is: game, date and level where they are known, else where it stands."""
    from nightgrid.archive.lookup.reference import reference_text

    if published.date is None:
        return " ".join(filter(None, (found.game, found.source, published.level)))
    return reference_text(found.game, published.date, published.level)
