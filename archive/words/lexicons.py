"""Lexicons by id: compiled from their sources, cached on this machine, stored in the lake."""

from __future__ import annotations

import importlib.metadata
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import nightgrid.solvers.lexicon
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.kernel.cache_folder import cache_base, fill_file, kept_arrays, mapped_arrays
from nightgrid.solvers.lexicon.accepted import compile_accepted
from nightgrid.solvers.lexicon.compile import (
    COMPILE_VERSION,
    compile_lexicon,
    compile_text,
    digest_of,
    sealed,
    text_of,
)
from nightgrid.solvers.lexicon.english import english_phrases, english_words
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.lexicon.wordlist import WORD_LIST_MAX_BYTES, read_word_list

if TYPE_CHECKING:
    # Solving a board needs a lexicon, but neither a lake nor the library that reads one.
    from nightgrid.archive.lake.storage import Lake

_opened: dict[str, Lexicon] = {}


def default_lexicon() -> Lexicon:
    """Open the default vocabulary: English words of wordfreq, and phrases of symspellpy."""
    version = importlib.metadata.version
    source = _source("default", version("wordfreq"), version("symspellpy"))
    return _made(source, lambda: compile_lexicon(english_words(), english_phrases()))


def accepted_lexicon() -> Lexicon:
    """Open the words that games accept, each with its doubt, for boards without a dictionary."""
    lists = ("wordfreq", "symspellpy", "spylls")
    return _made(_source("accepted", *map(importlib.metadata.version, lists)), compile_accepted)


def lexicon_from_file(path: str | Path) -> Lexicon:
    """Open a word list as a lexicon; nightgrid.solvers.lexicon.wordlist describes the format.

    Raises PermanentError, naming the file and the line, for an invalid list.
    """
    data = _read(Path(path))
    source = _source("list", digest_of(data))
    return _made(source, lambda: compile_lexicon(read_word_list(data, str(path))))


def check_word_list(path: str | Path) -> None:
    """Raise what `lexicon_from_file` would raise, without compiling a lexicon."""
    read_word_list(_read(Path(path)), str(path))


def open_lexicon(lake: Lake, lexicon_id: str) -> Lexicon:
    """Open a lexicon by its id: from this process, this machine or the lake.

    The default's id needs no lake. Raises PermanentError if it is nowhere, or if the lake's file
    under the id is not that lexicon, and the lake's errors.
    """
    if not lexicon_id.isalnum() or not lexicon_id.isascii():
        raise PermanentError(f"lexicon id is {lexicon_id!r}; expected hexadecimal digits")
    if lexicon_id not in _opened:
        found = _cached(lexicon_id)
        if found is None:
            found = _from_lake(lake, lexicon_id)
        _opened[lexicon_id] = found
    return _opened[lexicon_id]


def keep_lexicon(lake: Lake, lexicon: Lexicon) -> None:
    """Write a lexicon's text to the lake, unless it exists."""
    path = lake_path(lexicon.lexicon_id)
    if not lake.exists(path):
        lake.write_bytes(path, text_of(lexicon))


def lake_path(lexicon_id: str) -> str:
    """Return the file of a lexicon in the lake."""
    return f"lexicons/{lexicon_id}.txt"


def _source(*fields: str) -> str:
    """Return the key of a lexicon: its source, and the code that parses and spells it."""
    folder = Path(nightgrid.solvers.lexicon.__file__).parent
    files = sorted([*folder.glob("*.py"), *folder.glob("*.json")])
    code = b"".join(path.read_bytes() for path in files)
    return digest(*fields, digest_of(code))


def _made(source: str, compiled: Callable[[], Lexicon]) -> Lexicon:
    """Open the lexicon of a source; a note in the cache maps a compiled source to its lexicon.

    What reading the source warned of is in the note, too, and warned of again.
    """
    note = cache_base() / "lexicons" / "sources" / source
    try:
        lexicon_id, *remarks = note.read_text().split("\n")
        found = _cached(lexicon_id)
    except (OSError, ValueError):
        found = None
    if found is None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RuntimeWarning)
            found = keep(compiled())
        remarks = [str(one.message) for one in caught if one.category is RuntimeWarning]
        text = "\n".join([found.lexicon_id, *remarks])
        fill_file(note, lambda path: path.write_text(text))
    for remark in remarks:
        warnings.warn(remark, RuntimeWarning, stacklevel=3)
    return _opened.setdefault(found.lexicon_id, found)


def _cached(lexicon_id: str) -> Lexicon | None:
    """Map a lexicon read-only; None if this machine has no copy."""
    arrays = mapped_arrays(_folder(lexicon_id))
    return None if arrays is None else sealed(lexicon_id, arrays)


def keep(lexicon: Lexicon) -> Lexicon:
    """Write a lexicon's arrays into the cache; return it mapped from there."""
    name = lexicon.lexicon_id
    return sealed(name, kept_arrays(_folder(name), lexicon.arrays))


def _folder(lexicon_id: str) -> Path:
    return cache_base() / "lexicons" / f"{lexicon_id}-{COMPILE_VERSION}"


def _from_lake(lake: Lake, lexicon_id: str) -> Lexicon:
    path = lake_path(lexicon_id)
    if not lake.exists(path):
        for default in (default_lexicon(), accepted_lexicon()):
            if default.lexicon_id == lexicon_id:
                return default
        raise PermanentError(
            f"lexicon {lexicon_id} is neither in the cache of this machine nor in the lake"
            f" ({path}), and no default of this release"
        )
    text = lake.read_bytes(path)
    if digest_of(text) != lexicon_id:
        raise PermanentError(f"{path} is damaged: its text has the id {digest_of(text)}")
    return keep(compile_text(text))


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(WORD_LIST_MAX_BYTES + 1)
    except OSError as error:
        raise PermanentError(f"word list {path}: {error.strerror or error}") from error
    if len(data) > WORD_LIST_MAX_BYTES:
        raise PermanentError(f"word list {path}: more than {WORD_LIST_MAX_BYTES} bytes")
    return data
