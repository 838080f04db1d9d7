"""Counts of a game's tables while nothing is left to normalise: such a night reads no table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nightgrid.archive.fingerprints import FINGERPRINTS_FOLDER, InputFingerprint
from nightgrid.archive.ingest.editions import editions_path, observations_path, quarantine_path
from nightgrid.archive.ingest.puzzles import puzzles_folder
from nightgrid.archive.ingest.raw import index_path, pending_folder
from nightgrid.archive.lake.storage import Lake


def normalised_fingerprint_path(game: str) -> str:
    """Name the file of the fingerprint of a game's tables."""
    return f"{FINGERPRINTS_FOLDER}/{game}-normalised.json"


class NormalisedFingerprint:
    """The fingerprint of a game's tables, with their counts when nothing was left to normalise."""

    def __init__(self, lake: Lake, game: str) -> None:
        """Take the fingerprint now, before any table is read."""
        self._lake, self._game = lake, game
        self._fingerprint = self._take()

    def _take(self) -> InputFingerprint | None:
        # Pending payloads are to be normalised, whatever the tables are.
        if self._lake.list(pending_folder(self._game)):
            return None
        paths = (index_path, editions_path, quarantine_path, observations_path)
        return InputFingerprint(
            self._lake,
            normalised_fingerprint_path(self._game),
            {"game": self._game},
            folders=[puzzles_folder(self._game)],
            files=[path(self._game) for path in paths],
        )

    def counts(self, names: Sequence[str]) -> dict[str, int] | None:
        """Read the saved counts of these names; None if a table has changed since."""
        saved = None if self._fingerprint is None else self._fingerprint.saved_result()
        if saved is None or not all(isinstance(saved.get(name), int) for name in names):
            return None
        return {name: saved[name] for name in names}

    def save(self, counts: Mapping[str, int]) -> None:
        """Save the counts of tables of which nothing is left to normalise.

        Saves nothing if a table has changed since the fingerprint was taken.
        """
        now = self._take()
        if (
            self._fingerprint is not None
            and now is not None
            and now.digest == self._fingerprint.digest
        ):
            self._fingerprint.save(counts)
