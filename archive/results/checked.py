"""What was found out before about official solutions: each is looked at once, not every night.

A cache in `checked/`. Without it, or where it is damaged, all is found out anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.json_files import program_version
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import CHECKED
from nightgrid.solvers.algebra import Game

KEY_DIGITS = 32
CHECKED_FOLDER = "checked"


@dataclass(frozen=True, slots=True)
class Check:
    """What is known of a solution."""

    valid: bool | None
    number: int | None = None
    """What it is worth, or its rank among the best ..."""
    best: int | None = None
    """... and how many of these there are."""


class Checked:
    """What is known of the official solutions of a game, by all that it depends on."""

    def __init__(self, lake: Lake, game: Game[Any, Any], kind: str) -> None:
        """Read what is known of one kind: `official` or `ranks`."""
        self._lake, self._path = lake, f"{CHECKED_FOLDER}/{game.name}-{kind}.parquet"
        rules, lexicon, solver = game.rules, game.lexicon_id, game.solver_version
        self._head = f"{program_version()}\n{kind}\n{rules}\n{lexicon}\n{solver}\n"
        try:
            self._known = lake.read_table(self._path, CHECKED)
        except DamagedFileError:
            self._known = CHECKED.empty_table()

    def find(
        self, columns: Sequence[Iterable[str]], look: Callable[[Sequence[int]], Iterable[Check]]
    ) -> pa.Table:
        """Give what is known of each row, in their order; the file then has that and nothing else.

        `columns` are what it depends on. `look` is given the numbers of the rows of which nothing
        is known, each once, and finds that out.
        """
        head = self._head.encode()
        texts = ("\n".join(row) for row in zip(*columns, strict=True))
        keys = [sha256(head + text.encode()).hexdigest()[:KEY_DIGITS] for text in texts]
        asked = pa.array(keys, pa.string())
        known = self._known
        unknown = pc.is_null(pc.index_in(asked, value_set=known.column("key").combine_chunks()))
        rows = pc.indices_nonzero(unknown).to_pylist()
        if rows:
            once = list({keys[row]: row for row in reversed(rows)}.values())[::-1]
            found = [
                (keys[row], *told) for row, told in zip(once, map(_told, look(once)), strict=True)
            ]
            new = pa.table(list(map(list, zip(*found, strict=True))), schema=CHECKED)
            known = pa.concat_tables([known, new])
        at = pc.index_in(asked, value_set=known.column("key").combine_chunks())
        used = known.take(pa.array(np.unique(at.to_numpy()), pa.int64())).sort_by("key")
        if not used.equals(self._known):
            self._lake.write_table(self._path, used)
        return known.take(at)


def _told(check: Check) -> tuple[bool | None, int | None, int | None]:
    return check.valid, check.number, check.best
