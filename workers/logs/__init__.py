"""The log: events with fields, the ids of what is worked, and where lines go.

Lines go to standard error or to a file, never to standard output, which holds answers and nothing
else. What makes a line of an event is loaded at the first line (nightgrid.workers.logs.lines): a
process that has nothing to tell does not pay for it. docs/reference/logs.md lists every event.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

from nightgrid.workers.processes import begin_log

LogFormat = Literal["console", "json"]
"""How a line is written: as people read it, or as one JSON object."""
FORMAT_VARIABLE = "NIGHTGRID_LOG_FORMAT"

CARRIED = ("request", "night")
"""Ids that go along in the header of a message: a worker cannot know them otherwise."""
_CARRIED_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_bound: ContextVar[Mapping[str, Any]] = ContextVar("bound", default=_NOTHING)


@dataclass(slots=True)
class _Place:
    """Where the lines of this process go, and how they are written."""

    path: Path | None = None
    """A file; None: standard error."""
    format: LogFormat | None = None
    """None: as FORMAT_VARIABLE says, else as people read it on a terminal and as JSON elsewhere."""


_place = _Place()


class Log:
    """Writes events of one part of the program. An event is a fixed text; fields say the rest."""

    def __init__(self, name: str) -> None:
        self._name = name

    def info(self, event: str, **fields: Any) -> None:
        """Write what is as it should be."""
        self._write("info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        """Write what failed and is seen to by the program itself."""
        self._write("warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        """Write what failed and stays so."""
        self._write("error", event, fields)

    def _write(self, level: str, event: str, fields: Mapping[str, Any]) -> None:
        from nightgrid.workers.logs import lines

        lines.write(level, self._name, event, {**_bound.get(), **fields})


def get_logger(name: str) -> Log:
    """Return what writes the events of one part of the program."""
    return Log(name)


def use_format(given: LogFormat | None) -> None:
    """Write lines of this process in a format; None leaves it to the environment and the place."""
    _place.format = given


def chosen_format() -> LogFormat | None:
    """Tell which format was asked for; None where the place decides."""
    told = _place.format or os.environ.get(FORMAT_VARIABLE)
    return cast("LogFormat", told) if told in get_args(LogFormat) else None


def current_format() -> LogFormat:
    """Tell how a line is written now."""
    chosen = chosen_format()
    if chosen is not None:
        return chosen
    return "console" if _place.path is None and sys.stderr.isatty() else "json"


@contextmanager
def logged_to(path: Path) -> Iterator[None]:
    """Send every log line of this process to a file, for the length of a `with` block.

    So standard error is left to what people are told.
    """
    with contextlib.suppress(OSError):
        begin_log(path)
    before, _place.path = _place.path, path
    try:
        yield
    finally:
        _place.path = before


def log_path() -> Path | None:
    """Tell which file the lines of this process go to; None: standard error."""
    return _place.path


def log_to(path: Path | None) -> None:
    """Send the lines of this process, from now on, where those of another one go."""
    _place.path = path


def write_text(text: str) -> None:
    """Write lines where they go. On a disk that is full a line is lost, and never the work."""
    with contextlib.suppress(OSError, ValueError):
        if _place.path is None:
            # Asked for at each line: a test that captures the stream may replace it.
            sys.stderr.write(text)
            sys.stderr.flush()
        else:
            with _place.path.open("a", encoding="utf-8") as file:
                file.write(text)


def is_coloured() -> bool:
    """Tell whether lines get colours: NO_COLOR goes before FORCE_COLOR."""
    if _place.path is not None or os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stderr.isatty()


def bind(**ids: Any) -> None:
    """Put ids into every further line of this thread or asynchronous task."""
    _bound.set({**_bound.get(), **ids})


def unbind() -> None:
    """Put no ids into further lines."""
    _bound.set(_NOTHING)


@contextmanager
def bound(**ids: Any) -> Iterator[None]:
    """Put ids into every line of a `with` block."""
    token = _bound.set({**_bound.get(), **ids})
    try:
        yield
    finally:
        _bound.reset(token)


def bound_ids() -> dict[str, Any]:
    """Tell which ids are bound."""
    return dict(_bound.get())


def carried() -> dict[str, str]:
    """Give the ids that go along in the header of a message."""
    ids = _bound.get()
    return {name: str(ids[name]) for name in CARRIED if name in ids}


def bind_carried(header: object) -> None:
    """Bind the ids of a message's header; other fields are left out."""
    if isinstance(header, Mapping):
        told = {name: header.get(name) for name in CARRIED}
        bind(**{k: v for k, v in told.items() if isinstance(v, str) and _CARRIED_ID.fullmatch(v)})
