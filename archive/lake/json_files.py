"""Small JSON objects in the lake, as files of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import canonical_json
from nightgrid.solvers.errors import PermanentError


def read_json(lake: Lake, path: str) -> dict[str, Any] | None:
    """Read a small JSON object, or None where there is no file.

    Raises PermanentError for anything but a JSON object.
    """
    try:
        value = json.loads(lake.read_bytes(path))
    except MissingFileError:
        return None
    except ValueError as error:
        raise PermanentError(f"{path} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise PermanentError(f"{path}: expected a JSON object")
    return value


def write_json(lake: Lake, path: str, value: Mapping[str, Any], *, durable: bool = True) -> None:
    """Write a small JSON object, atomically; nothing waits for the disk if it is not `durable`."""
    data = (canonical_json(value) + "\n").encode("ascii")
    lake.write_bytes(path, data, durable=durable)
