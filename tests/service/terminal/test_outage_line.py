"""What does not answer is told while it is tried again, and no more once it answers."""

from __future__ import annotations

import time
from typing import Any

import pytest

from nightgrid.archive import outages
from nightgrid.archive.outages import Outage
from nightgrid.service.terminal import outage_line
from nightgrid.service.terminal.outage_line import OutageLine, sentence

WHAT = "the Redis server at 127.0.0.1:9"


def line(monkeypatch: pytest.MonkeyPatch) -> tuple[OutageLine, list[str]]:
    """Make a line that is shown when `_show` is called, and what it has told."""
    told: list[str] = []
    monkeypatch.setattr(outage_line, "note", told.append)
    monkeypatch.setattr(OutageLine, "_show_on", lambda self: None)
    return OutageLine(), told


@pytest.mark.parametrize(
    ("left_s", "words"),
    [
        (12.4, "trying again for at most another 12 s"),
        (-1.0, "trying once more"),
        (None, "trying again until it answers"),
    ],
)
def test_an_outage_says_what_why_and_for_how_long(left_s: float | None, words: str) -> None:
    until = None if left_s is None else 100.0 + left_s
    outage = Outage(what=WHAT, why="refused", until_s=until)
    assert sentence(outage, 100.0) == f"cannot reach {WHAT}: refused; {words}"


def test_an_outage_is_told_within_seconds_and_again_now_and_then(monkeypatch: Any) -> None:
    shown, told = line(monkeypatch)
    now = time.monotonic()
    monkeypatch.setattr(outage_line.time, "monotonic", lambda: now)
    shown.begin(Outage(what=WHAT, why="refused", until_s=now + 60))
    shown._show(now + 1.0)
    assert told == [], "a server that is started again is no outage"
    for later in (2.0, 3.0, 31.0, 33.0):
        shown._show(now + later)
    assert [text.rsplit(" ", 2)[1] for text in told] == ["58", "27"]
    shown.end(WHAT, answers=True)
    assert told[-1] == f"{WHAT} answers again"
    shown._show(now + 40)
    assert len(told) == 3


def test_a_request_without_an_answer_is_told_of_before_it_fails(monkeypatch: Any) -> None:
    monkeypatch.setattr(outages, "NOTICE_S", 0.01)
    shown, _ = line(monkeypatch)
    with outages.notifying(shown):
        with outages.reporting_slow_request("http://127.0.0.1:9", 15.0):
            while not shown._open:
                time.sleep(0.001)
        (outage, _) = shown._open["http://127.0.0.1:9"]
        assert "no answer for" in outage.why
        outages.end_outage("http://127.0.0.1:9")
        assert not shown._open
    outages.report_outage("http://127.0.0.1:9", "refused", 1.0)
    assert not shown._open, "nothing is told once the body has ended"
