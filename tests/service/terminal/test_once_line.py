"""What is made once on a machine tells how far it is, and about how long the rest takes."""

from __future__ import annotations

import pytest

from nightgrid.service.terminal.progress import MovingLine, OnceLine


def test_what_is_made_once_is_told_now_and_then_with_the_time_that_is_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given steps that an earlier process did, Then only the later ones say how long they take."""
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    line = OnceLine("vectors of words, made once and kept if stopped")
    for clock[0], done in ((100.0, 4_000), (129.0, 5_000), (130.0, 7_000), (140.0, 10_000)):
        line(done, 10_000)
    assert capsys.readouterr().err.splitlines() == [
        "vectors of words, made once and kept if stopped: 4,000 of 10,000",
        "vectors of words, made once and kept if stopped: 7,000 of 10,000, about 30 s left",
        "vectors of words, made once and kept if stopped: 10,000 of 10,000",
    ]


def test_nothing_is_told_of_what_is_made_at_once_and_rows_may_have_no_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    line = OnceLine("corpus", 1.0)
    line(0, 60_000)
    line(60_000, 60_000)
    line(0, None)
    clock[0] = 130.5
    line(10_000, None)
    line.close()
    assert capsys.readouterr().err == "corpus: 10,000\n"


def test_a_file_gets_a_line_every_30_s_and_one_at_the_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    line = MovingLine()
    for step in range(66):
        clock[0] = 100.0 + step
        line.show(step, 66, lambda step=step: f"{step} of 66")
    line.close()
    assert capsys.readouterr().err.splitlines() == ["0 of 66", "30 of 66", "60 of 66", "65 of 66"]
