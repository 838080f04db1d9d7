"""Where the log goes: standard error, so that standard output holds answers and nothing else."""

from __future__ import annotations

import sys
from typing import Any

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
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )


def get_logger(name: str) -> Any:
    """Return a logger; the library's own default would write to standard output."""
    if not structlog.is_configured():
        configure(json_lines=False)
    return structlog.get_logger(name)
