"""Small JSON objects in the lake, a file each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import PermanentError

Found = TypeVar("Found")
_CONTENT_ERRORS = (
    PermanentError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError,
    RecursionError,
)  # fmt: skip
"""Exceptions of an object with invalid content: a missing key, a value of the wrong type or range,
too deep nesting."""


def read_json(lake: Lake, path: str) -> dict[str, Any] | None:
    """Read a small JSON object; None if there is no file.

    Raises DamagedFileError for anything but a JSON object.
    """
    try:
        data = lake.read_bytes(path)
        value = json.loads(data)
    except MissingFileError:
        return None
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"{path} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise DamagedFileError(f"{path}: expected a JSON object")
    return value


def read_as(lake: Lake, path: str, read: Callable[[dict[str, Any]], Found]) -> Found | None:
    """Read and convert a small JSON object; None if there is no file.

    `read` converts the object. Raises DamagedFileError for an object that it cannot convert, and
    whenever `read_json` does.
    """
    value = read_json(lake, path)
    try:
        return None if value is None else read(value)
    except _CONTENT_ERRORS as error:
        missing = isinstance(error, KeyError) and error.args
        what = f"{error.args[0]} is missing" if missing else f"{error!s:.80}"
        raise DamagedFileError(f"{path} is damaged: {what}") from error


def read_hint(lake: Lake, path: str, read: Callable[[dict[str, Any]], Found]) -> Found | None:
    """Read a cached file like `read_as`; None if it is damaged."""
    try:
        return read_as(lake, path, read)
    except DamagedFileError:
        return None


def write_json(lake: Lake, path: str, value: Mapping[str, Any], *, durable: bool = True) -> None:
    """Write a small JSON object atomically; without waiting for the disk if it is not `durable`."""
    data = (canonical_json(value) + "\n").encode("ascii")
    lake.write_bytes(path, data, durable=durable)
