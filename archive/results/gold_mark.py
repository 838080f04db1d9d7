"""What gold was made of the last time: the same again need not be read.

A mark is a hint. Without it, or where it is damaged, gold is made anew. It names its inputs by what
a listing tells of their files, which are created and never changed, and of the editions, which are
written over, by their bytes. A file that was lost, set aside, merged or written over by whatever
program is another listing, and so is one of gold itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.ingest.puzzles import puzzles_folder
from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.json_files import program_version, read_hint, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.checked import CHECKED_FOLDER
from nightgrid.archive.results.files import RESULTS_FOLDER, SOLUTIONS_FOLDER
from nightgrid.solvers.algebra import Ask, Game, canonical_json

GOLD_FOLDER = "gold"


def gold_mark_path(game: str) -> str:
    """Name the mark of a game's gold."""
    return f"{CHECKED_FOLDER}/{game}-gold.json"


class GoldMark:
    """What the gold of a game is to be made of, beside what it was made of."""

    def __init__(
        self, lake: Lake, game: Game[Any, Any], asks: Sequence[Ask], outputs: Sequence[str]
    ) -> None:
        """Look at the inputs now, before any of them is read; `outputs` are the tables of gold."""
        self._lake, self._path = lake, gold_mark_path(game.name)
        self._outputs = outputs
        listings = [
            lake.stamps(folder)
            for folder in (RESULTS_FOLDER, SOLUTIONS_FOLDER, puzzles_folder(game.name))
        ]
        try:
            editions = sha256(lake.read_bytes(editions_path(game.name))).hexdigest()
        except MissingFileError:
            editions = ""
        about = {
            "program": program_version(),
            "rules": game.rules,
            "lexicon": game.lexicon_id,
            "solver": game.solver_version,
            "asks": list(map(str, asks)),
            "listings": listings,
            "editions": editions,
        }
        self._inputs = sha256(canonical_json(about).encode()).hexdigest()

    @property
    def holds(self) -> bool:
        """Whether gold is there, as it was made of the very same."""
        kept = read_hint(self._lake, self._path, lambda found: (found["made_of"], found["made"]))
        return kept is not None and kept == (self._inputs, self._made())

    def keep(self) -> None:
        """Remember that gold was made of these inputs."""
        told = {"made_of": self._inputs, "made": self._made()}
        write_json(self._lake, self._path, told, durable=False, checked=True)

    def _made(self) -> list[list[Any]]:
        there = self._lake.stamps(GOLD_FOLDER)
        return [[path, *there.get(path, ())] for path in self._outputs]
