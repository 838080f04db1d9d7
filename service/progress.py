"""How far a run is, on standard error: one moving line on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from service.console import note

if TYPE_CHECKING:
    from workers.driver import Progress

TERMINAL_EVERY_S = 0.1
PIPED_EVERY_S = 5.0
BAR_CHARS = 30


class ProgressLine:
    """Call it with every progress; close it before anything else is written."""

    def __init__(self) -> None:
        self._moving = sys.stderr.isatty()
        self._next_at = 0.0
        self._written = False

    def __call__(self, progress: Progress) -> None:
        """Show a progress, unless one was shown a moment ago."""
        now = time.monotonic()
        finished = progress.rows_done >= progress.rows_total
        if now < self._next_at and not finished:
            return
        self._next_at = now + (TERMINAL_EVERY_S if self._moving else PIPED_EVERY_S)
        text = describe(progress)
        if self._moving:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
            self._written = True
        else:
            note(text)

    def close(self) -> None:
        """End the moving line."""
        if self._written:
            sys.stderr.write("\n")
            sys.stderr.flush()
        self._written = False


def describe(progress: Progress) -> str:
    """Write a progress as one line."""
    total = max(progress.rows_total, 1)
    full = BAR_CHARS * progress.rows_done // total
    failures = f", {progress.failures} failures" if progress.failures else ""
    return (
        f"[{'#' * full}{'.' * (BAR_CHARS - full)}] "
        f"{progress.rows_done:,} of {progress.rows_total:,} jobs, "
        f"{progress.chunks_done:,} of {progress.chunks_total:,} chunks, "
        f"{progress.seconds:.1f} s{failures}"
    )
