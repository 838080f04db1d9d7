"""Read puzzles from files and standard input, bounded in size, level by level."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from archive.pips import Fault, Published, read_puzzles
from service.console import note
from solvers.errors import PermanentError

MAX_INPUT_BYTES = 16 * 1024**2
"""Larger inputs are refused: a published payload has about 6,000 bytes."""
STDIN = "-"


def read_sources(
    files: Sequence[str], levels: Sequence[str] = ()
) -> Iterator[tuple[str, Published | Fault]]:
    """Read every puzzle of every file, with the name of the file it stands in.

    No file, and the file "-", mean standard input. With `levels`, only puzzles of these are
    given, in whatever case they are named, and a file that lacks one of them is a fault. A file
    that cannot be read is a fault.
    """
    levels = list(dict.fromkeys(level.lower() for level in levels))
    for file in files or [STDIN]:
        try:
            data, name = _read(file)
        except PermanentError as error:
            yield file, Fault(level=None, rule="unreadable", place="", message=str(error))
            continue
        # Messages hold the file's own name: a whole path would be cut short in them.
        found = read_puzzles(data, Path(name).name)
        yield from ((name, item) for item in _chosen(found, levels, name))


def _read(file: str) -> tuple[bytes, str]:
    try:
        if file == STDIN:
            name = "standard input"
            if sys.stdin.isatty():
                note("reading a payload or a puzzle from standard input; end it with Ctrl-D")
            data = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
        else:
            name = file
            with open(file, "rb") as stream:  # noqa: PTH123 - a name that is no valid path is an error
                data = stream.read(MAX_INPUT_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise PermanentError(f"cannot read {file!r}: {reason}") from error
    if len(data) > MAX_INPUT_BYTES:
        raise PermanentError(f"{name} is larger than {MAX_INPUT_BYTES:,} bytes")
    return data, name


def _chosen(
    found: Sequence[Published | Fault], levels: Sequence[str], name: str
) -> Iterator[Published | Fault]:
    if not levels:
        yield from found
        return
    present = [item.level for item in found if item.level is not None]
    missing = [level for level in levels if level not in present]
    faults = [item for item in found if isinstance(item, Fault)]
    whole = [fault for fault in faults if fault.level is None]
    cut = [fault for fault in faults if fault.rule == "truncated" and fault.level not in levels]
    if missing and (whole or cut):
        # Why the rest of the file could not be read is the answer to why a level is missing.
        whole += [fault for fault in cut if fault not in whole]
        missing = []
    for level in missing:
        has = f"expected one of {', '.join(present)}" if present else "it names no levels"
        yield Fault(
            level=level, rule="missing-level", place="", message=f"no {level} in {name}; {has}"
        )
    for fault in cut:
        if fault not in whole:
            note(f"warning: {fault}")
    yield from (item for item in found if item.level in levels or item in whole)
