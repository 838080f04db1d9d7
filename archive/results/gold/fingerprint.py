"""The fingerprint of the inputs of gold: gold of the same inputs is not made again.

A file of results, solutions or puzzles that was lost, merged or written over changes a listing,
and so does a file of gold itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.ingest.puzzles import puzzles_folder
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import RESULTS_FOLDER, SOLUTIONS_FOLDER
from nightgrid.archive.state import InputFingerprint
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.game_contract import Game

GOLD_FOLDER = "gold"


class GoldFingerprint:
    """The fingerprint of the inputs of a game's gold, with the listing of gold made of them."""

    def __init__(
        self, lake: Lake, game: Game[Any, Any], asks: Sequence[Ask], outputs: Sequence[str]
    ) -> None:
        """Take the fingerprint now, before any input is read; `outputs` are the tables of gold."""
        self._lake, self._outputs = lake, outputs
        about = {
            "rules": game.rules,
            "lexicon": game.lexicon_id,
            "solver": game.solver_version,
            "asks": list(map(str, asks)),
        }
        self._fingerprint = InputFingerprint(
            lake,
            game.name,
            "gold",
            about,
            folders=[RESULTS_FOLDER, SOLUTIONS_FOLDER, puzzles_folder(game.name)],
            files=[editions_path(game.name)],
        )

    @property
    def is_current(self) -> bool:
        """Whether the tables of gold are there as they were made of the same inputs."""
        saved = self._fingerprint.saved_result()
        return saved is not None and saved.get("made") == self._made()

    def save(self) -> None:
        """Save that gold was made of these inputs."""
        self._fingerprint.save({"made": self._made()})

    def _made(self) -> list[list[Any]]:
        there = self._lake.stamps(GOLD_FOLDER)
        return [[path, *there.get(path, ())] for path in self._outputs]
