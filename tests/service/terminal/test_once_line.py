"""What is made once on a machine tells how far it is, and about how long the rest takes."""

from __future__ import annotations

import pytest

from nightgrid.service.terminal.progress import OnceLine


def test_what_is_made_once_is_told_now_and_then_with_the_time_that_is_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given steps that an earlier process did, Then only the later ones say how long they take."""
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    line = OnceLine("vectors of words")
    for clock[0], done in ((100.0, 4_000), (105.0, 5_000), (115.0, 7_000), (140.0, 10_000)):
        line(done, 10_000)
    assert capsys.readouterr().err.splitlines() == [
        "vectors of words, made once and kept if stopped: 4,000 of 10,000",
        "vectors of words, made once and kept if stopped: 7,000 of 10,000, about 15 s left",
        "vectors of words, made once and kept if stopped: 10,000 of 10,000",
    ]
