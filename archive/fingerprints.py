"""Fingerprints of the inputs of a step, kept with its result: the same inputs are not worked again.

A fingerprint is a hint. Without it, or where its file is damaged, the step is done. It covers the
listings (names, sizes, times) of folders whose files are created and never changed, and the bytes
of files that are written over. A file that was lost, set aside, merged or written over by any
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
"""Key of the fingerprint in its file."""
FINGERPRINTS_FOLDER = "checked"


class InputFingerprint:
    """The hash of a step's inputs now, and its saved result if the inputs were the same then."""

    def __init__(
        self,
        lake: Lake,
        path: str,
        about: Mapping[str, Any],
        *,
        folders: Sequence[str] = (),
        files: Sequence[str] = (),
    ) -> None:
        """Hash the inputs now, before any of them is read.

        They are `about`, the listings of `folders`, the bytes of `files` and this program.
        """
        self._lake, self._path = lake, path
        inputs = {
            "program": program_version(),
            "about": about,
            "listings": [lake.stamps(folder) for folder in folders],
            "files": [_hash_of(lake, name) for name in files],
        }
        self.digest = sha256(canonical_json(inputs).encode()).hexdigest()

    def saved_result(self) -> dict[str, Any] | None:
        """Read the result of the last time; None unless the inputs were the same."""
        saved = read_hint(self._lake, self._path, lambda found: found)
        return saved if saved is not None and saved.pop(MADE_OF, None) == self.digest else None

    def save(self, result: Mapping[str, Any]) -> None:
        """Write the result of these inputs: values that JSON has."""
        value = {MADE_OF: self.digest, **result}
        write_json(self._lake, self._path, value, durable=False, checked=True)


def _hash_of(lake: Lake, path: str) -> str:
    try:
        return sha256(lake.read_bytes(path)).hexdigest()
    except MissingFileError:
        return ""
