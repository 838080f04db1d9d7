"""An archive of payloads on this machine: a folder or a file, with any subset of dates."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from nightgrid.archive.games import claimed_game
from nightgrid.archive.lake.location import expanded
from nightgrid.archive.payloads.bounded_files import read_file
from nightgrid.archive.payloads.envelopes import date_told
from nightgrid.archive.sources import MAX_BODY_BYTES, Answer, AnswerKind, Validators, failed
from nightgrid.archive.sources.folder_layouts import ArchiveFile, archive_in
from nightgrid.archive.sources.payloads_in_file import Item, items_in
from nightgrid.solvers.errors import PermanentError

SETTLED_S = 10.0
"""A file is not read again if its last change is this much older than the receipt of its body. A
younger one may have changed since without a trace: file system clocks have ticks, and the clocks of
hosts differ."""

_Day = tuple[ArchiveFile, str | None]
"""The file of a date and the place in it; None for a whole file that is not read yet."""


class FolderSource:
    """The payloads of one game in a folder (folder_layouts) or a file (payloads_in_file).

    A file named after a date is read when that date is fetched, all others when the archive is
    listed. If a date occurs twice, the file named after it wins, else the first file; within a
    file, the last payload wins.
    """

    local = True

    def __init__(self, place: str | Path, game: str | None = None) -> None:
        """Open a folder or a file.

        Raises PermanentError when it is neither.
        """
        self._place = expanded(place).resolve()
        self._game = game
        self.name = str(place)
        self._read: tuple[ArchiveFile | None, dict[str, Item]] = (None, {})
        if not self._place.exists():
            raise PermanentError(
                f"source {self.name!r} is not a folder or a file; expected an archive of payloads, "
                "or a base URL"
            )

    def dates(self, first: dt.date | None, last: dt.date | None) -> list[dt.date]:
        """List the dates that have a payload."""
        return sorted(
            date
            for date in self._found[0]
            if (first is None or first <= date) and (last is None or date <= last)
        )

    def skipped(self) -> list[str]:
        """List the files, and places in them, that are not used, without hidden ones."""
        return sorted(self._found[1])

    @cached_property
    def _found(self) -> tuple[dict[dt.date, _Day], list[str]]:
        """The days and other entries, listed once: a source is opened for one fetch."""
        files, others = archive_in(self._place)
        # If the names of some files tell a game, the contents decide for the others.
        is_told = any(file.game for file in files)
        days: dict[dt.date, _Day] = {}
        unread = []
        for file in (file for file in files if file.game in (None, self._game or file.game)):
            if file.date and (file.game or not is_told) and file.date not in days:
                days[file.date] = (file, None)
            else:
                unread.append(file)
        for file in unread:
            others += self._look_into(file, days)
        return days, others

    def _look_into(self, file: ArchiveFile, days: dict[dt.date, _Day]) -> Iterator[str]:
        """Add the days of a file, and yield the places in it that are not used."""
        others: Counter[str] = Counter()
        try:
            items = self._items(file)
        except PermanentError as error:
            yield f"{file.name} ({error})"
            return
        for place, item in items.items():
            game = claimed_game(item.body)
            date = item.date or date_told(item.body)
            of = game or item.game
            before = days.get(date) if date else None
            is_foreign = game is None and not place
            if self._game and of and of != self._game:
                others[of] += 1
            elif date is None or is_foreign or (before and before[0] is not file):
                yield f"{file.name}{place}"
            else:
                if before:
                    yield f"{file.name}{before[1]}"
                days[date] = (file, place)
        yield from (f"{file.name} ({number} of {of})" for of, number in others.items())

    def _items(self, file: ArchiveFile) -> dict[str, Item]:
        """Read a file, and cache it: the next date may be in it, too."""
        if self._read[0] is not file:
            items = items_in(read_file(file.path), file.name, file.game, file.date)
            self._read = (file, {item.place: item for item in items})
        return self._read[1]

    def url(self, date: dt.date) -> str:
        """Return the file of a date, with a fragment if the file has several."""
        file, place = self._found[0].get(date) or (None, None)
        return (file.path if file else self._place).as_uri() + (f"#{date}" if place else "")

    def fetch(self, date: dt.date, validators: Validators | None) -> Answer:
        """Read the payload of a date, unless it has not changed since it was read."""
        url = self.url(date)
        if date not in self._found[0]:
            return Answer(kind=AnswerKind.ABSENT, url=url)
        file, place = self._found[0][date]
        try:
            if validators is not None and _is_settled(file, place, validators):
                return Answer(kind=AnswerKind.UNCHANGED, url=url)
            body = read_file(file.path) if place is None else self._items(file)[place].body
        except (OSError, PermanentError) as error:
            return failed(url, "unreadable", str(error))
        if len(body) > MAX_BODY_BYTES:
            message = f"expected at most {MAX_BODY_BYTES} bytes; the rest was not read"
            return replace(failed(url, "body-too-large", message), body=body[:MAX_BODY_BYTES])
        return Answer(kind=AnswerKind.BODY, url=url, body=body)

    def close(self) -> None:
        """Do nothing: a folder has no resources."""


def _is_settled(file: ArchiveFile, place: str | None, validators: Validators) -> bool:
    """Return whether a file still has the body that was read: every change updates its ctime."""
    facts = file.path.stat()
    is_body = place is None and not file.name.endswith(".gz")
    if validators.fetched_at is None or (is_body and facts.st_size != validators.body_bytes):
        return False
    changed_at = max(facts.st_mtime, facts.st_ctime)
    return changed_at < validators.fetched_at.timestamp() - SETTLED_S
