"""The id of a lake, in a file of its own: by it lakes on one Redis server are told apart.

The file is made once. A lake that is moved or mounted elsewhere keeps its id, and so does a copy.
A lake whose file is deleted gets another id from the next process that works on it.
"""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, datetime

from nightgrid.archive.lake import place
from nightgrid.solvers.errors import PermanentError, TransientError

LAKE_FILE = "lake.json"
_ID = re.compile(r"[0-9a-f]{32}")


def read_lake_id(url: str) -> str | None:
    """Read the id of a lake; None while it has none. Nothing is written.

    Raises PermanentError for a file that does not hold an id, TransientError while it cannot be
    read.
    """
    data = _read(url)
    if data is None:
        return None
    try:
        found = json.loads(data)["lake_id"]
        if _ID.fullmatch(found):
            return str(found)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise PermanentError(
        f"{LAKE_FILE} of the lake {url.partition('?')[0]} holds no id; expected "
        '{"lake_id": 32 hexadecimal digits}: restore it, or delete it to give the lake another id'
    )


def make_lake_id(url: str) -> str:
    """Read the id of a lake, and make one where it has none.

    Of several processes that do so at once, on any hosts, one makes it. Raises what `read_lake_id`
    and writing raise.
    """
    found = read_lake_id(url)
    if found is not None:
        return found
    # Takes 60 MB, which a supervisor of a lake that has an id can do without.
    from nightgrid.archive.lake.storage import Lake

    value = {"created_at": datetime.now(UTC).isoformat(timespec="seconds")}
    text = json.dumps({**value, "lake_id": uuid.uuid4().hex}) + "\n"
    Lake.open(url).create_bytes(LAKE_FILE, text.encode("ascii"))
    made = read_lake_id(url)
    if made is None:
        raise TransientError(f"{LAKE_FILE} of the lake {url.partition('?')[0]} is gone again")
    return made


def _read(url: str) -> bytes | None:
    if place.is_folder(url):
        try:
            return (place.folder_of(url) / LAKE_FILE).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise TransientError(f"{LAKE_FILE} of the lake {url}: {error}") from error
    from nightgrid.archive.lake.faults import MissingFileError
    from nightgrid.archive.lake.storage import Lake

    try:
        return Lake.open(url).read_bytes(LAKE_FILE)
    except MissingFileError:
        return None
