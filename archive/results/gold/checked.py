"""Remembers the checks of official solutions: each solution is checked once, not every night.

A cache in `checked/`. Without it, or where it is damaged, all is found out anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.fingerprints import FINGERPRINTS_FOLDER
from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.json_files import program_version
from nightgrid.archive.lake.row_digest import digest_of_rows
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import CHECKED
from nightgrid.solvers.game_contract import Game

KEY_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Check:
    """What is known of a solution."""

    valid: bool | None
    number: int | None = None
    """Its value, or its rank among the best solutions ..."""
    best: int | None = None
    """... and how many of these there are."""


class Checked:
    """What is known of the official solutions of a game, by all that it depends on."""

    def __init__(self, lake: Lake, game: Game[Any, Any], kind: str, ask: str = "") -> None:
        """Read what is known of one kind: `official`, or `ranks` among the answers to an ask."""
        self._lake, self._path = lake, f"{FINGERPRINTS_FOLDER}/{game.name}-{kind}.parquet"
        rules, lexicon, solver = game.rules, game.lexicon_id, game.solver_version
        head = (program_version(), f"{kind} {ask}", rules, lexicon, solver, "")
        self._head = "\n".join(head).encode()
        try:
            self._known, told = lake.read_with_metadata(self._path, CHECKED)
        except (DamagedFileError, MissingFileError):
            self._known, told = CHECKED.empty_table(), {}
        self._rows_digest = told.get(_ROWS, b"")

    def find(
        self, rows: pa.Table, make_checks: Callable[[Sequence[int]], Iterable[Check]]
    ) -> pa.Table:
        """Return the check of each row, in the order of `rows`; the file then holds just these.

        The columns of `rows` are texts, and a check depends on all of them. `make_checks`
        gets the numbers of the rows that are not in the file, one number for equal rows.

        The rows of the last call are compared as one block: a night appends rows, and only the new
        ones are hashed and looked up.
        """
        same = len(self._known) if self._begins(rows) else 0
        if same == len(rows) == len(self._known):
            return self._known
        new = rows.slice(same)
        keys = self._keys(new)
        known = self._known
        unknown = pc.is_null(pc.index_in(keys, value_set=known.column("key").combine_chunks()))
        at = pc.indices_nonzero(unknown).to_pylist()
        if at:
            names = keys.to_pylist()
            once = list({names[row]: row for row in reversed(at)}.values())[::-1]
            checks = make_checks([same + row for row in once])
            found = [
                (names[row], *_check_row(check)) for row, check in zip(once, checks, strict=True)
            ]
            columns = list(map(list, zip(*found, strict=True)))
            known = pa.concat_tables([known, pa.table(columns, schema=CHECKED)])
        told = known.take(pc.index_in(keys, value_set=known.column("key").combine_chunks()))
        told = pa.concat_tables([self._known.slice(0, same), told]).combine_chunks()
        metadata = {**CHECKED.metadata, _ROWS: self._digest(rows, told)}
        self._lake.write_table(self._path, told.replace_schema_metadata(metadata))
        return told

    def _begins(self, rows: pa.Table) -> bool:
        """Tell whether the rows begin with those of the file."""
        count = len(self._known)
        if not 0 < count <= len(rows):
            return False
        return self._digest(rows.slice(0, count), self._known) == self._rows_digest

    def _digest(self, rows: pa.Table, told: pa.Table) -> bytes:
        texts = (self._head.hex(), digest_of_rows(rows), digest_of_rows(told))
        return sha256("\n".join(texts).encode()).hexdigest().encode()

    def _keys(self, rows: pa.Table) -> pa.Array:
        texts = zip(*(column.to_pylist() for column in rows.columns), strict=True)
        hashes = (sha256(self._head + "\n".join(row).encode()) for row in texts)
        return pa.array([key.hexdigest()[:KEY_DIGITS] for key in hashes], pa.string())


_ROWS = b"nightgrid.rows"
"""Metadata of the file: a hash over the rows that it is about, in their order, and its own rows."""


def _check_row(check: Check) -> tuple[bool | None, int | None, int | None]:
    return check.valid, check.number, check.best
