"""What was found out before about official solutions: each is looked at once, not every night.

A cache in `checked/`. Without it, or where it is damaged, all is found out anew.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import pyarrow as pa

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import CHECKED
from nightgrid.solvers.algebra import Game

KEY_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Check:
    """What is known of a solution."""

    valid: bool | None
    number: int | None = None
    """What it is worth, or its rank among the best ..."""
    best: int | None = None
    """... and how many of these there are."""


def program_version() -> str:
    """Tell by which program something was found out: a later one may have stricter rules."""
    return importlib.metadata.version("nightgrid")


class Checked:
    """What is known of the official solutions of a game, by all that it depends on."""

    def __init__(self, lake: Lake, game: Game[Any, Any], kind: str) -> None:
        """Read what is known of one kind: `official` or `ranks`."""
        self._lake, self._path = lake, f"checked/{game.name}-{kind}.parquet"
        rules, lexicon, solver = game.rules, game.lexicon_id, game.solver_version
        self._head = f"{program_version()}\n{kind}\n{rules}\n{lexicon}\n{solver}\n"
        self._known: dict[str, Check] = {}
        self._used: dict[str, Check] = {}
        try:
            table = lake.read_table(self._path, CHECKED)
        except DamagedFileError:
            return
        columns = (table.column(name).to_pylist() for name in CHECKED.names)
        self._known = {key: Check(*told) for key, *told in zip(*columns, strict=True)}

    def knows(self, *parts: str) -> bool:
        """Tell whether something is known."""
        return self._key(parts) in self._known

    def find(self, *parts: str, look: Callable[[], Check]) -> Check:
        """Give what is known, or `look` and remember it; `parts` are what it depends on."""
        key = self._key(parts)
        check = self._known.get(key)
        self._used[key] = check = look() if check is None else check
        return check

    def keep(self) -> None:
        """Put what was asked for into the lake, and nothing else, if that is not there."""
        if self._used == self._known:
            return
        keys = sorted(self._used)
        checks = [self._used[key] for key in keys]
        columns: list[list[Any]] = [keys, [check.valid for check in checks]]
        columns += [[check.number for check in checks], [check.best for check in checks]]
        self._lake.write_table(self._path, pa.table(columns, schema=CHECKED))

    def _key(self, parts: tuple[str, ...]) -> str:
        text = self._head + "\n".join(parts)
        return sha256(text.encode()).hexdigest()[:KEY_DIGITS]
