"""Remembers what normalising found: a night without a new payload reads no table again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nightgrid.archive.ingest.editions import editions_path, observations_path, quarantine_path
from nightgrid.archive.ingest.puzzles import puzzles_folder
from nightgrid.archive.ingest.raw import index_path, pending_folder
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.marks import MARKS_FOLDER, Mark


def normalised_mark_path(game: str) -> str:
    """Name the mark of a game's tables."""
    return f"{MARKS_FOLDER}/{game}-normalised.json"


class NormalisedMark:
    """The tables of a game, beside what they were when nothing was left to normalise."""

    def __init__(self, lake: Lake, game: str) -> None:
        """Look at the tables now, before any of them is read."""
        self._lake, self._game = lake, game
        self._mark = self._look()

    def _look(self) -> Mark | None:
        # What is pending is to be looked at, whatever the tables are.
        if self._lake.list(pending_folder(self._game)):
            return None
        paths = (index_path, editions_path, quarantine_path, observations_path)
        return Mark(
            self._lake,
            normalised_mark_path(self._game),
            {"game": self._game},
            folders=[puzzles_folder(self._game)],
            files=[path(self._game) for path in paths],
        )

    def counts(self, names: Sequence[str]) -> dict[str, int] | None:
        """Give counts by the names given, if the tables are as they were when these were kept."""
        told = None if self._mark is None else self._mark.told()
        if told is None or not all(isinstance(told.get(name), int) for name in names):
            return None
        return {name: told[name] for name in names}

    def keep(self, counts: Mapping[str, int]) -> None:
        """Remember the counts of tables in which nothing is left to do, unless they have changed.

        Where they have changed since they were looked at, the next call will look again.
        """
        now = self._look()
        if self._mark is not None and now is not None and now.made_of == self._mark.made_of:
            self._mark.keep(counts)
