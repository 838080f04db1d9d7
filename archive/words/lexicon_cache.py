"""Compiled lexicons on this machine: one folder of arrays each, mapped into every process."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.cache_folder import cache_base, fill_file, staged_path
from nightgrid.solvers.lexicon.compile import COMPILE_VERSION, digest_of, sealed
from nightgrid.solvers.lexicon.lexicon import Lexicon

CONTENTS = "contents.json"
TEXT = "words.txt"
SOURCES = "sources"
"""Folder of notes that say which lexicon a source (a word list, a release of wordfreq) became."""
STAGED_KEPT_S = 3600.0
"""Age after which a half-written lexicon can only be what a killed process left behind."""


def cached(lexicon_id: str) -> Lexicon | None:
    """Map a lexicon read-only, or return None when this machine has no copy.

    Every process that does shares one copy in memory.
    """
    folder = _folder(lexicon_id)
    try:
        contents = json.loads((folder / CONTENTS).read_bytes())
        if contents["compile_version"] != COMPILE_VERSION:
            return None
        arrays = {name: _mapped(folder / f"{name}.npy") for name in contents["arrays"]}
        return sealed(lexicon_id, arrays)
    except (OSError, EOFError, ValueError, KeyError):
        return None


def keep(lexicon: Lexicon) -> Lexicon:
    """Write a lexicon's arrays into the cache; return it mapped from there.

    On a machine that has no place for it, the lexicon itself: it works, but shares nothing.
    """
    folder = _folder(lexicon.lexicon_id)
    staged = staged_path(folder)
    try:
        staged.mkdir(parents=True)
        arrays = lexicon.arrays()
        for name, array in arrays.items():
            np.save(staged / f"{name}.npy", array, allow_pickle=False)
        contents = {"compile_version": COMPILE_VERSION, "arrays": list(arrays)}
        (staged / CONTENTS).write_text(json.dumps(contents))
        _place(staged, folder)
    except OSError:
        return lexicon
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return cached(lexicon.lexicon_id) or lexicon


def text(lexicon_id: str) -> bytes | None:
    """Read a lexicon's canonical text, or return None when this machine has no sound copy."""
    try:
        found = (_folder(lexicon_id) / TEXT).read_bytes()
    except OSError:
        return None
    return found if digest_of(found) == lexicon_id else None


def keep_text(lexicon_id: str, text: bytes) -> None:
    """Put a lexicon's text beside its arrays: to spell it again takes half a second."""
    fill_file(_folder(lexicon_id) / TEXT, lambda path: path.write_bytes(text))


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
    return _root() / lexicon_id


def _mapped(path: Path) -> npt.NDArray[Any]:
    mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    # A plain view of the mapped file: np.memmap is slow at being sliced.
    return np.asarray(mapped)


def _place(staged: Path, folder: Path) -> None:
    """Rename a written folder to its name. The first writer wins; all wrote the same."""
    try:
        staged.rename(folder)
    except OSError:
        # A folder cannot replace another that has files. What is there is sound, or moved away:
        # processes that have it mapped keep their copy.
        if cached(folder.name) is not None:
            return
        folder.rename(staged.with_name(f"{staged.name}.damaged"))
        shutil.rmtree(staged.with_name(f"{staged.name}.damaged"), ignore_errors=True)
        staged.rename(folder)
    for left in folder.parent.glob(f"{folder.name}.*"):
        if time.time() - left.stat().st_mtime > STAGED_KEPT_S:
            shutil.rmtree(left, ignore_errors=True)
