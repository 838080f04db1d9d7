"""Check the lake: whether it can be written, its tables read, and its records of jobs."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nightgrid.service.cli.checks.finding import Finding, either
from nightgrid.solvers.errors import NightgridError, PermanentError
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.workers.settings import Settings

_AGAINST_PLACE = "give --lake or NIGHTGRID_LAKE a folder or URL that can be written"
_AGAINST_NO_LAKE = (
    "name one with --lake or NIGHTGRID_LAKE; the first night, count or worker makes a new one"
)
_AGAINST_READ_ONLY = (
    "list, show, query, result, status and lake check work; nights, counts, submits, workers and "
    "the HTTP service need a lake that this user may write"
)
_AGAINST_REPLACED = (
    "use a storage that heeds If-None-Match: nights, counts, submits, workers and the HTTP service "
    "refuse this one; docs/how-to/use-object-storage.md lists servers"
)
_AGAINST_DAMAGE = "nightgrid lake check says what is damaged, nightgrid lake repair mends it"


def check_lake(settings: Settings) -> Iterator[Finding]:
    """Try what commands do with files of the lake, and compare the schemas of the tables.

    A lake that may be read and not written is a warning: commands that only read work.
    """
    from nightgrid.archive.lake import location
    from nightgrid.archive.lake.storage import Lake

    is_missing = location.is_missing(settings.lake)
    try:
        # A lake that is not there yet has to be made.
        location.check_location(settings.lake, writes=is_missing)
    except PermanentError as error:
        yield Finding("lake", "failure", str(error), _AGAINST_PLACE)
        return
    if is_missing:
        yield Finding(
            "lake", "warning", f"there is no lake at {settings.lake} yet", _AGAINST_NO_LAKE
        )
    lake = Lake.open(settings.lake)
    findings = list(_try_files(lake, settings.lake))
    yield from findings
    if any(found.verdict == "failure" for found in findings if found.check == "lake"):
        return
    yield from _check_schemas(lake, settings.lake)
    yield from _check_id(settings.lake)


def _try_files(lake: Lake, url: str) -> Iterator[Finding]:
    """Write, replace, create, read and delete a file. A look leaves nothing behind."""
    from nightgrid.archive.lake import location
    from nightgrid.archive.lake.faults import LakeRefusesError
    from nightgrid.archive.lake.local_commit import STAGING

    base = Path(url)
    here = [] if "://" in url else [base, base / STAGING, base / "doctor"]
    made = [folder for folder in here if not folder.exists()]
    path = f"doctor/{uuid.uuid4().hex}.json"
    try:
        location.check_location(url)
    except PermanentError:
        yield Finding("lake", "warning", f"{url} can be read, not written", _AGAINST_READ_ONLY)
        return
    try:
        for text in (b"first\n", b"second\n"):
            lake.write_bytes(path, text)
        replaced = lake.read_bytes(path) == b"second\n"
        # What another has created must stay: runs of several drivers rest on it.
        kept = _creates_once(lake, path)
        lake.delete(path)
    except LakeRefusesError as error:
        found = f"{url} can be read, not written: {error}"
        if _may_read(lake):
            yield Finding("lake", "warning", found, _AGAINST_READ_ONLY)
        else:
            yield Finding("lake", "failure", str(error), _AGAINST_PLACE)
        return
    except (NightgridError, OSError) as error:
        yield Finding("lake", "failure", str(error), _AGAINST_PLACE)
        return
    finally:
        for folder in reversed(made):
            # What another process has put there meanwhile stays.
            with contextlib.suppress(OSError):
                folder.rmdir()
    yield either(
        "lake",
        replaced,
        f"{url} can be written, files are replaced at once",
        f"{url}: a replaced file still reads as before",
        "use a storage that replaces files at once",
    )
    yield either(
        "lake: new files",
        kept,
        "a file that is there is not created again",
        f"{url}: a file that is there is replaced by one that is created",
        _AGAINST_REPLACED,
    )


def _creates_once(lake: Lake, path: str) -> bool:
    """Tell whether a file that is there stays when it is created: runs of several drivers need it.

    Where it does not, every process that creates a file raises the same NotExclusiveError.
    """
    from nightgrid.archive.lake.faults import NotExclusiveError

    try:
        return not lake.create_bytes(path, b"third\n") and lake.read_bytes(path) != b"third\n"
    except NotExclusiveError:
        return False


def _may_read(lake: Lake) -> bool:
    with contextlib.suppress(NightgridError, OSError):
        lake.folders("")
        return True
    return False


def _check_schemas(lake: Any, url: str) -> Iterator[Finding]:
    from nightgrid.archive.lake.faults import DamagedFileError, NewerSchemaError
    from nightgrid.archive.lake.tables import SCHEMA_VERSION

    tables = ("puzzles", "editions", "quarantine", "results", "solutions", "gold")
    paths = [path for table in tables for path in lake.list(table) if path.endswith(".parquet")]
    readable = 0
    for path in paths:
        try:
            lake.schema(path)
            readable += 1
        except NewerSchemaError as error:
            advice = f"use the nightgrid that wrote {url}, or move the file away"
            yield Finding("lake", "failure", str(error), advice)
        except DamagedFileError as error:
            yield Finding("lake", "failure", str(error), _AGAINST_DAMAGE)
    if readable or not paths:
        yield Finding(
            "lake", "ok", f"{plural(readable, 'table')} that schema version {SCHEMA_VERSION} reads"
        )


def check_jobs(settings: Settings) -> Iterator[Finding]:
    """Look for damaged submissions of jobs on demand, each of which costs its own job alone."""
    from nightgrid.archive.lake.location import is_missing
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.workers.ondemand.submissions import open_jobs

    if is_missing(settings.lake):
        return
    found = open_jobs(Lake.open(settings.lake))
    for why in found.damaged.values():
        yield Finding("jobs", "warning", why, "the keeper sets it aside; submit the job again")
    if not found.damaged:
        yield Finding("jobs", "ok", f"{plural(len(found.wanted), 'job')} on demand not done")


def _check_id(url: str) -> Iterator[Finding]:
    from nightgrid.archive.lake.identity import read_lake_id

    found = read_lake_id(url)
    none = "no id yet: the first worker, night, count or submit makes one"
    yield Finding("lake: id", "ok", none if found is None else found)
