"""Compiled lexicons on this machine: one folder of arrays each, mapped into every process."""

from __future__ import annotations

from pathlib import Path

from nightgrid.solvers.kernel.cache_folder import cache_base, fill_file, kept_arrays, mapped_arrays
from nightgrid.solvers.lexicon.compile import COMPILE_VERSION, sealed
from nightgrid.solvers.lexicon.lexicon import Lexicon

SOURCES = "sources"
"""Folder of notes that say which lexicon a source (a word list, a release of wordfreq) became."""


def cached(lexicon_id: str) -> Lexicon | None:
    """Map a lexicon read-only, or return None when this machine has no copy."""
    arrays = mapped_arrays(_folder(lexicon_id))
    return None if arrays is None else sealed(lexicon_id, arrays)


def keep(lexicon: Lexicon) -> Lexicon:
    """Write a lexicon's arrays into the cache; return it mapped from there."""
    name = lexicon.lexicon_id
    return sealed(name, kept_arrays(_folder(name), lexicon.arrays))


def known(source: str) -> Lexicon | None:
    """Map the lexicon that a source became, or return None when that is not known here.

    `source` is a name for a file: hexadecimal digits.
    """
    try:
        lexicon_id = (_root() / SOURCES / source).read_text()
    except (OSError, UnicodeDecodeError):
        return None
    return cached(lexicon_id) if lexicon_id.isalnum() else None


def note(source: str, lexicon_id: str) -> None:
    """Remember which lexicon a source became."""
    fill_file(_root() / SOURCES / source, lambda path: path.write_text(lexicon_id))


def _root() -> Path:
    return cache_base() / "lexicons"


def _folder(lexicon_id: str) -> Path:
    return _root() / f"{lexicon_id}-{COMPILE_VERSION}"
