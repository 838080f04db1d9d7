"""What is told while kernels are compiled: what it is, that it happens once, how far it is."""

from __future__ import annotations

import threading

import pytest
from numba.core import event

from nightgrid.service.terminal import progress
from nightgrid.service.terminal.progress import warming_text


def test_how_many_kernels_are_done_of_how_many_is_told() -> None:
    once = "compiling kernels, once, which takes a minute or two"
    assert warming_text(40, 200, 1, 3, 60.0) == f"{once}: 40 of about 200, 1 of 3 games ready, 60 s"
    assert warming_text(210, 200, 1, 1, 9.0) == f"{once}: 210 of about 210, 1 of 1 game ready, 9 s"


def test_kernels_that_a_solve_compiles_are_counted_once_that_takes_a_while(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with progress.compiling_shown():
        for _ in range(4):
            event.start_event("numba:compile", {})
            clock[0] += 1.5
            event.end_event("numba:compile", {})
    event.start_event("numba:compile", {})
    event.end_event("numba:compile", {})
    assert capsys.readouterr().err == "compiling kernels, once: 3 so far, 3 s\n"


def test_a_wait_that_goes_on_is_told_again_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    twice = threading.Event()

    def note(text: str) -> None:
        told.append(text)
        if len(told) == 2:
            twice.set()

    monkeypatch.setattr(progress, "note", note)
    monkeypatch.setattr(progress, "PIPED_EVERY_S", 1e-3)
    with progress.waited("planning", 0.0):
        assert twice.wait(60)
    assert told[0] == "planning, 0 s"
    ended = len(told)
    with progress.waited("planning", 60.0):
        pass
    assert len(told) == ended
