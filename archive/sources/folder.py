"""A folder of payloads, one file `DATE.json` a day, with any subset of dates."""

from __future__ import annotations

import datetime as dt
import os
import stat
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from nightgrid.archive.payloads.envelopes import iso_date
from nightgrid.archive.sources import MAX_BODY_BYTES, Answer, AnswerKind, Validators, failed
from nightgrid.solvers.errors import PermanentError

SETTLED_S = 10.0
"""A file is not read again if its last change is this much older than the receipt of its body. A
younger one may have changed since without a trace: file system clocks have ticks, and the clocks of
hosts differ."""
_SUFFIX = ".json"


class FolderSource:
    """Payloads in files named DATE.json; other files are listed but not read."""

    local = True
    dates_left = 1

    def __init__(self, folder: str | Path, max_body_bytes: int = MAX_BODY_BYTES) -> None:
        """Open a folder.

        Raises PermanentError when it is none.
        """
        self._folder = Path(folder).expanduser().resolve()
        self._max_body_bytes = max_body_bytes
        self.name = str(folder)
        # Nights request every date, and joining paths takes longer than a stat.
        self.uri = self._folder.as_uri()
        if not self._folder.is_dir():
            raise PermanentError(
                f"source {self.name!r} is not a folder; expected one with files YYYY-MM-DD.json, "
                "or a base URL"
            )

    def dates(self, first: dt.date | None, last: dt.date | None) -> list[dt.date]:
        """List the dates that have a file."""
        return sorted(
            date
            for _, date in self._dated
            if (first is None or first <= date) and (last is None or date <= last)
        )

    def skipped(self) -> list[str]:
        """List the files and folders that are not named DATE.json, without hidden ones."""
        dated = {name for name, _ in self._dated}
        return sorted(name for name in self._names if name not in dated and name[0] != ".")

    @cached_property
    def _names(self) -> list[str]:
        """The names in the folder, listed once: a source is opened for one fetch."""
        with os.scandir(self._folder) as entries:
            return [entry.name for entry in entries]

    @cached_property
    def _dated(self) -> list[tuple[str, dt.date]]:
        named = ((name, _date_of(name)) for name in self._names)
        return [(name, date) for name, date in named if date is not None]

    def url(self, date: dt.date) -> str:
        """Return the file of a date."""
        return f"{self.uri}/{date}.json"

    def fetch(self, date: dt.date, validators: Validators | None) -> Answer:
        """Read the file of a date, unless it has not changed since it was read."""
        name, url = f"{date}.json", self.url(date)
        path = self._folder / name
        try:
            facts = path.stat()
            # A pipe or a device could block forever.
            if not stat.S_ISREG(facts.st_mode):
                return failed(url, "not-a-file", f"{name} is not a file")
            if validators is not None and _is_settled(facts, validators):
                return Answer(kind=AnswerKind.UNCHANGED, url=url)
            with path.open("rb") as file:
                body = file.read(self._max_body_bytes + 1)
        except FileNotFoundError:
            if path.is_symlink():
                return failed(url, "dangling-link", f"{name} is a link to a missing file")
            return Answer(kind=AnswerKind.ABSENT, url=url)
        except OSError as error:
            return failed(url, "unreadable", f"{name} cannot be read: {error.strerror}")
        if len(body) > self._max_body_bytes:
            most = self._max_body_bytes
            message = f"expected at most {most} bytes; the rest was not read"
            return replace(failed(url, "body-too-large", message), body=body[:most])
        return Answer(kind=AnswerKind.BODY, url=url, body=body)

    def close(self) -> None:
        """Do nothing: a folder has no resources."""


def _is_settled(facts: os.stat_result, validators: Validators) -> bool:
    """Return whether a file still has the body that was read: every change updates its ctime."""
    if validators.fetched_at is None or facts.st_size != validators.body_bytes:
        return False
    changed_at = max(facts.st_mtime, facts.st_ctime)
    return changed_at < validators.fetched_at.timestamp() - SETTLED_S


def _date_of(name: str) -> dt.date | None:
    return iso_date(name[: -len(_SUFFIX)]) if name.endswith(_SUFFIX) else None
