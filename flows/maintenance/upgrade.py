"""Upgrade a lake: write every table of an earlier schema version again in the present one.

Rows stay as they are; columns that an earlier version lacks are derived or null, as readers have
them too. Each file is replaced in one step, so an upgrade that is killed anywhere leaves a lake
that is read as before, and is ended by the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.ingest.sightings import raw_folder
from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.identity import make_lake_id
from nightgrid.archive.lake.row_sums import GROUP_SUMS, ROW_SUMS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import SCHEMA_VERSION, VERSION_KEY
from nightgrid.flows.maintenance.check import OnFile
from nightgrid.flows.maintenance.files import kind_of
from nightgrid.flows.maintenance.repair import LEASE
from nightgrid.solvers.registry import GAMES
from nightgrid.workers.lease import check_held, holding

_WRITTEN_ANEW = {VERSION_KEY.encode(), ROW_SUMS.encode(), GROUP_SUMS.encode(), b"ARROW:schema"}
"""Metadata that a new file has of its own; the rest of an old one's is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgraded:
    """A file of an earlier version."""

    path: str
    version: int
    """The schema version that it had."""
    rows: int
    what: str = ""
    """Why it was left as it is, one sentence; empty: it was written anew."""

    def to_json(self) -> dict[str, Any]:
        """Write it for programs."""
        told = {"path": self.path, "version": self.version, "rows": self.rows}
        return told | ({"what": self.what} if self.what else {})


def upgrade_lake(
    lake: Lake, on_file: OnFile = lambda _done, _total: None, *, dry_run: bool = False
) -> Iterator[Upgraded]:
    """Write the tables of earlier versions anew; yield each file, and why it was left if it was.

    With `dry_run` nothing is changed. Files of runs and gold are left: a run is read as it was
    planned and goes with its folder, and the next night makes gold anew. Raises NewerSchemaError,
    before anything is changed, for a lake that a later version has written, TransientError while a
    night is at work on it.
    """
    refusal = f"a night or a repair is at work on the lake {lake.url}"
    if dry_run:
        yield from _each(lake, on_file, _old_files(lake), dry_run=True)
        return
    with holding(lake, LEASE, refusal):
        old = _old_files(lake)
        make_lake_id(lake.url)
        yield from _each(lake, on_file, old, dry_run=False)
        for game in sorted(GAMES):
            if lake.exists(raw_folder(game)):
                # The index gets what earlier versions left to listings.
                normalise(lake, game=game, check=lambda: check_held(lake, LEASE))


def _each(
    lake: Lake, on_file: OnFile, old: list[tuple[str, int]], *, dry_run: bool
) -> Iterator[Upgraded]:
    for number, (path, version) in enumerate(old):
        on_file(number, len(old))
        try:
            rows = sum(lake.row_groups(path))
            if not dry_run:
                check_held(lake, LEASE)
                write_anew(lake, path)
            yield Upgraded(path=path, version=version, rows=rows)
        except MissingFileError:
            continue
        except DamagedFileError as error:
            what = f"{error}; nightgrid lake repair mends it"
            yield Upgraded(path=path, version=version, rows=0, what=what)
    on_file(len(old), len(old))


def _old_files(lake: Lake) -> list[tuple[str, int]]:
    """Name the files of earlier versions. Raises NewerSchemaError for one of a later version."""
    found = []
    for path in lake.list(""):
        known = kind_of(path)
        if known is None or not path.endswith(".parquet"):
            continue
        try:
            text = (lake.schema(path).metadata or {}).get(VERSION_KEY.encode(), b"")
        except (DamagedFileError, MissingFileError):
            continue
        if text.isdigit() and int(text) < SCHEMA_VERSION and _schema_of(lake, path) is not None:
            found.append((path, int(text)))
    return found


def _schema_of(lake: Lake, path: str) -> pa.Schema | None:
    """Give the present schema of a file; None for files that are left as they are."""
    known = kind_of(path)
    if known is None or path.startswith(("runs/", "gold/")):
        return None
    kind, match = known
    return None if kind.schema is None else kind.schema(lake, match)


def write_anew(lake: Lake, path: str) -> None:
    """Write one table in the present schema, with the same rows in the same row groups.

    Raises DamagedFileError for a file that does not hold what was written.
    """
    schema = _schema_of(lake, path)
    assert schema is not None
    kept = {
        name: value
        for name, value in (lake.schema(path).metadata or {}).items()
        if name.startswith(b"nightgrid.") and name not in _WRITTEN_ANEW
    }
    whole = schema.with_metadata({**kept, **(schema.metadata or {})})
    groups = (
        table.replace_schema_metadata(whole.metadata)
        for table in lake.scan_file(path, schema, schema.names)
    )
    lake.write_row_groups(path, groups, whole)
