"""Where the log goes: standard error, so that standard output holds answers and nothing else."""

from __future__ import annotations

import contextlib
import io
import sys
from typing import Any, TextIO, cast

import structlog
from structlog.typing import Processor


def configure(*, json_lines: bool) -> None:
    """Send every log line to standard error, as JSON or as people read it."""
    render: Processor = (
        structlog.processors.JSONRenderer()
        if json_lines
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            render,
        ],
        # Asked for at each line: whoever captures the stream may replace it.
        logger_factory=lambda *_: structlog.PrintLogger(cast("TextIO", _STDERR)),
    )


class _Stderr(io.TextIOBase):
    """Standard error, on a disk that may be full: a line is lost then, and never the work."""

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            sys.stderr.flush()


_STDERR = _Stderr()


def get_logger(name: str) -> Any:
    """Return a logger; the library's own default would write to standard output."""
    if not structlog.is_configured():
        configure(json_lines=False)
    return structlog.get_logger(name)
