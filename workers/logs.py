"""Where the log goes: never to standard output, which holds answers and nothing else."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, cast

import structlog
from structlog.typing import Processor

from nightgrid.workers.processes import begin_log


def configure(*, json_lines: bool) -> None:
    """Send every log line to standard error, as JSON or as people read it."""
    render: Processor = (
        structlog.processors.JSONRenderer()
        if json_lines
        else structlog.dev.ConsoleRenderer(colors=_coloured())
    )
    _configure(render, _Sink())


def _coloured() -> bool:
    """Tell whether standard error gets colours: NO_COLOR goes before FORCE_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stderr.isatty()


@contextmanager
def logged_to(path: Path) -> Iterator[None]:
    """Send every log line of this process to a file, for the length of a `with` block.

    So standard error is left to what people are told.
    """
    with contextlib.suppress(OSError):
        begin_log(path)
    before = structlog.get_config() if structlog.is_configured() else None
    _configure(structlog.dev.ConsoleRenderer(colors=False), _Sink(path))
    try:
        yield
    finally:
        if before is None:
            configure(json_lines=False)
        else:
            structlog.configure(**before)


def _configure(render: Processor, sink: _Sink) -> None:
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            render,
        ],
        logger_factory=lambda *_: structlog.PrintLogger(cast("TextIO", sink)),
    )


class _Sink(io.TextIOBase):
    """Standard error or a file, on a disk that may be full: a line is lost then, and never the
    work.
    """

    def __init__(self, path: Path | None = None) -> None:
        super().__init__()
        self._path = path

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            if self._path is None:
                # Asked for at each line: a test that captures the stream may replace it.
                sys.stderr.write(text)
            else:
                with self._path.open("a") as file:
                    file.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            sys.stderr.flush()


def get_logger(name: str) -> Any:
    """Return a logger; the library's own default would write to standard output."""
    if not structlog.is_configured():
        configure(json_lines=False)
    return structlog.get_logger(name)
