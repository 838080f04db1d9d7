"""The log: structlog, configured once, for our events and for the loggers of libraries.

An event is a fixed text; its fields and the ids bound by structlog.contextvars hold the details.
Lines go to standard error or a file, never to standard output, which is for answers. Text from
outside can neither start a line nor move a terminal's cursor, and secrets are masked.
docs/reference/logs.md lists every event.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Literal, cast

import structlog
from structlog.contextvars import bind_contextvars, get_contextvars
from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

from nightgrid.workers.processes import begin_log

LogFormat = Literal["console", "json"]
FORMAT_VARIABLE = "NIGHTGRID_LOG_FORMAT"
CARRIED = ("request", "night")
"""Ids that travel in a message header, because a worker has no other way to know them."""

_HIDDEN = "***"
_SECRET_NAME = re.compile(r"pass(word|wd)?$|secret|token|api_?key|authorization", re.IGNORECASE)
_SECRETS = re.compile(
    r"(?P<url>[A-Za-z][\w+.-]*://)[^\s/@]*(?=@)"
    r"|(?P<key>\bng_)[a-z0-9-]+_[\w-]{8,}"
    r"|(?P<header>(?i:\b(?:bearer|basic) +))[\w.~+/=-]{8,}"
    r"|(?P<field>(?i:\b[\w-]*(?:password|secret|token|access_key|api_?key)[\w-]*)=)[^&\s'\"]+"
)
"""A password in a URL, a key of the HTTP service, an Authorization header, NAME=SECRET."""
_FIRST = ("timestamp", "level", "logger", "event")


@dataclass(slots=True)
class _Output:
    path: Path | None = None
    """A file; None: standard error."""
    format: LogFormat | None = None
    """None: what FORMAT_VARIABLE says, else `console` on a terminal and `json` elsewhere."""


_output = _Output()


def get_logger(name: str) -> FilteringBoundLogger:
    """Return the logger for one part of the program."""
    return cast("FilteringBoundLogger", structlog.get_logger().bind(logger=name))


def use_format(given: LogFormat | None) -> None:
    """Set the log format of this process; None leaves it to the environment and the output."""
    _output.format = given


def chosen_format() -> str | None:
    """Return the format that was set explicitly; None if the output decides."""
    return _output.format or os.environ.get(FORMAT_VARIABLE) or None


def log_path() -> Path | None:
    """Return the file that this process logs to; None: standard error."""
    return _output.path


def log_to(path: Path | None) -> None:
    """Send this process's log to a file from now on."""
    _output.path = path


@contextmanager
def logged_to(path: Path) -> Iterator[None]:
    """Log to a file in a `with` block, which keeps standard error for people."""
    with suppress(OSError):
        begin_log(path)
    before = log_path()
    log_to(path)
    try:
        yield
    finally:
        log_to(before)


def carried() -> dict[str, str]:
    """Return the bound ids that travel in a message header."""
    ids = get_contextvars()
    return {name: str(ids[name]) for name in CARRIED if name in ids}


def bind_carried(header: Mapping[str, str] | None) -> None:
    """Bind the ids of a message header."""
    bind_contextvars(**(header or {}))


def take_over_logging(level: int, quiet: Sequence[str] = ()) -> None:
    """Route the logs of libraries through ours; `quiet` libraries log warnings only."""
    handler = _Handler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *_PROCESSORS],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _render],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in quiet:
        logging.getLogger(name).setLevel(logging.WARNING)


class _Lines:
    """Writes rendered lines to the output. On a full disk a line is lost, never the work."""

    def msg(self, text: str) -> None:
        with suppress(OSError, ValueError):
            if _output.path is None:
                # Looked up for each line, because tests that capture the stream replace it.
                sys.stderr.write(f"{text}\n")
                sys.stderr.flush()
            else:
                with _output.path.open("a", encoding="utf-8") as file:
                    file.write(f"{text}\n")

    info = warning = error = msg


class _Handler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        try:
            _Lines().msg(self.format(record))
        except Exception:  # noqa: BLE001 - as the library's own handlers do
            self.handleError(record)


def _clean(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Add the process id, mask secrets, and put the common fields first."""
    ordered = {name: event.pop(name) for name in _FIRST if name in event}
    return _clean_items({**ordered, **event, "pid": os.getpid()})


def _without_secrets(value: Any) -> Any:
    """Mask secrets in a value; values without a JSON type become text."""
    if isinstance(value, Mapping):
        return _clean_items(value)
    if isinstance(value, list | tuple):
        return [_without_secrets(each) for each in value]
    if value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return value
    text = str(value)
    return _SECRETS.sub(lambda found: f"{found[found.lastgroup or 0]}{_HIDDEN}", text)


def _clean_items(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        str(name): _HIDDEN if _SECRET_NAME.search(str(name)) else _without_secrets(each)
        for name, each in value.items()
    }


def _escaped(value: Any) -> Any:
    """Escape line ends and cursor movements."""
    if value is None or isinstance(value, int | float):
        return value
    text = value if isinstance(value, str) else repr(value)
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


_JSON = structlog.processors.JSONRenderer()
_CONSOLES = {
    coloured: structlog.dev.ConsoleRenderer(
        colors=coloured, exception_formatter=structlog.dev.plain_traceback
    )
    for coloured in (False, True)
}


def _render(logger: WrappedLogger, method: str, event: EventDict) -> str:
    is_terminal = _output.path is None and sys.stderr.isatty()
    if (chosen_format() or ("console" if is_terminal else "json")) == "json":
        return cast("str", _JSON(logger, method, event))
    coloured = is_terminal or bool(_output.path is None and os.environ.get("FORCE_COLOR"))
    trace = event.pop("exception", "")
    event = {_escaped(name): _escaped(value) for name, value in event.items()}
    line = _CONSOLES[coloured and not os.environ.get("NO_COLOR")](logger, method, event)
    # An exception's text cannot pass for a log line.
    return "\n".join([line, *(f"    | {_escaped(part)}" for part in trace.splitlines())])


_PROCESSORS: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
    _clean,
]
structlog.configure(
    processors=[*_PROCESSORS, _render],
    wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    logger_factory=lambda *_: _Lines(),
    cache_logger_on_first_use=True,
)
