"""What does not answer is told while it is tried again, and no more once it answers."""

from __future__ import annotations

import time

import pytest

from nightgrid.archive import outages
from nightgrid.archive.outages import Outage
from nightgrid.service.terminal import running
from nightgrid.service.terminal.running import OutageNotes, sentence

WHAT = "the Redis server at 127.0.0.1:9"


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


def test_an_outage_is_told_once_it_has_lasted_and_again_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    monkeypatch.setattr(running, "note", told.append)
    shown = OutageNotes()
    now = [time.monotonic()]
    monkeypatch.setattr(running.time, "monotonic", lambda: now[0])
    outage = Outage(what=WHAT, why="refused", until_s=now[0] + 60)
    shown.begin(outage)
    assert told == [], "a server that is started again is no outage"
    now[0] += 2
    shown._tell(WHAT)
    for later in (1.0, 28.0, 1.0):
        now[0] += later
        shown.begin(outage)
    assert [text.rsplit(" ", 2)[1] for text in told] == ["58", "28"]
    shown.end(WHAT, answers=True)
    assert told[-1] == f"{WHAT} answers again"
    shown._tell(WHAT)
    assert len(told) == 3


def test_a_request_without_an_answer_is_told_of_before_it_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    monkeypatch.setattr(running, "note", told.append)
    monkeypatch.setattr(running, "SHORT_S", 0.01)
    monkeypatch.setattr(outages, "NOTICE_S", 0.01)
    with running.outages_shown():
        with outages.reporting_slow_request("http://127.0.0.1:9", 15.0):
            while not told:
                time.sleep(0.001)
        assert "no answer for" in told[0]
        outages.end_outage("http://127.0.0.1:9")
    outages.report_outage("http://127.0.0.1:9", "refused", 1.0)
    assert len(told) == 2, "nothing is told once the body has ended"
