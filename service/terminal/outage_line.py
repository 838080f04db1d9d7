"""What does not answer, on standard error: a countdown on a terminal, else a line now and then."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

from nightgrid.archive import outages
from nightgrid.archive.outages import Outage
from nightgrid.service.terminal.console import note
from nightgrid.service.terminal.progress import MovingLine

AGAIN_EVERY_S = 30.0
"""Where lines cannot be overwritten, an outage that goes on is printed again after this."""
SHORT_S = 1.5
"""An outage that is over sooner is not told: servers are started again within a moment."""


@contextmanager
def outages_shown() -> Iterator[None]:
    """Show on standard error what does not answer while the body runs."""
    line = OutageLine()
    try:
        with outages.notifying(line):
            yield
    finally:
        line.close()


class OutageLine:
    """A nightgrid.archive.outages.Listener that shows the outages there are, the last one first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, tuple[Outage, float]] = {}
        self._told_at: dict[str, float] = {}
        self._line = MovingLine(transient=True)
        self._closed = threading.Event()

    def begin(self, outage: Outage) -> None:
        """Show an outage, or one that goes on."""
        with self._lock:
            begun = self._open.get(outage.what, (outage, time.monotonic()))[1]
            if not self._open and not self._closed.is_set():
                threading.Thread(target=self._show_on, name="outages", daemon=True).start()
            self._open[outage.what] = (outage, begun)

    def end(self, what: str, *, answers: bool) -> None:
        """Remove an outage; print that its source answers again, if the outage was printed."""
        with self._lock:
            self._open.pop(what, None)
            told = self._told_at.pop(what, None)
            if not self._open:
                self._line.close()
        if told is not None and answers:
            note(f"{what} answers again")

    def close(self) -> None:
        """End the line."""
        self._closed.set()
        with self._lock:
            self._open.clear()
            self._line.close()

    def _show_on(self) -> None:
        while not self._closed.wait(0.25):
            with self._lock:
                if not self._open:
                    return
                self._show(time.monotonic())

    def _show(self, now: float) -> None:
        old = [(o, begun) for o, begun in self._open.values() if now - begun >= SHORT_S]
        for outage, _ in old:
            told_at = self._told_at.get(outage.what)
            if self._line.moving:
                self._told_at[outage.what] = now
                text = sentence(outage, now)
                self._line.show(0, 1, partial(str, text), at_once=True)
            elif told_at is None or now - told_at >= AGAIN_EVERY_S:
                self._told_at[outage.what] = now
                with suppress(OSError, ValueError):
                    note(sentence(outage, now))


def sentence(outage: Outage, now_s: float) -> str:
    """Say what does not answer, why, and how long it is tried again."""
    tried = "trying again until it answers"
    if outage.until_s is not None:
        left_s = max(0.0, outage.until_s - now_s)
        tried = f"trying again for at most another {left_s:.0f} s" if left_s else "trying once more"
    return f"cannot reach {outage.what}: {outage.why}; {tried}"
