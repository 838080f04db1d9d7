"""Set damaged tables of a game aside: they are made again from the raw payloads."""

from __future__ import annotations

from nightgrid.archive.ingest.editions import editions_path, observations_path, quarantine_path
from nightgrid.archive.ingest.raw import index_path
from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError, set_aside
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS, OBSERVATIONS, QUARANTINE, RAW
from nightgrid.archive.skipped_files import skip_file

_TABLES = (
    (index_path, RAW),
    (editions_path, EDITIONS),
    (quarantine_path, QUARANTINE),
    (observations_path, OBSERVATIONS),
)


def set_tables_aside(lake: Lake, game: str) -> list[str]:
    """Set the damaged tables of a game aside, and its index with them; return what was damaged.

    Without the index every payload counts as new, so the next call of `normalise` makes all tables
    again. Raises LakeRefusesError for a table that may not be read.
    """
    damaged = dict(_faults(lake, game))
    if not damaged:
        return []
    index = index_path(game)
    # First: a process that is killed in between leaves tables that the next one makes again.
    if index not in damaged:
        lake.delete(index)
    for path, why in damaged.items():
        moved = set_aside(lake, path)
        skip_file(path, f"{why}; moved to {moved}, and made again from the raw payloads")
    return list(damaged)


def _faults(lake: Lake, game: str) -> list[tuple[str, DamagedFileError]]:
    found = []
    for path_of, schema in _TABLES:
        path = path_of(game)
        try:
            lake.read_file(path, schema)
        except MissingFileError:
            continue
        except DamagedFileError as error:
            found.append((path, error))
    return found
