"""Where settings come from (options, the environment, nightgrid.toml), and error messages for them.

Options override the environment, the environment overrides the file, and the file overrides the
defaults. The file is the one that NIGHTGRID_CONFIG names, else nightgrid.toml in the current
folder.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import annotated_types
from pydantic.fields import FieldInfo

from nightgrid.archive.lake.location import expanded
from nightgrid.solvers.errors import PermanentError

PREFIX = "NIGHTGRID_"
CONFIG_VARIABLE = "NIGHTGRID_CONFIG"
CONFIG_NAME = "nightgrid.toml"
NO_CONFIG = os.devnull
"""Value of NIGHTGRID_CONFIG that disables the file: child processes get every setting from their
environment."""
_NO_SETTINGS = frozenset(
    {"CONFIG", "TUNING", "TRACEBACK", "ARCHIVE", "WORKER_ID", "URL", "API_KEY"}
)
"""Variables with the prefix that are not settings: those of this module, the command line, the
tests and the workers."""
_OF_BENCHMARKS = "CHAOS_"
_PATHS = ("lake", "var_dir")
"""Settings that are paths; relative ones in a file start at the file's folder."""
_KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text in quotes",
    Path: "a path",
}


def variable(name: str) -> str:
    """Return the environment variable of a setting."""
    return f"{PREFIX}{name.upper()}"


def config_path() -> Path | None:
    """Return the settings file; None if there is none.

    Raises PermanentError if NIGHTGRID_CONFIG does not name a file.
    """
    named = os.environ.get(CONFIG_VARIABLE, "")
    if named == NO_CONFIG:
        return None
    path = expanded(named or CONFIG_NAME).absolute()
    # Under sudo, this user may have no access to the current folder.
    with suppress(PermissionError):
        if path.is_file():
            return path
        if not named and os.path.lexists(path):
            raise PermanentError(f"{path} is not a file; expected a file of settings, or none")
    if named:
        raise PermanentError(f"{CONFIG_VARIABLE} is {named!r:.200}; expected a file")
    return None


def read_config(path: Path | None, fields: Mapping[str, FieldInfo]) -> dict[str, Any]:
    """Read the settings of a file by name.

    Raises PermanentError for a file that is not TOML and for an unknown key.
    """
    if path is None:
        return {}
    try:
        given = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise PermanentError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise PermanentError(f"{path} is not TOML: {error}") from error
    for name in given:
        if name not in fields:
            raise PermanentError(f"{path}: {name!r:.60} is not a setting{_nearest(name, fields)}")
    for name in _PATHS:
        value = given.get(name)
        if isinstance(value, str) and "://" not in value:
            given[name] = str(path.parent / expanded(value))
    return given


def check_variables(fields: Collection[str]) -> None:
    """Raise PermanentError for an environment variable with our prefix that is not a setting."""
    for name in sorted(os.environ):
        word = name.removeprefix(PREFIX)
        if word == name or word in _NO_SETTINGS or word.startswith(_OF_BENCHMARKS):
            continue
        if word.lower() not in fields:
            near = _nearest(word.lower(), fields, PREFIX)
            raise PermanentError(f"{name:.60} is not a setting{near}")


def _nearest(name: str, fields: Collection[str], prefix: str = "") -> str:
    for near in difflib.get_close_matches(name, fields, 1):
        return f"; did you mean {variable(near) if prefix else near}?"
    return "; docs/reference/settings.md names all of them"


def kind_of(field: FieldInfo) -> type:
    """Return the type of a setting: bool, int, float, Path or str."""
    text = str(field.annotation)
    if "Path" in text:
        return Path
    return next((kind for kind in (bool, int, float) if kind.__name__ in text), str)


def expected(field: FieldInfo) -> str:
    """Describe what a setting accepts: "a whole number from 1 to 64"."""
    if get_origin(field.annotation) is Literal:
        return " or ".join(map(str, get_args(field.annotation)))
    what = _KINDS[kind_of(field)]
    least = most = None
    for bound in field.metadata:
        if isinstance(bound, annotated_types.Ge):
            least = f"{bound.ge:,}"
        elif isinstance(bound, annotated_types.Gt):
            what += f" above {bound.gt}"
        elif isinstance(bound, annotated_types.Lt):
            what += f" and below {bound.lt}"
        elif isinstance(bound, annotated_types.Le):
            most = f"{bound.le:,}"
    if least and most:
        return f"{what} from {least} to {most}"
    return f"{what} of {least} or more" if least else what


def faults_of(
    errors: Iterator[Mapping[str, Any]],
    fields: Mapping[str, FieldInfo],
    given: Collection[str],
    path: Path | None,
) -> Iterator[str]:
    """Describe each invalid setting: where it is set, what it is and what was expected."""
    for error in errors:
        name = str(error["loc"][0]) if error["loc"] else ""
        if name in given:
            where = f"--{name.replace('_', '-')}"
        elif os.environ.get(variable(name)) or path is None:
            where = variable(name)
        else:
            where = f"{path}: {name}"
        if name not in fields:
            # A rule about several settings has no single place; its message names them.
            yield _said(error)
        elif error["type"] == "value_error":
            yield f"{where} {_said(error)}"
        else:
            # The input of this error may contain a password.
            shown = "no text" if name == "redis_url" else error["input"]
            yield f"{where} is {shown!s:.40}; expected {expected(fields[name])}"


def _said(error: Mapping[str, Any]) -> str:
    """Return the message of the failed check without the library's prefix."""
    return str(error.get("ctx", {}).get("error") or error["msg"])
