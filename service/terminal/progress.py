"""How far a run is, on standard error: a moving bar on a terminal, else a line now and then."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nightgrid.service.terminal.colour import console
from nightgrid.service.terminal.console import note
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from nightgrid.workers.driver.progress import Progress

TERMINAL_EVERY_S = 0.1
PIPED_EVERY_S = 30.0
"""In a file or a pipe a long night must not become a long log."""
BAR_CHARS = 30
BAR_PATIENCE_S = 1.0
"""A solve that is over sooner shows no bar."""
WARM_PATIENCE_S = 2.0
"""Kernels that are only loaded are ready sooner."""
READY_PATIENCE_S = 20.0
"""A plan of a few thousand puzzles is ready sooner, together with workers for it."""


class MovingLine:
    """A bar and a text that are written over; where they cannot be, a line now and then."""

    def __init__(self, *, transient: bool = False) -> None:
        """Begin a line; a `transient` one is taken away at its end."""
        self.moving = sys.stderr.isatty()
        """Whether the line is written over."""
        self._every_s = TERMINAL_EVERY_S if self.moving else PIPED_EVERY_S
        self._transient = transient
        self._next_at = 0.0
        self._bar: Bar | None = None
        self._held: Callable[[], str] | None = None

    def show(
        self, done: int, total: int, text: Callable[[], str], *, at_once: bool = False
    ) -> None:
        """Show how far it is, unless that was shown a moment ago."""
        now = time.monotonic()
        if now < self._next_at and not at_once:
            self._held = text
            return
        self._held = None
        self._next_at = now + self._every_s
        if not self.moving:
            note(text())
            return
        self._bar = self._bar or self._open()
        (task,) = self._bar.task_ids
        self._bar.update(task, completed=done, total=total, description=text())
        self._bar.refresh()

    def close(self) -> None:
        """End the line; where it cannot move, print its last state unless it is transient."""
        held, self._held = self._held, None
        if held is not None and not self.moving and not self._transient:
            note(held())
        if self._bar is not None:
            self._bar.stop()
        self._bar = None

    def _open(self) -> Bar:
        from rich.progress import BarColumn, Progress, TextColumn

        # Standard output may be a file, to which answers are written meanwhile.
        bar = Progress(
            BarColumn(BAR_CHARS),
            TextColumn("{task.description}", markup=False),
            console=console(sys.stderr),
            transient=self._transient,
            auto_refresh=False,
            redirect_stdout=False,
        )
        bar.add_task("")
        bar.start()
        return bar


class ProgressLine(MovingLine):
    """Call it with every progress of a run; close it before anything else is written."""

    _ended = ""
    """The run whose end was shown, which may be told again."""

    def __init__(self, *, names_game: bool = False) -> None:
        """Begin a line; one that `names_game` begins with the game of the run."""
        super().__init__()
        self._names_game = names_game

    def __call__(self, progress: Progress) -> None:
        """Show a progress, unless one was shown a moment ago."""
        # Loaded with the first progress: by then the workers' own modules are.
        from nightgrid.workers.driver.progress import progress_text

        finished = progress.ended
        if finished and self._ended == progress.run_id:
            return
        self._ended = progress.run_id if finished else ""
        named = f"{progress.game}: " if self._names_game else ""
        done, total = progress.jobs_done, max(progress.jobs_total, 1)
        self.show(done, total, lambda: named + progress_text(progress), at_once=finished)


@contextmanager
def spangram_bar(game: Any) -> Iterator[SpangramBar]:
    """Show how many spangrams are done while a game solves; nothing when it tells nothing."""
    bar = SpangramBar()
    # Games that have much to tell call this attribute with (done, total).
    tells = hasattr(game, "on_progress")
    if tells:
        game.on_progress = bar
    try:
        yield bar
    finally:
        if tells:
            game.on_progress = None
        bar.close()


class OnceLine(MovingLine):
    """How far something is that is made once, and about how long the rest takes."""

    def __init__(self, what: str, after_s: float = 0.0) -> None:
        """Begin a line about `what`; it shows nothing of what is made within `after_s`."""
        super().__init__()
        self._what, self._after_s = what, after_s
        self._first: tuple[float, int] | None = None

    def __call__(self, done: int, total: int | None) -> None:
        """Show how far it is, unless that was shown a moment ago; end the line with the last."""
        now = time.monotonic()
        then, before = self._first = self._first or (now, done)
        if now - then >= self._after_s:
            text = f"{self._what}: {done:,}"
            if total is not None:
                text += f" of {total:,}{_left(now - then, done - before, total - done)}"
            self.show(done, total or max(done, 1), lambda: text, at_once=done == total)
        if done == total:
            self.close()
            self._first = None


class SpangramBar(MovingLine):
    """A bar on a terminal, from BAR_PATIENCE_S on; elsewhere lines, and one that tells the end."""

    def __init__(self) -> None:
        super().__init__(transient=True)
        self._begun = time.monotonic()
        self._next_at = self._begun + (BAR_PATIENCE_S if self.moving else PIPED_EVERY_S)
        self._told = False

    def __call__(self, done: int, total: int) -> None:
        """Show how far it is, unless that was shown a moment ago."""
        self.show(done, total, lambda: self._tell(done, total))

    def _tell(self, done: int, total: int) -> str:
        self._told = True
        return f"{done:,} of {total:,} spangrams, {time.monotonic() - self._begun:.1f} s"

    def give_way(self) -> None:
        """Leave the terminal to an answer that is written now, until nothing came for a while."""
        if self.moving and sys.stdout.isatty():
            self.close()
            self._next_at = time.monotonic() + BAR_PATIENCE_S

    def close(self) -> None:
        """Take the bar away; after lines that tell how far it is, tell that it has ended."""
        super().close()
        if self._told and not self.moving:
            note(f"ended after {time.monotonic() - self._begun:.1f} s")
        self._told = False


def _left(seconds: float, done: int, more: int) -> str:
    """Estimate the time for `more` steps where `done` have taken so long; "" without any."""
    from nightgrid.workers.driver.progress import clock_time

    return f", about {clock_time(seconds / done * more)} left" if done > 0 < more else ""


@contextmanager
def compiling_shown() -> Iterator[None]:
    """Show how many kernels the body compiles, once that has taken WARM_PATIENCE_S."""
    from numba.core import event

    line = MovingLine(transient=True)

    class Shown(event.Listener):  # type: ignore[misc]
        """Numba calls it before and after it compiles a kernel, or one kernel inside another."""

        begun_s = 0.0
        started = ended = 0

        def on_start(self, _event: Any) -> None:
            self.begun_s = self.begun_s or time.monotonic()
            self.started += 1
            seconds = time.monotonic() - self.begun_s
            text = f"compiling kernels, once: {self.started} so far, {seconds:.0f} s"
            if seconds > WARM_PATIENCE_S:
                line.show(0, 1, lambda: text)

        def on_end(self, _event: Any) -> None:
            self.ended += 1
            if self.ended == self.started:
                # The terminal belongs to the answer now.
                line.close()

    with event.install_listener("numba:compile", Shown()):
        yield


def warm_games(names: Iterable[str]) -> None:
    """Compile the kernels of games, unless they are compiled; show how far it is.

    They are compiled once a machine and after an update. Before workers are started this saves them
    from compiling the same kernels side by side.
    """
    from nightgrid.solvers import warming

    missing = [name for name in names if not warming.is_compiled(name)]
    if missing:
        for _ in warmed(missing):
            pass


def warmed(names: Sequence[str], *, rare: bool = False) -> Iterator[tuple[str, float]]:
    """Compile or load the kernels of games side by side; yield each game with its seconds.

    One game is compiled in this process, which may be about to need it.
    """
    from nightgrid.solvers import warming

    begun, before, ready = time.monotonic(), warming.kernels_on_disk(), 0
    missing = [name for name in names if not warming.is_compiled(name)]
    expected = warming.kernels_of(missing)

    def how_far() -> tuple[int, int, str]:
        kernels, seconds = warming.kernels_on_disk() - before, time.monotonic() - begun
        text = warming_text(kernels, expected, ready, len(names), seconds)
        return min(kernels, expected), expected, text

    with activity(how_far):
        if len(names) == 1:
            yield names[0], warming.warm(names[0], rare=rare)
            return
        processes = os.cpu_count() or 1
        for name, seconds in warming.warm_side_by_side(names, processes, rare=rare):
            ready += 1
            yield name, seconds


def warming_text(kernels: int, expected: int, ready: int, games: int, seconds: float) -> str:
    """Describe how far compilation is; `expected` is about how many kernels there will be."""
    return (
        f"compiling kernels, once, which takes a minute or two: {kernels} of about "
        f"{max(kernels, expected)}, {ready} of {plural(games, 'game')} ready, {seconds:.0f} s"
    )


@contextmanager
def activity(
    how_far: Callable[[], tuple[int, int, str]], after_s: float = WARM_PATIENCE_S
) -> Iterator[None]:
    """Show twice a second how far something is (done, total and a text), until the body ends.

    What is over within `after_s` shows nothing.
    """
    line = MovingLine(transient=True)
    ended = threading.Event()

    def show() -> None:
        done, total, text = how_far()
        line.show(done, total, lambda: text)

    def go_on() -> None:
        pause_s = after_s
        while not ended.wait(pause_s):
            show()
            pause_s = 0.5

    shown = threading.Thread(target=go_on, daemon=True)
    shown.start()
    try:
        yield
    finally:
        ended.set()
        shown.join()
        line.close()


@contextmanager
def waited(what: str, after_s: float = WARM_PATIENCE_S) -> Iterator[None]:
    """Show, from `after_s` on, what is waited for and for how long by now."""
    begun = time.monotonic()
    with activity(lambda: (0, 1, f"{what}, {time.monotonic() - begun:.0f} s"), after_s):
        yield
