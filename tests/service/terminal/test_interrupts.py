"""SIGTERM interrupts a command like Ctrl-C, and is restored afterwards."""

from __future__ import annotations

import signal
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nightgrid.service.terminal.console import sigterm_as_interrupt


def test_unfinished_work_is_cleaned_up() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with (
        pytest.raises(KeyboardInterrupt),
        sigterm_as_interrupt(),
        tempfile.TemporaryDirectory() as folder,
    ):
        signal.raise_signal(signal.SIGTERM)
    assert not Path(folder).exists()
    assert signal.getsignal(signal.SIGTERM) == before


def test_signals_are_left_to_the_main_thread() -> None:
    before = signal.getsignal(signal.SIGTERM)

    def seen() -> object:
        with sigterm_as_interrupt():
            return signal.getsignal(signal.SIGTERM)

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(seen).result() == before
