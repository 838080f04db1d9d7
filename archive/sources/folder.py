"""A folder of payloads, one file `DATE.json` a day, with any subset of dates."""

from __future__ import annotations

import datetime as dt
import stat
from dataclasses import replace
from pathlib import Path

from nightgrid.archive.payloads.envelopes import iso_date
from nightgrid.archive.sources import MAX_BODY_BYTES, Answer, AnswerKind, Validators, failed
from nightgrid.solvers.errors import PermanentError


class FolderSource:
    """Payloads in files called DATE.json; other files are named and not looked at."""

    local = True
    dates_left = 1

    def __init__(self, folder: str | Path, max_body_bytes: int = MAX_BODY_BYTES) -> None:
        """Open a folder.

        Raises PermanentError when it is none.
        """
        self._folder = Path(folder).expanduser().resolve()
        self._max_body_bytes = max_body_bytes
        self.name = str(folder)
        # Nights ask for every date: to put paths together takes longer than to look at a file.
        self._uri = self._folder.as_uri()
        if not self._folder.is_dir():
            raise PermanentError(
                f"source {self.name!r} is not a folder; expected one with files YYYY-MM-DD.json, "
                "or a base URL"
            )

    def dates(self, first: dt.date | None, last: dt.date | None) -> list[dt.date]:
        """List the dates that have a file."""
        found = []
        for path in self._folder.iterdir():
            date = _date_of(path)
            if date and (first is None or first <= date) and (last is None or date <= last):
                found.append(date)
        return sorted(found)

    def skipped(self) -> list[str]:
        """List the files and folders that are not called DATE.json; hidden ones are left out."""
        names = (path.name for path in self._folder.iterdir() if _date_of(path) is None)
        return sorted(name for name in names if not name.startswith("."))

    def url(self, date: dt.date) -> str:
        """Name the file of a date."""
        return f"{self._uri}/{date}.json"

    def fetch(self, date: dt.date, validators: Validators | None) -> Answer:  # noqa: ARG002 - a file is simply read again
        """Read the file of a date."""
        name, url = f"{date}.json", self.url(date)
        path = self._folder / name
        try:
            # A pipe or a device could be read for ever.
            if not stat.S_ISREG(path.stat().st_mode):
                return failed(url, "not-a-file", f"{name} is not a file")
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
        """Do nothing: a folder holds nothing open."""


def _date_of(path: Path) -> dt.date | None:
    return iso_date(path.stem) if path.suffix == ".json" else None
