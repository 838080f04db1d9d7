"""The id of a lake, in a file of its own: it separates the lakes of one Redis server.

The file is made once. A lake that is moved or mounted elsewhere keeps its id, and so does a copy.
A lake whose file is deleted gets another id from the next process that works on it.
"""

from __future__ import annotations

import errno
import json
import re
import subprocess
import sys
import uuid
from datetime import UTC, datetime

from nightgrid.archive.lake import location
from nightgrid.solvers.errors import NightgridError, PermanentError, TransientError

LAKE_FILE = "lake.json"
_ID = re.compile(r"[0-9a-f]{32}")
_ASK_S = 120.0
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
        return _asked_elsewhere("read", url)
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
    and writing raise, and NotExclusiveError for an object store that heeds no conditions.
    """
    if _is_asked_elsewhere(url):
        made = _asked_elsewhere("make", url)
        assert made is not None
        return made
    found = read_lake_id(url)
    if found is not None and location.is_folder(url):
        return found
    # Takes 60 MB, which a supervisor of a lake that has an id can do without.
    from nightgrid.archive.lake.storage import Lake

    if found is not None:
        Lake.open(url).check_exclusive()
        return found
    value = {"created_at": datetime.now(UTC).isoformat(timespec="seconds")}
    text = json.dumps({**value, "lake_id": uuid.uuid4().hex}) + "\n"
    Lake.open(url).create_bytes(LAKE_FILE, text.encode("ascii"))
    made = read_lake_id(url)
    if made is None:
        raise TransientError(f"{LAKE_FILE} of the lake {url.partition('?')[0]} is gone again")
    return made


def _is_asked_elsewhere(url: str) -> bool:
    return _forks and not location.is_folder(url)


def _asked_elsewhere(what: str, url: str) -> str | None:
    """Read or make an id in another process. Raises what it raises there."""
    command = [sys.executable, "-m", "nightgrid.archive.lake.identity", what]
    try:
        # The URL may hold keys, which a command line shows to every user of the machine.
        ended = subprocess.run(
            command, input=url, capture_output=True, text=True, timeout=_ASK_S, check=False
        )
        told = json.loads(ended.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise TransientError(f"{LAKE_FILE} of the lake cannot be read: {error}") from error
    if "error" in told:
        raise (TransientError if told["transient"] else PermanentError)(told["error"])
    found = told["lake_id"]
    return None if found is None else str(found)


def _main() -> None:
    """Answer `_asked_elsewhere`."""
    url = sys.stdin.read()
    try:
        told: dict[str, object] = {
            "lake_id": (make_lake_id if sys.argv[1] == "make" else read_lake_id)(url)
        }
    except NightgridError as error:
        told = {"error": str(error), "transient": isinstance(error, TransientError)}
    sys.stdout.write(json.dumps(told))


def _read(url: str) -> bytes | None:
    if location.is_folder(url):
        path = location.folder_of(url) / LAKE_FILE
        try:
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            if path.is_symlink():
                raise PermanentError(
                    f"{LAKE_FILE} of the lake {url} is a link to nothing; mount what it leads to, "
                    "or delete it to give the lake another id"
                ) from None
            return None
        except IsADirectoryError:
            raise PermanentError(
                f"{LAKE_FILE} of the lake {url} is a folder; expected a file: move it out of the "
                "lake"
            ) from None
        except OSError as error:
            if error.errno == errno.ELOOP and path.is_symlink():
                raise PermanentError(
                    f"{LAKE_FILE} of the lake {url} is a link that leads in a circle; expected a "
                    "file: restore it, or delete it to give the lake another id"
                ) from None
            raise TransientError(f"{LAKE_FILE} of the lake {url}: {error}") from error
    from nightgrid.archive.lake.faults import MissingFileError
    from nightgrid.archive.lake.storage import Lake

    try:
        return Lake.open(url).read_bytes(LAKE_FILE)
    except MissingFileError:
        return None


if __name__ == "__main__":
    _main()
