"""A night of the simulated month: on a given date, and killed at a given write to the lake.

`python -m benchmarks.nights.month_night LAKE URL TODAY GAMES [DIES_AT]` works it in a process of
its own, which kills itself at its write number DIES_AT.
"""

from __future__ import annotations

import datetime as dt
import functools
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.lake.local_commit import LocalFolder
from nightgrid.archive.sources import Source, open_source
from nightgrid.archive.sources.web import Politeness
from nightgrid.flows.night import steps
from nightgrid.flows.night.night import work_night
from nightgrid.flows.night.report import NightReport
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.runs import Watch
from nightgrid.workers.settings import Settings

HASTE = Politeness(
    interval_s=0.0, attempts=2, backoff_s=0.01, backoff_max_s=0.02, timeout_s=1.0, deadline_s=5.0
)
"""A source on loopback needs no pause; a stalled one costs a second."""


def night_settings(
    lake: Path, url: str, games: Sequence[str], first: dt.date, today: dt.date
) -> NightSettings:
    """Make the settings of a night that asks for all dates until tomorrow."""
    last = today + dt.timedelta(days=1)
    wanted = tuple(
        NightGame(game=game, source=f"{url}/{game}", since=first, until=last) for game in games
    )
    workers = Settings(lake=str(lake), var_dir=Path(f"{lake}-var"), games=",".join(games))
    return NightSettings(games=wanted, workers=workers, executor="inline")


@contextmanager
def on_date(today: dt.date) -> Iterator[None]:
    """Let nights of this process fetch on a date, half past four in the morning."""
    now = dt.datetime.combine(today, dt.time(4, 30), dt.UTC)

    def opened(address: str, **more: Any) -> Source:
        return open_source(address, HASTE, **more)

    with (
        mock.patch.object(steps.fetching, "fetch", functools.partial(fetch, now=lambda: now)),
        mock.patch.object(steps, "open_source", opened),
    ):
        yield


class Killed(BaseException):
    """Ends a night of this process as a kill would: nothing catches it."""


@contextmanager
def dying_at(write: int, die: Callable[[], None]) -> Iterator[None]:
    """Call `die` at a write to a lake in a folder, before or after the file has its name."""
    count = 0
    commit = LocalFolder.commit

    def counted(self: LocalFolder, *args: Any, **kwargs: Any) -> bool:
        nonlocal count
        count += 1
        if count == write and write % 2:
            die()
        written = commit(self, *args, **kwargs)
        if count == write:
            die()
        return written

    with mock.patch.object(LocalFolder, "commit", counted):
        yield


def raise_killed() -> None:
    """Die in a process that goes on."""
    raise Killed


def _kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def work_dated(
    settings: NightSettings,
    today: dt.date,
    dies_at: int | None = None,
    die: Callable[[], None] = raise_killed,
) -> NightReport:
    """Work a night on a date; with `dies_at` it does not live beyond that write."""
    with ExitStack() as stack:
        stack.enter_context(on_date(today))
        if dies_at is not None:
            stack.enter_context(dying_at(dies_at, die))
        return work_night(settings, Watch())


def main(words: Sequence[str]) -> int:
    """Work a night as the words say."""
    lake, url, first, today, games = words[:5]
    dates = [dt.date.fromisoformat(text) for text in (first, today)]
    settings = night_settings(Path(lake), url, games.split(","), *dates)
    work_dated(settings, dates[1], int(words[5]) if words[5:] else None, _kill_self)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
