"""Progress of a run on standard error: a moving bar on a terminal, else a line now and then."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from nightgrid.service.terminal.colour import console
from nightgrid.service.terminal.console import note

if TYPE_CHECKING:
    from nightgrid.workers.driver.progress import Progress

PIPED_EVERY_S = 30.0
"""Interval in a file or a pipe, so that a long night does not make a long log."""
BAR_CHARS = 30
BAR_PATIENCE_S = 1.0
"""Nothing is shown for work that is done sooner."""
WARM_PATIENCE_S = 2.0
"""Kernels that only have to be loaded are ready sooner."""
READY_PATIENCE_S = 20.0
"""A plan of a few thousand puzzles, and workers for it, are ready sooner."""


class MovingLine:
    """A bar and a text, shown after `after_s`; if they cannot move, a line now and then."""

    def __init__(self, after_s: float = 0.0, *, transient: bool = False) -> None:
        """Start a line; a `transient` bar is removed at its end."""
        self._last = ""
        self._bar: Any = None
        patience_s = after_s
        if sys.stderr.isatty():
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            # Answers go above the bar if both are on a terminal.
            self._bar = Bar(
                BarColumn(BAR_CHARS),
                TimeElapsedColumn(),
                TextColumn("{task.description}", markup=False),
                console=console(sys.stderr),
                transient=transient,
                redirect_stdout=sys.stdout.isatty(),
            )
            self._task = self._bar.add_task("")
        elif after_s:
            patience_s = PIPED_EVERY_S
        self._next_at = time.monotonic() + patience_s

    def show(self, done: int, total: int | None, text: str, *, last: bool = False) -> None:
        """Show the progress: at once if `last`, else unless a line was printed a moment ago."""
        now = time.monotonic()
        if now < self._next_at and not last:
            return
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, description=text)
            self._bar.start()
        elif text != self._last:
            self._last, self._next_at = text, now + PIPED_EVERY_S
            note(text)

    def close(self) -> None:
        """End the line."""
        if self._bar is not None:
            self._bar.stop()


class ProgressLine(MovingLine):
    """Progress line of a run; call it with every progress."""

    def __init__(self, *, names_game: bool = False) -> None:
        """Start a line; with `names_game` it begins with the run's game."""
        super().__init__()
        self._names_game = names_game

    def __call__(self, progress: Progress) -> None:
        """Show a progress."""
        # Imported on the first progress, when the workers' own modules are loaded anyway.
        from nightgrid.workers.driver.progress import progress_text

        named = f"{progress.game}: " if self._names_game else ""
        text = f"{named}{progress_text(progress)}"
        self.show(progress.jobs_done, max(progress.jobs_total, 1), text, last=progress.ended)


class OnceLine(MovingLine):
    """Progress line of a one-time task; call it with the amount done and the total."""

    def __init__(self, what: str, after_s: float = 0.0) -> None:
        """Start a line about `what`; it shows nothing for tasks done within `after_s`."""
        super().__init__(after_s)
        self._what = what

    def __call__(self, done: int, total: int | None) -> None:
        """Show how far it is."""
        of = "" if total is None else f" of {total:,}"
        self.show(done, total, f"{self._what}: {done:,}{of}")


@contextmanager
def waited(what: str, after_s: float = WARM_PATIENCE_S) -> Iterator[None]:
    """Show what is waited for, once that has taken `after_s`."""
    with closing(MovingLine(transient=True)) as line:
        timer = threading.Timer(after_s, line.show, (0, None, what))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()


@contextmanager
def solving_shown(game: Any) -> Iterator[None]:
    """Show that a solve compiles kernels, and its progress over spangrams if reported."""
    from nightgrid.solvers import warming

    with closing(MovingLine(BAR_PATIENCE_S, transient=True)) as line:
        text = "solving; kernels that were never compiled here take a minute or two, once"
        timer = threading.Timer(WARM_PATIENCE_S, line.show, (0, None, text), {"last": True})
        timer.daemon = True
        if not warming.is_compiled(game.name):
            timer.start()
        if hasattr(game, "on_progress"):
            game.on_progress = lambda done, total: line.show(
                done, total, f"{done:,} of {total:,} spangrams"
            )
        try:
            yield
        finally:
            timer.cancel()
            if hasattr(game, "on_progress"):
                game.on_progress = None


def warm_games(names: Iterable[str]) -> None:
    """Compile the kernels of games, unless they are compiled; show that it takes time.

    They are compiled once a machine and after an update. Doing so before starting workers saves
    them from compiling the same kernels in parallel.
    """
    from nightgrid.solvers import warming

    missing = [name for name in names if not warming.is_compiled(name)]
    if missing:
        for _ in warmed(missing):
            pass


def warmed(names: Sequence[str], *, rare: bool = False) -> Iterator[tuple[str, float]]:
    """Compile or load the kernels of games in parallel; yield each game with its seconds.

    One game is compiled in this process, which may need it soon.
    """
    from nightgrid.solvers import warming

    what = f"compiling kernels of {', '.join(names)}, once, which takes a minute or two"
    with waited(what):
        if len(names) == 1:
            yield names[0], warming.warm(names[0], rare=rare)
        else:
            yield from warming.warm_side_by_side(names, os.cpu_count() or 1, rare=rare)
