"""Marks: the inputs of a step when it was done last, and what came out.

While its inputs are the same, a step need not be done again.

A mark is a hint. Without it, or where it is damaged, the step is done. It names inputs by what a
listing tells of the files of a folder, which are created and never changed, and by their bytes
where files are written over. A file that was lost, set aside, merged or written over by whatever
program is another input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.json_files import program_version, read_hint, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.canonical import canonical_json

MADE_OF = "made_of"
MARKS_FOLDER = "checked"


class Mark:
    """The inputs of a step now, beside those of the last time."""

    def __init__(
        self,
        lake: Lake,
        path: str,
        about: Mapping[str, Any],
        *,
        folders: Sequence[str] = (),
        files: Sequence[str] = (),
    ) -> None:
        """Look at the inputs now, before any of them is read.

        They are `about`, the listings of `folders`, the bytes of `files` and this program.
        """
        self._lake, self._path = lake, path
        inputs = {
            "program": program_version(),
            "about": about,
            "listings": [lake.stamps(folder) for folder in folders],
            "files": [_hash_of(lake, name) for name in files],
        }
        self.made_of = sha256(canonical_json(inputs).encode()).hexdigest()

    def told(self) -> dict[str, Any] | None:
        """Give what came out the last time; None unless the inputs were the same."""
        told = read_hint(self._lake, self._path, lambda found: found)
        return told if told is not None and told.pop(MADE_OF, None) == self.made_of else None

    def keep(self, told: Mapping[str, Any]) -> None:
        """Remember what came out of these inputs: values that JSON has."""
        mark = {MADE_OF: self.made_of, **told}
        write_json(self._lake, self._path, mark, durable=False, checked=True)


def _hash_of(lake: Lake, path: str) -> str:
    try:
        return sha256(lake.read_bytes(path)).hexdigest()
    except MissingFileError:
        return ""
