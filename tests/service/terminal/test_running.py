"""Outages are reported while they last, and no longer."""

from __future__ import annotations

import pytest

from nightgrid.archive.outages import Outage
from nightgrid.service.terminal import running
from nightgrid.service.terminal.running import OutageNotes, sentence

WHAT = "the Redis server at 127.0.0.1:9"


@pytest.mark.parametrize(
    ("left_s", "words"),
    [
        (12.4, "retrying for at most another 12 s"),
        (-1.0, "retrying once more"),
        (None, "retrying"),
    ],
)
def test_an_outage_is_described_with_reason_and_time_left(left_s: float | None, words: str) -> None:
    until = None if left_s is None else 100.0 + left_s
    outage = Outage(what=WHAT, why="refused", until_s=until)
    assert sentence(outage, 100.0) == f"cannot reach {WHAT}: refused; {words}"


def test_an_outage_is_reported_at_once_and_then_now_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    monkeypatch.setattr(running, "note", told.append)
    now = [1000.0]
    monkeypatch.setattr(running.time, "monotonic", lambda: now[0])
    shown = OutageNotes()
    outage = Outage(what=WHAT, why="refused", until_s=1060.0)
    for later in (0.0, 1.0, 28.0, 1.0):
        now[0] += later
        shown.begin(outage)
    assert [text.rsplit(" ", 2)[1] for text in told] == ["60", "30"]
    shown.end(WHAT, answers=True)
    shown.end(WHAT, answers=True)
    assert told[2:] == [f"{WHAT} answers again"]
