"""A service looks whether retention has dropped answers, whatever a look meets."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.dropped import ROWS_DROPPED_PATH, note_rows_dropped
from nightgrid.service.http.solves import dropped_answers
from nightgrid.service.http.solves.dropped_answers import DroppedAnswers
from nightgrid.solvers.errors import TransientError


class Forgetting:
    """Counts how often answers are forgotten; fails the first times."""

    def __init__(self, fails: int = 0, error: type[Exception] = RuntimeError) -> None:
        self.fails, self.error, self.calls = fails, error, 0

    def __call__(self) -> None:
        self.calls += 1
        if self.calls <= self.fails:
            raise self.error("the answers are locked")


def note_in_the_same_second(lake: Lake) -> None:
    """Note that rows were dropped, on a store that keeps whole seconds."""
    note_rows_dropped(lake)
    os.utime(Path(lake.url) / ROWS_DROPPED_PATH, (1_000, 1_000))


def test_each_of_two_notes_within_a_second_has_answers_forgotten(lake: Lake) -> None:
    forget = Forgetting()
    dropped = DroppedAnswers(lake, forget)
    dropped.look()
    assert forget.calls == 0, "nothing was dropped yet"
    for number in (1, 2):
        note_in_the_same_second(lake)
        dropped.look()
        dropped.look()
        assert forget.calls == number


def test_a_note_stays_unseen_while_answers_are_not_forgotten(lake: Lake) -> None:
    forget = Forgetting(1, TransientError)
    dropped = DroppedAnswers(lake, forget)
    note_rows_dropped(lake)
    for _ in range(3):
        dropped.look()
    assert forget.calls == 2


def test_an_unexpected_error_is_logged_and_the_next_look_follows(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dropped_answers, "LOOK_S", 0.0)

    async def look_twice() -> int:
        looked, loop = asyncio.Event(), asyncio.get_running_loop()

        class Telling(Forgetting):
            def __call__(self) -> None:
                super().__call__()
                loop.call_soon_threadsafe(looked.set)

        forget = Telling(1)
        dropped = DroppedAnswers(lake, forget)
        note_rows_dropped(lake)
        dropped.begin()
        try:
            await asyncio.wait_for(looked.wait(), 20)
        finally:
            await dropped.end()
        return forget.calls

    assert asyncio.run(look_twice()) == 2
    told = capsys.readouterr().err
    assert "dropped answers not looked for" in told
    assert "the answers are locked" in told
