"""Read puzzles from files and standard input, bounded in size, whatever game they are of."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nightgrid.archive.games import game_of, reader
from nightgrid.archive.payloads.published import Fault, Published, input_fault
from nightgrid.service.games import service_plug
from nightgrid.service.options.game_options import BOARD_OPTIONS, option
from nightgrid.service.options.shared_options import check_game
from nightgrid.service.terminal.console import note
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import DEFAULT_GAME, game_plug

MAX_INPUT_BYTES = 16 * 1024**2
"""Larger inputs are refused: a published payload has about 6,000 bytes."""
STDIN = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A puzzle, or what is wrong with it."""

    source: str
    """The name of the file it stands in."""
    game: str
    item: Published | Fault


def read_sources(
    files: Sequence[str],
    levels: Sequence[str] = (),
    game: str | None = None,
    typed: Mapping[str, str] | None = None,
) -> Iterator[Found]:
    """Read every puzzle of every file.

    No file, and the file "-", mean standard input. `game` None: the game is told by what the file
    holds. With `levels`, only puzzles of these are given, in whatever case they are named, and a
    file that lacks one of them is a fault. A file that cannot be read is a fault. `typed` has a
    board as a person types it, by the name of a BOARD_OPTIONS, and stands instead of files. Raises
    PermanentError for a game that is none, and for a typed board beside files.
    """
    check_game(game)
    if typed:
        yield _typed(typed, files, levels, game)
        return
    levels = list(dict.fromkeys(level.lower() for level in levels))
    for file in files or [STDIN]:
        try:
            data, name = read_input(file, "a payload or a puzzle")
        except PermanentError as error:
            fault = input_fault("unreadable", str(error))
            yield Found(source=file, game=game or DEFAULT_GAME, item=fault)
            continue
        of = game or game_of(data)
        # Messages hold the file's own name: a whole path would be cut short in them.
        found = reader(of).read_puzzles(data, Path(name).name)
        for item in _chosen(found, levels, name):
            yield Found(source=name, game=of, item=item)


def _typed(
    typed: Mapping[str, str], files: Sequence[str], levels: Sequence[str], game: str | None
) -> Found:
    if len(typed) > 1:
        raise PermanentError(f"{' and '.join(map(option, typed))} exclude one another; give one")
    ((name, text),) = typed.items()
    games = BOARD_OPTIONS[name].games
    of = game if game in games else games[0]
    if files or levels or game not in (None, of):
        beside = "FILE" if files else "--level" if levels else game_plug(str(game)).title
        raise PermanentError(
            f"{option(name)} is a board of {game_plug(of).title} by itself; it excludes {beside}"
        )
    return Found(source=text, game=of, item=service_plug(of).typed(text))


def read_input(file: str, what: str) -> tuple[bytes, str]:
    """Read a file, or standard input for "-", and what messages call it; `what` it is to hold.

    Raises PermanentError for one that cannot be read or is larger than MAX_INPUT_BYTES.
    """
    try:
        if file == STDIN:
            name = "standard input"
            if sys.stdin.isatty():
                note(f"reading {what} from standard input; end it with Ctrl-D")
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
