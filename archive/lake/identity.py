"""The id of a lake, in its own file: it separates the lakes of one Redis server.

The file is written once. A lake that is moved or mounted elsewhere keeps its id, and so does a
copy. A lake whose file is deleted gets a new id from the next process that works on it.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime
from typing import TypeVar

from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.location import is_folder
from nightgrid.archive.lake.stored_files import StoredFiles
from nightgrid.solvers.child_processes import pool_of
from nightgrid.solvers.errors import PermanentError, TransientError

LAKE_FILE = "lake.json"
_ID = re.compile(r"[0-9a-f]{32}")
Asked = TypeVar("Asked")
_forks = False
"""Whether this process will fork."""


def keep_stores_out() -> None:
    """Have other processes ask object stores for ids, because this one will fork.

    The threads of a store's client do not survive in a child forked after its first request.
    """
    global _forks
    _forks = True


def read_lake_id(url: str) -> str | None:
    """Read the id of a lake; None if it has none. Writes nothing.

    Raises PermanentError for an invalid location or id file, TransientError while it cannot be
    read.
    """
    if _is_asked_elsewhere(url):
        return _asked_elsewhere(read_lake_id, url)
    try:
        found = json.loads(StoredFiles.open(url).read_bytes(LAKE_FILE))["lake_id"]
        if _ID.fullmatch(found):
            return str(found)
    except MissingFileError:
        return None
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise PermanentError(
        f"{LAKE_FILE} of the lake {url.partition('?')[0]} holds no id; expected "
        '{"lake_id": 32 hexadecimal digits}: restore it, or delete it to give the lake another id'
    )


def make_lake_id(url: str) -> str:
    """Read the id of a lake, and write one if it has none.

    If several processes do so at once, on any hosts, one of them writes it. Raises the errors of
    `read_lake_id` and of writing, and NotExclusiveError for an object store without conditional
    writes.
    """
    if _is_asked_elsewhere(url):
        return _asked_elsewhere(make_lake_id, url)
    files, found = StoredFiles.open(url), read_lake_id(url)
    if found is not None:
        files.check_exclusive()
        return found
    value = {"created_at": datetime.now(UTC).isoformat(timespec="seconds")}
    text = json.dumps({**value, "lake_id": uuid.uuid4().hex}) + "\n"
    files.write_bytes(LAKE_FILE, text.encode("ascii"), new=True)
    made = read_lake_id(url)
    if made is None:
        raise TransientError(f"{LAKE_FILE} of the lake {url.partition('?')[0]} is gone again")
    return made


def _is_asked_elsewhere(url: str) -> bool:
    return _forks and not is_folder(url)


def _asked_elsewhere(ask: Callable[[str], Asked], url: str) -> Asked:
    """Read or write an id in another process. Raises its exceptions."""
    try:
        with pool_of(1) as pool:
            return pool.submit(ask, url).result()
    except (OSError, BrokenProcessPool) as error:
        raise TransientError(f"{LAKE_FILE} of the lake cannot be read: {error}") from error
