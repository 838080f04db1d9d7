"""A folder of payloads, one file `DATE.json` a day, with any subset of dates."""

from __future__ import annotations

import datetime as dt
import os
import stat
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import chain
from operator import attrgetter
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nightgrid.archive.payloads.envelopes import iso_date
from nightgrid.archive.sources import MAX_BODY_BYTES, Answer, AnswerKind, Validators, failed
from nightgrid.solvers.errors import PermanentError

FILE_FACTS = ("size_bytes", "mtime_ns", "ctime_ns", "inode")
"""What a file system tells of a file: at least one of these differs after the file was changed."""
_SUFFIX = ".json"
_NAMES_KEPT = 65_536
"""Names whose dates are remembered."""
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
_NUMBERS = attrgetter("st_size", "st_mtime_ns", "st_ctime_ns")


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
        return sorted(
            date
            for _, date in self._dated
            if (first is None or first <= date) and (last is None or date <= last)
        )

    def facts(self) -> npt.NDArray[np.int64]:
        """Look at the files without reading them: (files, 1 + FILE_FACTS), sorted by date.

        The first column has days since 1970. What is no file, or is gone, is left out.
        """
        days, found = [], []
        # By their names in the open folder: the system need not walk the path each time.
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for name, date in self._dated:
                try:  # `suppress` takes a quarter as long as the look itself.
                    told = os.stat(name, dir_fd=folder)
                except OSError:
                    continue
                if stat.S_ISREG(told.st_mode):
                    days.append(date)
                    found.append(told)
        finally:
            os.close(folder)
        facts = np.empty((len(found), 1 + len(FILE_FACTS)), np.int64)
        facts[:, 0] = np.fromiter(map(dt.date.toordinal, days), np.int64, len(days))
        facts[:, 0] -= _EPOCH_DAY
        numbers = chain.from_iterable(map(_NUMBERS, found))
        facts[:, 1:-1] = np.fromiter(numbers, np.int64).reshape(len(found), len(FILE_FACTS) - 1)
        # An inode may need all 64 bits.
        inodes = np.fromiter((told.st_ino for told in found), np.uint64, len(found))
        facts[:, -1] = inodes.view(np.int64)
        return facts[np.argsort(facts[:, 0])]

    def skipped(self) -> list[str]:
        """List the files and folders that are not called DATE.json; hidden ones are left out."""
        dated = {name for name, _ in self._dated}
        return sorted(name for name in self._names if name not in dated and name[0] != ".")

    @cached_property
    def _names(self) -> list[str]:
        """What is in the folder, listed once: a source is opened for one fetch."""
        with os.scandir(self._folder) as entries:
            return [entry.name for entry in entries]

    @cached_property
    def _dated(self) -> list[tuple[str, dt.date]]:
        named = ((name, _date_of(name)) for name in self._names)
        return [(name, date) for name, date in named if date is not None]

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
