"""Small JSON objects in the lake, as files of their own."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from zlib import crc32

from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.canonical import canonical_json

Found = TypeVar("Found")
CHECK = "check"
"""The key of a checksum of all others, in files whose every character counts."""


def read_json(lake: Lake, path: str) -> dict[str, Any] | None:
    """Read a small JSON object, or None where there is no file.

    Raises DamagedFileError for anything but a JSON object, and where its checksum says so.
    """
    try:
        value = json.loads(lake.read_bytes(path))
    except MissingFileError:
        return None
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"{path} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise DamagedFileError(f"{path}: expected a JSON object")
    check = value.pop(CHECK, None)
    if check is not None and check != _check_of(value):
        raise DamagedFileError(f"{path} is damaged: it changed since it was written")
    return value


def read_hint(lake: Lake, path: str, read: Callable[[dict[str, Any]], Found]) -> Found | None:
    """Read what may be lost and costs only time; what is damaged or means nothing is not there.

    `read` makes what is wanted of the JSON object; KeyError, TypeError and ValueError say that it
    is none.
    """
    try:
        value = read_json(lake, path)
        return None if value is None else read(value)
    except (DamagedFileError, KeyError, TypeError, ValueError):
        return None


def program_version() -> str:
    """Tell by which program a hint was found out: a later one may have stricter rules."""
    return importlib.metadata.version("nightgrid")


def write_json(
    lake: Lake,
    path: str,
    value: Mapping[str, Any],
    *,
    durable: bool = True,
    checked: bool = False,
) -> None:
    """Write a small JSON object, atomically; nothing waits for the disk if it is not `durable`.

    What is `checked` carries a checksum of its other keys, which `read_json` compares.
    """
    told = {**value, CHECK: _check_of(value)} if checked else value
    data = (canonical_json(told) + "\n").encode("ascii")
    lake.write_bytes(path, data, durable=durable)


def _check_of(value: Mapping[str, Any]) -> str:
    return f"{crc32(canonical_json(value).encode('ascii')):08x}"
