"""The files of an archive: found in a folder, dated and assigned to games by name, read."""

from __future__ import annotations

import datetime as dt
import os
import re
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game_named

NAMES_MAX = 200_000
"""Most names in a folder, with all its sub-folders."""
LINES_SUFFIXES = (".jsonl", ".ndjson")
PAYLOAD_SUFFIXES = (".json", *LINES_SUFFIXES, ".html")
"""Suffixes of files that may hold payloads, before a .gz."""
_DATED = re.compile(r"(.*?)(\d{4})([-_]?)(\d\d)\3(\d\d)(.*)", re.DOTALL)


class ArchiveFile(NamedTuple):
    """A file of an archive, with the data in its name."""

    path: Path
    name: str
    """Its path within the folder that was named."""
    game: str | None
    date: dt.date | None


def archive_in(
    place: Path, suffixes: tuple[str, ...] = PAYLOAD_SUFFIXES
) -> tuple[list[ArchiveFile], list[str]]:
    """List the files of an archive, and the names of others, sorted; hidden ones are left out.

    An archive is a file, or a folder with files at any depth. Raises PermanentError for a folder
    with more than NAMES_MAX names, and for one that cannot be read.
    """
    if not place.is_dir():
        return [archive_file(place, place.name)], []
    found: list[str] = []
    others: list[str] = []

    def refuse(error: OSError) -> None:
        raise PermanentError(f"cannot read {str(place)!r}: {error.strerror}") from error

    for folder, folders, names in os.walk(place, onerror=refuse, followlinks=True):
        inside = os.path.relpath(folder, place)
        shown = [name for name in (*folders, *names) if name[0] != "."]
        # A folder with the name of a payload is one that cannot be read.
        payloads = {n for n in shown if n.lower().removesuffix(".gz").endswith(suffixes)}
        folders[:] = {*shown} - {*names} - payloads
        for name in {*shown} - {*folders}:
            whole = name if inside == "." else f"{inside}/{name}"
            (found if name in payloads else others).append(whole)
        if len(found) + len(others) > NAMES_MAX:
            raise PermanentError(f"{place} has more than {NAMES_MAX:,} files: name its archive")
    return [archive_file(place / name, name) for name in sorted(found)], sorted(others)


def archive_file(path: Path, name: str) -> ArchiveFile:
    """Read game and date from the name of a file, and of its folders."""
    parts = [*PurePosixPath(name).parts] or [""]
    parts[-1] = parts[-1].partition(".")[0]
    game = next(filter(None, map(game_named, reversed(parts))), None)
    # 2026-01-05, 2026/01-05 and 2026/01/05.
    dates = (date_named("-".join(parts[-n:])) for n in (1, 2, 3))
    return ArchiveFile(path, name, game, next(filter(None, dates), None))


def date_named(text: str) -> dt.date | None:
    """Read YYYY-MM-DD or YYYYMMDD, by itself or next to the name of a game; None otherwise."""
    found = _DATED.fullmatch(text)
    if found is None or any(part and not game_named(part) for part in found.group(1, 6)):
        return None
    try:
        return dt.date(*map(int, found.group(2, 4, 5)))
    except ValueError:
        return None
