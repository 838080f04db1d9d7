"""A folder of payloads, one file `DATE.json` a day, with any subset of dates."""

from __future__ import annotations

import datetime as dt
import os
import stat
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nightgrid.archive.payloads.envelopes import iso_date
from nightgrid.archive.sources import MAX_BODY_BYTES, Answer, AnswerKind, Validators, failed
from nightgrid.solvers.errors import PermanentError

FILE_FACTS = ("size_bytes", "mtime_ns", "ctime_ns", "inode")
"""What a file system tells of a file, of which something differs once the file was changed."""
_SUFFIX = ".json"
_NAMES_KEPT = 16_384
"""Names whose dates are remembered: a night reads the names of a folder three times."""
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()


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
        self.uri = self._folder.as_uri()
        if not self._folder.is_dir():
            raise PermanentError(
                f"source {self.name!r} is not a folder; expected one with files YYYY-MM-DD.json, "
                "or a base URL"
            )

    def dates(self, first: dt.date | None, last: dt.date | None) -> list[dt.date]:
        """List the dates that have a file."""
        found = filter(None, map(_date_of, self._names()))
        return sorted(
            date
            for date in found
            if (first is None or first <= date) and (last is None or date <= last)
        )

    def facts(self) -> npt.NDArray[np.int64]:
        """Look at the files without reading them: (files, 1 + FILE_FACTS), sorted by date.

        The first column has days since 1970. What is no file, or is gone, is left out.
        """
        found, inodes = [], []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                date = _date_of(entry.name)
                if date is None:
                    continue
                with suppress(OSError):
                    told = entry.stat()
                    if stat.S_ISREG(told.st_mode):
                        day = date.toordinal() - _EPOCH_DAY
                        found.append((day, told.st_size, told.st_mtime_ns, told.st_ctime_ns))
                        inodes.append(told.st_ino)
        facts = np.empty((len(found), 1 + len(FILE_FACTS)), np.int64)
        facts[:, :-1] = np.array(found, np.int64).reshape(-1, len(FILE_FACTS))
        # An inode may need all 64 bits.
        facts[:, -1] = np.array(inodes, np.uint64).view(np.int64)
        return facts[np.argsort(facts[:, 0])]

    def skipped(self) -> list[str]:
        """List the files and folders that are not called DATE.json; hidden ones are left out."""
        names = (name for name in self._names() if _date_of(name) is None)
        return sorted(name for name in names if not name.startswith("."))

    def _names(self) -> list[str]:
        with os.scandir(self._folder) as entries:
            return [entry.name for entry in entries]

    def url(self, date: dt.date) -> str:
        """Name the file of a date."""
        return f"{self.uri}/{date}.json"

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


@lru_cache(maxsize=_NAMES_KEPT)
def _date_of(name: str) -> dt.date | None:
    return iso_date(name[: -len(_SUFFIX)]) if name.endswith(_SUFFIX) else None
