"""API keys in the lake: one file a key, with a hash of its secret and its limits.

keys/<name>.json    created once, so that of two processes that add a name one gets an error

A key is issued as `ng_NAME_SECRET`. The secret is 256 random bits: it cannot be guessed, so a fast
hash is enough. It is shown once and stored nowhere.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, Field

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.json_files import read_as
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.skipped_files import skip_file
from nightgrid.solvers.errors import PermanentError

KEYS = "keys"
PER_MINUTE = 600
JOBS = 100
"""Default limits of a new key."""
LIMIT_MAX = 1_000_000
SECRET_BYTES = 32
_BEGINS = "ng"
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
Limit = Annotated[int, Field(ge=1, le=LIMIT_MAX)]


class Key(BaseModel):
    """A key as stored in the lake, without its secret."""

    name: str
    digest: str = Field(pattern="^[0-9a-f]{64}$")
    """SHA-256 of its secret, in hexadecimal."""
    per_minute: Limit
    """Requests a minute."""
    jobs: Limit
    """Concurrent open jobs."""
    created_at: str

    def fits(self, secret: str) -> bool:
        """Return whether a secret is this key's, in constant time."""
        return hmac.compare_digest(_digest(secret), self.digest)


def add_key(lake: Lake, name: str, per_minute: int = PER_MINUTE, jobs: int = JOBS) -> str:
    """Add a key; return the text that its user sends, which is never shown again.

    Raises PermanentError for an invalid name or limit, and for an existing name.
    """
    _check_name(name)
    _check_limit(per_minute, "--per-minute")
    _check_limit(jobs, "--jobs")
    secret = secrets.token_urlsafe(SECRET_BYTES)
    key = Key(
        name=name,
        digest=_digest(secret),
        per_minute=per_minute,
        jobs=jobs,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    data = key.model_dump_json().encode("ascii")
    if not lake.write_bytes(_path(name), data, new=True):
        raise PermanentError(
            f"key {name!r} exists already; nightgrid keys revoke {name} removes it"
        )
    return f"{_BEGINS}_{name}_{secret}"


def revoke_key(lake: Lake, name: str) -> None:
    """Delete a key, damaged or not. Raises PermanentError if there is none of that name."""
    _check_name(name)
    if not lake.exists(_path(name)):
        raise PermanentError(
            f"there is no key {name!r} in {lake.url}; nightgrid keys list shows all"
        )
    lake.delete(_path(name))


def read_keys(lake: Lake) -> dict[str, Key]:
    """Read all keys of a lake by name, sorted. A damaged one does not affect the others."""
    found: dict[str, Key] = {}
    for path in lake.list(KEYS):
        try:
            key = read_as(lake, path, Key.model_validate)
        except DamagedFileError as error:
            skip_file(path, error)
            continue
        if key is not None:
            found[key.name] = key
    return dict(sorted(found.items()))


def find_key(keys: Mapping[str, Key], text: str) -> Key | None:
    """Return the key that matches a text, if any."""
    begins, _, rest = text.partition("_")
    name, _, secret = rest.partition("_")
    key = keys.get(name)
    return key if key is not None and key.fits(secret) and begins == _BEGINS else None


def _path(name: str) -> str:
    return f"{KEYS}/{name}.json"


def _digest(secret: str) -> str:
    # A header may hold any bytes; undecodable ones hash to a value that no key has.
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise PermanentError(
            f"key name is {name!r:.60}; expected 1 to 32 of a-z, 0-9 and '-', no '-' at either end"
        )


def _check_limit(value: int, option: str) -> None:
    if not 1 <= value <= LIMIT_MAX:
        raise PermanentError(f"{option} is {value}; expected 1 to {LIMIT_MAX:,}")
