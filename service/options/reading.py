"""Read puzzles of any game from files, folders, standard input or a lake."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nightgrid.archive.lookup.reference import DateReference, looks_like_reference, read_reference
from nightgrid.archive.payloads.bounded_files import FILE_BYTES_MAX, unpacked
from nightgrid.archive.payloads.published import Fault, Published, input_fault
from nightgrid.archive.payloads.strict_json import shown
from nightgrid.archive.sources.folder_layouts import (
    ArchiveFile,
    archive_file,
    archive_in,
)
from nightgrid.archive.sources.payloads_in_file import NO_PUZZLE, items_in, read_item
from nightgrid.service.options.shared_options import read_settings
from nightgrid.service.terminal.console import note
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError
from nightgrid.solvers.registry import GAMES, game_plug
from nightgrid.solvers.sentences import plural

MAX_INPUT_BYTES = 16 * 1024**2
"""Larger inputs are rejected, except archives."""
STDIN = "-"
LETTER_BOXED = "letterboxed"
"""The game whose boards may be typed by their sides."""
BOARDS = "a payload or a puzzle"
"""Content of the files, for messages; references may take their place."""
FOREIGN_SHOWN = 3
"""Most files without a board that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadItem:
    """A puzzle, or a fault."""

    source: str
    """The name of its file, or its reference."""
    game: str
    """"" for a fault of an unknown game."""
    item: Published | Fault

    @property
    def rule(self) -> str:
        """The rule that it breaks, "" for a puzzle."""
        return self.item.rule if isinstance(self.item, Fault) else ""


def read_sources(
    files: Sequence[str],
    levels: Sequence[str] = (),
    game: str | None = None,
    sides: str | None = None,
    lake: str | None = None,
) -> Iterator[ReadItem]:
    """Read every puzzle of every file, folder or reference.

    No file, and the file "-", mean standard input. Files and folders are archives of any layout
    (nightgrid.archive.sources), sorted by name. An argument that is neither and looks like
    a reference (nightgrid.archive.lookup.reference) is looked up in a lake: `lake`, or that of the
    settings. With `game` None, the game is detected. With `levels`, only puzzles of these levels
    are returned, case-insensitively, and a payload that lacks one of them is a fault. Anything
    unreadable or missing is a fault. `sides` is a typed board. Raises PermanentError for a typed
    board together with files.
    """
    if sides is not None:
        yield _typed(sides, files, levels, game)
        return
    levels = list(dict.fromkeys(level.lower() for level in levels))
    for file in files or [STDIN]:
        if is_reference(file):
            yield from _of_lake(file, levels, game, lake)
            continue
        try:
            yield from _of_archive(file, levels, game)
        except PermanentError as error:
            yield _lost(file, game or "", "unreadable", error)


def is_reference(text: str) -> bool:
    """Return whether an argument names puzzles of a lake; a file of that name takes precedence."""
    if text == STDIN or not looks_like_reference(text):
        return False
    try:
        return not Path(text).exists()
    except (OSError, ValueError):
        return True


def _of_archive(place: str, levels: Sequence[str], game: str | None) -> Iterator[ReadItem]:
    folder = Path(place)
    if place in ("", STDIN) or not folder.is_dir():
        yield from _of_file(place, archive_file(folder, folder.name), levels, game)
        return
    files, _ = archive_in(folder)
    if not files:
        raise PermanentError(f"{place!r} holds no payload; expected files *.json in it or below it")
    foreign = []
    for file in files:
        found = [*_of_file(str(file.path), file, levels, game)]
        # Other programs keep JSON of theirs next to an archive.
        if file.date is None and [each.rule for each in found] == [NO_PUZZLE]:
            foreign.append(file.name)
        else:
            yield from found
    if foreign:
        first = ", ".join(foreign[:FOREIGN_SHOWN]) + (", …" if foreign[FOREIGN_SHOWN:] else "")
        note(f"{plural(len(foreign), 'file')} in {place} without a board skipped ({first})")


def _of_file(
    path: str, file: ArchiveFile, levels: Sequence[str], game: str | None
) -> Iterator[ReadItem]:
    try:
        data, name = read_input(path, BOARDS, FILE_BYTES_MAX)
        data = unpacked(data, _short(name))
    except PermanentError as error:
        yield _lost(path, game or "", "unreadable", error)
        return
    for item in items_in(data, name, file.game, file.date):
        of, found = read_item(item, _short(name), game)
        source = f"{name}{item.place}"
        for each in _chosen(found, levels, source):
            yield ReadItem(source=source, game=of, item=each)


