"""What gold was made of the last time: the same again need not be read.

A file of results, solutions or puzzles that was lost, merged or written over is another listing,
and so is one of gold itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.ingest.puzzles import puzzles_folder
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.marks import MARKS_FOLDER, Mark
from nightgrid.archive.results.files import RESULTS_FOLDER, SOLUTIONS_FOLDER
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.game_contract import Game

GOLD_FOLDER = "gold"


def gold_mark_path(game: str) -> str:
    """Name the mark of a game's gold."""
    return f"{MARKS_FOLDER}/{game}-gold.json"


class GoldMark:
    """What the gold of a game is to be made of, beside what it was made of."""

    def __init__(
        self, lake: Lake, game: Game[Any, Any], asks: Sequence[Ask], outputs: Sequence[str]
    ) -> None:
        """Look at the inputs now, before any of them is read; `outputs` are the tables of gold."""
        self._lake, self._outputs = lake, outputs
        about = {
            "rules": game.rules,
            "lexicon": game.lexicon_id,
            "solver": game.solver_version,
            "asks": list(map(str, asks)),
        }
        self._mark = Mark(
            lake,
            gold_mark_path(game.name),
            about,
            folders=[RESULTS_FOLDER, SOLUTIONS_FOLDER, puzzles_folder(game.name)],
            files=[editions_path(game.name)],
        )

    @property
    def holds(self) -> bool:
        """Whether gold is there, as it was made of the very same."""
        told = self._mark.told()
        return told is not None and told.get("made") == self._made()

    def keep(self) -> None:
        """Remember that gold was made of these inputs."""
        self._mark.keep({"made": self._made()})

    def _made(self) -> list[list[Any]]:
        there = self._lake.stamps(GOLD_FOLDER)
        return [[path, *there.get(path, ())] for path in self._outputs]
