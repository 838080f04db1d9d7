"""Progress off a terminal is an occasional line, and nothing for short steps."""

from __future__ import annotations

import threading

import pytest

from nightgrid.service.terminal import progress
from nightgrid.service.terminal.progress import MovingLine, OnceLine


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_a_file_gets_a_line_every_30_s_and_one_at_the_end(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    line = MovingLine()
    for step in range(66):
        clock[0] = 100.0 + step
        line.show(step, 66, f"{step} of 66", last=step == 65)
    line.show(65, 66, "65 of 66", last=True)
    line.close()
    assert capsys.readouterr().err.splitlines() == ["0 of 66", "30 of 66", "60 of 66", "65 of 66"]


def test_nothing_is_shown_for_quick_steps_and_totals_may_be_unknown(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    line = OnceLine("corpus", 1.0)
    line(0, 60_000)
    clock[0] = 129.0
    line(5_000, 60_000)
    clock[0] = 130.5
    line(10_000, None)
    line.close()
    assert capsys.readouterr().err == "corpus: 10,000\n"


def test_a_wait_is_shown_once_it_has_lasted(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    noted = threading.Event()
    monkeypatch.setattr(progress, "note", lambda text: (shown.append(text), noted.set()))
    with progress.waited("planning", 0.0):
        assert noted.wait(60)
    with progress.waited("planning", 60.0):
        pass
    assert shown == ["planning"]
