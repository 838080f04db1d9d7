"""Read files that may refer to what is to be dropped: one that cannot be read may refer to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.files import MergedFolder, listings
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.ondemand.record import Record
from nightgrid.workers.ondemand.record_files import read_records


class UnreadableError(Exception):
    """A file cannot be read, so nothing that it may refer to is dropped."""

    def __init__(self, path: str, error: object) -> None:
        """Take the file, and why it cannot be read."""
        super().__init__(str(error))
        self.path = path


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Raise UnreadableError for a file that cannot be read, and MissingFileError for none."""
    try:
        yield
    except MissingFileError:
        raise
    except PermanentError as error:
        raise UnreadableError(path, error) from error


def wanted_records(lake: Lake) -> list[Record]:
    """Read the records of the jobs that are wanted. Raises UnreadableError."""
    found = read_records(lake)
    for path, why in found.bad.items():
        raise UnreadableError(path, why)
    return found.open


def scan_all(lake: Lake, folder: MergedFolder, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Read columns of every file of a folder, perhaps some rows twice. Raises UnreadableError."""
    return (table for _, table in scan_files(lake, folder, columns))


def scan_files(
    lake: Lake, folder: MergedFolder, columns: Sequence[str]
) -> Iterator[tuple[str, pa.Table]]:
    """Read as `scan_all` does, and name the file of each table. Raises UnreadableError."""
    for paths in listings(lake, folder):
        for path in paths:
            try:
                with readable(path):
                    for table in lake.scan_file(path, folder.schema, columns):
                        yield path, table
            except MissingFileError:
                continue  # Merged meanwhile: the folder is listed again.
