"""Signals that end what a command does as Ctrl-C would: what is half done is tidied up first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end what is under way as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        # The main thread has the signals.
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
