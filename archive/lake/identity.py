"""The id of a lake, in a file of its own: it separates the lakes of one Redis server.

The file is made once. A lake that is moved or mounted elsewhere keeps its id, and so does a copy.
A lake whose file is deleted gets another id from the next process that works on it.
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
    """Let other processes ask object stores for ids: this one will fork.

    The threads of a store's client do not live in a child that is forked after its first request.
    """
    global _forks
    _forks = True


def read_lake_id(url: str) -> str | None:
    """Read the id of a lake; None while it has none. Nothing is written.

    Raises PermanentError for what is no file or does not hold an id, TransientError while it cannot
    be read.
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
    """Read the id of a lake, and make one where it has none.

    Of several processes that do so at once, on any hosts, one makes it. Raises what `read_lake_id`
    and writing raise, and NotExclusiveError for an object store that heeds no conditions.
    """
    if _is_asked_elsewhere(url):
        return _asked_elsewhere(make_lake_id, url)
    files, found = StoredFiles.open(url), read_lake_id(url)
    if found is not None:
        files.check_exclusive()
        return found
    value = {"created_at": datetime.now(UTC).isoformat(timespec="seconds")}
    text = json.dumps({**value, "lake_id": uuid.uuid4().hex}) + "\n"
    files.create_bytes(LAKE_FILE, text.encode("ascii"))
    made = read_lake_id(url)
    if made is None:
        raise TransientError(f"{LAKE_FILE} of the lake {url.partition('?')[0]} is gone again")
    return made


def _is_asked_elsewhere(url: str) -> bool:
    return _forks and not is_folder(url)


def _asked_elsewhere(ask: Callable[[str], Asked], url: str) -> Asked:
    """Read or make an id in another process. Raises what it raises there."""
    try:
        with pool_of(1) as pool:
            return pool.submit(ask, url).result()
    except (OSError, BrokenProcessPool) as error:
        raise TransientError(f"{LAKE_FILE} of the lake cannot be read: {error}") from error