def _short(name: str) -> str:
    """Return a short name of a file for messages, where a long path would be truncated.

    Files in sub-folders named after games have equal names, so the sub-folder is included.
    """
    path = Path(name)
    return f"{path.parent.name}/{path.name}" if path.parent.name in GAMES else path.name


def _of_lake(
    text: str, levels: Sequence[str], game: str | None, lake: str | None
) -> Iterator[ReadItem]:
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.archive.lookup.boards import find_boards

    named = game or ""
    try:
        reference = read_reference(text)
        if isinstance(reference, DateReference):
            named = reference.game
        boards = find_boards(Lake.open(read_settings(lake=lake, writes=False).lake), reference)
        others = sorted({board.game for board in boards} - {game or board.game for board in boards})
        if others:
            raise PermanentError(f"{text} is of {others[0]}; --game is {game}")
    except PermanentError as error:
        yield _lost(text, named, "reference", error)
        return
    for item in _chosen([board.published for board in boards], levels, text):
        yield ReadItem(source=text, game=boards[0].game, item=item)


def _lost(source: str, game: str, rule: str, error: PermanentError) -> ReadItem:
    return ReadItem(source=source, game=game, item=input_fault(rule, str(error)))


def _typed(sides: str, files: Sequence[str], levels: Sequence[str], game: str | None) -> ReadItem:
    """Parse the sides of a typed board of Letter Boxed, separated by commas or spaces."""
    from nightgrid.solvers.letterboxed.puzzle import Puzzle

    if files or levels or game not in (None, LETTER_BOXED):
        beside = "FILE" if files else "--level" if levels else game_plug(str(game)).title
        title = game_plug(LETTER_BOXED).title
        raise PermanentError(f"--sides is a board of {title} by itself; it excludes {beside}")
    item: Published | Fault
    texts = tuple(re.split(r"\s*,\s*|\s+", sides.strip()))
    if len(texts) == 1 and len(texts[0]) > 1:
        # A board of one side has no chain: probably a typing error.
        detail = f"'{shown(texts[0])}' is one side; expected several, such as TAP,ERD,NIL,YCO"
        return ReadItem(
            source=sides, game=LETTER_BOXED, item=input_fault("shape", detail, "--sides")
        )
    try:
        item = Published(date=None, level=None, puzzle=Puzzle(sides=texts))
    except InvalidPuzzleError as error:
        item = input_fault(error.rule, error.detail, error.place.replace("sides", "--sides", 1))
    return ReadItem(source=sides, game=LETTER_BOXED, item=item)


def read_input(file: str, what: str, most: int = MAX_INPUT_BYTES) -> tuple[bytes, str]:
    """Read a file, or standard input for "-"; return its bytes and its name for messages.

    `what` is its expected content. Raises PermanentError if it is unreadable or larger than `most`
    bytes.
    """
    try:
        if file == STDIN:
            name = "standard input"
            if sys.stdin is None:
                raise PermanentError(f"cannot read {what} from standard input: it is closed")
            if sys.stdin.isatty():
                note(f"reading {what} from standard input; end it with Ctrl-D")
            data = sys.stdin.buffer.read(most + 1)
        else:
            name = file
            with open(file, "rb") as stream:  # noqa: PTH123 - a name that is no valid path is an error
                data = stream.read(most + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        meant = _meant(file, error) if what == BOARDS else ""
        raise PermanentError(f"cannot read {file!r}: {reason}{meant}") from error
    if len(data) > most:
        raise PermanentError(f"{name} is larger than {most:,} bytes")
    return data, name


def _meant(file: str, error: Exception) -> str:
    """Suggest what an argument that is not a file may have meant."""
    if not isinstance(error, FileNotFoundError) or Path(file).suffix or "/" in file:
        return ""
    return "; a puzzle of a lake is GAME/DATE or GAME/DATE/LEVEL"


def _chosen(
    found: Sequence[Published | Fault], levels: Sequence[str], name: str
) -> Iterator[Published | Fault]:
    """Keep only the puzzles of some levels, and report missing levels."""
    whole = [item for item in found if isinstance(item, Fault) and item.level is None]
    present = [item.level for item in found if item.level is not None]
    # If the file is unreadable, that explains the missing level.
    for level in () if whole else levels:
        if level not in present:
            has = f"expected one of {', '.join(present)}" if present else "it names no levels"
            message = f"no level {level} in {name}; {has}"
            yield Fault(level=level, rule="missing-level", place="", message=message)
    yield from (item for item in found if not levels or item.level in levels or item in whole)
