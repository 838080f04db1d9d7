"""Lines of the log: an event and its fields as structlog renders them, without secrets.

The loggers of libraries (Celery, uvicorn) go the same way. A text from outside can neither begin a
line of its own nor move the cursor of a terminal: JSON escapes it, and so does what is written for
people.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from math import isfinite
from typing import Any, cast

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from nightgrid.workers.logs import bound_ids, current_format, is_coloured, write_text

FIELD_CHARS = 2_000
"""Longest text of a field, in characters; a traceback may be ten times as long."""
FIELD_ITEMS = 50
FIELD_DEPTH = 4
"""Deepest nesting of a field's value, and most items of each level."""
_HIDDEN = "***"
_SECRET_NAME = re.compile(r"pass(word|wd)?$|secret|token|api_?key|authorization", re.IGNORECASE)
_SECRETS = (
    # The password of a URL, with the name before it.
    (re.compile(r"([A-Za-z][\w+.-]*://)[^\s/@]*@"), rf"\1{_HIDDEN}@"),
    # A key of the HTTP service.
    (re.compile(r"\bng_[a-z0-9-]+_[\w-]{8,}"), f"ng_{_HIDDEN}"),
    (re.compile(r"(?i)\b(bearer|basic) +[\w.~+/=-]{8,}"), rf"\1 {_HIDDEN}"),
    (
        re.compile(r"(?i)\b([\w-]*(?:password|secret|token|access_key|api_?key)[\w-]*)=[^&\s'\"]+"),
        rf"\1={_HIDDEN}",
    ),
)
_MARKS = ("://", "ng_", " ", "=")
"""What each of these patterns needs: a text without any of them holds no secret."""
NAMES_KEPT = 256
_FIRST = ("timestamp", "level", "logger", "event")


def write(level: str, name: str, event: str, fields: Mapping[str, Any]) -> None:
    """Write one event. A field that cannot be written never stops the work."""
    # A field may be called `event` by mistake of ours alone: mypy refuses it at the call.
    getattr(_logger(name), level)(event, **fields)


@cache
def _logger(name: str) -> Any:
    return _LOGGER.bind(logger=name)


def take_over_logging(level: int, quiet: Sequence[str] = ()) -> None:
    """Write logs of libraries as the same lines; `quiet` libraries log warnings only."""
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[_add_ids, structlog.stdlib.add_logger_name, *_BEFORE],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _render],
    )
    handler = _Handler()
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in quiet:
        logging.getLogger(name).setLevel(logging.WARNING)


class _Handler(logging.Handler):
    """Writes a library's record where all lines go."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            write_text(f"{self.format(record)}\n")
        except Exception:  # noqa: BLE001 - as the library's own handlers do
            self.handleError(record)


class _Lines:
    """Writes what the processors have rendered."""

    def msg(self, text: str) -> None:
        write_text(f"{text}\n")

    info = warning = error = msg


def _add_ids(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    for name, value in bound_ids().items():
        event.setdefault(name, value)
    return event


def _add_process(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    event["pid"] = os.getpid()
    return event


def _clean(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Hide secrets, cut what is too long, and put first what every line has."""
    kept = {name: event[name] for name in _FIRST if name in event}
    for name, value in event.items():
        if name not in kept and name != "exception":
            kept[name] = _HIDDEN if _is_secret(name) else _plain(value, FIELD_DEPTH)
    kept["event"] = _plain(event["event"], 1)
    if "exception" in event:
        kept["exception"] = _masked(str(event["exception"]), 10 * FIELD_CHARS)
    return kept


@lru_cache(NAMES_KEPT)
def _is_secret(name: str) -> bool:
    """Tell whether a field is one whose value no line may have, by its name."""
    return _SECRET_NAME.search(name) is not None


def _plain(value: Any, depth: int) -> Any:
    """Write a value as JSON has it, whatever it is."""
    if value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return value
    try:
        if isinstance(value, str):
            return _masked(value)
        if depth and isinstance(value, Mapping):
            items = list(value.items())[:FIELD_ITEMS]
            return {
                str(k): _HIDDEN if _SECRET_NAME.search(str(k)) else _plain(v, depth - 1)
                for k, v in items
            }
        if depth and isinstance(value, list | tuple | set | frozenset):
            return [_plain(each, depth - 1) for each in list(value)[:FIELD_ITEMS]]
        return _masked(str(value))
    except Exception as error:  # noqa: BLE001 - a value that cannot be written costs that value
        return f"<{type(value).__name__} that cannot be written: {type(error).__name__}>"


def _masked(text: str, chars: int = FIELD_CHARS) -> str:
    # Cut first, with some room: a pattern must not walk through megabytes.
    text = text[: 2 * chars]
    # An id, a route or a number written as a text has none of these.
    if any(mark in text for mark in _MARKS):
        for pattern, instead in _SECRETS:
            text = pattern.sub(instead, text)
    return text if len(text) <= chars else f"{text[:chars]}…"


def _escaped(text: str) -> str:
    """Write what is no printable character as its escape: line ends, and what moves a cursor."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


def _for_people(value: Any) -> Any:
    if isinstance(value, str):
        return _escaped(value)
    return value if isinstance(value, int | float | None) else _escaped(repr(value))


# Kept: `json.dumps` makes a new encoder for every line.
_ENCODER = json.JSONEncoder(default=repr)
_JSON = structlog.processors.JSONRenderer(lambda event, **_: _ENCODER.encode(event))
_CONSOLE = {
    coloured: structlog.dev.ConsoleRenderer(
        colors=coloured, exception_formatter=structlog.dev.plain_traceback
    )
    for coloured in (False, True)
}


def _render(logger: WrappedLogger, method: str, event: EventDict) -> str:
    """Write the line."""
    if current_format() == "json":
        return cast(str, _JSON(logger, method, event))
    trace = event.pop("exception", None)
    event = {_escaped(name): _for_people(value) for name, value in event.items()}
    line = _CONSOLE[is_coloured()](logger, method, event)
    if trace is None:
        return line
    # Every line of it is marked: what an exception says cannot look like a line of the log.
    return "\n".join([line, *(f"    | {_escaped(part)}" for part in trace.splitlines())])


_BEFORE: list[Processor] = [
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    _add_process,
    structlog.processors.format_exc_info,
    _clean,
]
_LOGGER: Any = structlog.wrap_logger(
    _Lines(),
    processors=[*_BEFORE, _render],
    wrapper_class=structlog.BoundLogger,
    context_class=dict,
    cache_logger_on_first_use=False,
)
