"""Findings of the last night of a game, by step, in one file: `state/GAME.json`.

It is a cache: deleting it costs one full night, and a damaged one counts as deleted. Only the
process that holds the night of a lake writes it.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.json_files import read_hint, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.canonical import canonical_json

NIGHT_REPORT = "report"
"""Step of the figures of the last night, with `ended_at` and `succeeded_at`."""
MADE_OF = "made_of"
"""Key of the fingerprint in a step's record."""


def state_path(game: str) -> str:
    """Return the state file of a game."""
    return f"state/{game}.json"


def read_state(lake: Lake, game: str, step: str) -> dict[str, Any] | None:
    """Read the record of a step of a game; None if there is none."""
    return read_hint(lake, state_path(game), lambda steps: dict(steps[step])) or None


def write_state(
    lake: Lake, game: str, step: str, value: Mapping[str, Any], *, durable: bool = False
) -> None:
    """Replace the record of a step of a game; values are JSON."""
    steps = read_hint(lake, state_path(game), dict) or {}
    write_json(lake, state_path(game), {**steps, step: value}, durable=durable)


class InputFingerprint:
    """The hash of a step's inputs now, and its saved result if the inputs were the same then.

    It covers the listings (names, sizes, times) of folders whose files are created and never
    changed, and the bytes of files that are rewritten. A file that any program lost, set aside,
    merged or rewrote changes the hash.
    """

    def __init__(
        self,
        lake: Lake,
        game: str,
        step: str,
        about: Mapping[str, Any],
        *,
        folders: Sequence[str] = (),
        files: Sequence[str] = (),
    ) -> None:
        """Hash the inputs now, before reading any of them.

        They are `about`, the listings of `folders`, the bytes of `files` and this program.
        """
        self._lake, self._game, self._step = lake, game, step
        inputs = {
            # A later program may have stricter rules.
            "program": importlib.metadata.version("nightgrid"),
            "about": about,
            "listings": [lake.stamps(folder) for folder in folders],
            "files": [_hash_of(lake, name) for name in files],
        }
        self.digest = sha256(canonical_json(inputs).encode()).hexdigest()

    def saved_result(self) -> dict[str, Any] | None:
        """Return the saved result; None unless the inputs are the same."""
        saved = read_state(self._lake, self._game, self._step)
        return saved if saved is not None and saved.pop(MADE_OF, None) == self.digest else None

    def save(self, result: Mapping[str, Any]) -> None:
        """Save the result of these inputs; values are JSON."""
        write_state(self._lake, self._game, self._step, {MADE_OF: self.digest, **result})


def _hash_of(lake: Lake, path: str) -> str:
    try:
        return sha256(lake.read_bytes(path)).hexdigest()
    except MissingFileError:
        return ""
