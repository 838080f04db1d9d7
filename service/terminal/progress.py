"""How far a run is, on standard error: one moving line on a terminal, else a line now and then."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nightgrid.service.terminal.console import note

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from nightgrid.workers.driver.progress import Progress

TERMINAL_EVERY_S = 0.1
PIPED_EVERY_S = 5.0
BAR_CHARS = 30
BAR_PATIENCE_S = 1.0
"""A solve that is over sooner shows no bar."""
WARM_PATIENCE_S = 2.0
"""Kernels that are only loaded are ready sooner than this ..."""
READY_PATIENCE_S = 20.0
"""... and so is a plan of a few thousand puzzles together with workers for it."""


class MovingLine:
    """A line on standard error that is written over; where it cannot be, a line now and then."""

    def __init__(self) -> None:
        self._moving = sys.stderr.isatty()
        self._next_at = 0.0
        self._written = False
        self._held: Callable[[], str] | None = None

    def show(self, text: Callable[[], str], *, at_once: bool = False) -> None:
        """Show a text, unless one was shown a moment ago."""
        now = time.monotonic()
        if now < self._next_at and not at_once:
            self._held = text
            return
        self._held = None
        self._next_at = now + (TERMINAL_EVERY_S if self._moving else PIPED_EVERY_S)
        if self._moving:
            # A line that is too long would go on in the next one and could not be taken back.
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{text()[:width]}")
            sys.stderr.flush()
            self._written = True
        else:
            note(text())

    def close(self) -> None:
        """End the moving line; elsewhere tell what came last, unless that was told."""
        held, self._held = self._held, None
        if held is not None and not self._moving:
            note(held())
        if self._written:
            sys.stderr.write("\n")
            sys.stderr.flush()
        self._written = False


class ProgressLine(MovingLine):
    """Call it with every progress of a run; close it before anything else is written."""

    def __init__(self) -> None:
        super().__init__()
        self._ended = ""
        """The run whose end was shown, which may be told again."""

    def __call__(self, progress: Progress) -> None:
        """Show a progress, unless one was shown a moment ago."""
        finished = progress.ended
        if finished and self._ended == progress.run_id:
            return
        self._ended = progress.run_id if finished else ""
        self.show(lambda: describe(progress), at_once=finished)


class SlicesLine(MovingLine):
    """Call it with (slices done, slices in all) while a corpus is made."""

    def __init__(self) -> None:
        super().__init__()
        self._begun = 0.0
        self._first: int | None = None

    def __call__(self, done: int, total: int) -> None:
        """Show how far the corpus is; nothing of one that is made at once."""
        from nightgrid.workers.driver.progress import clock_time

        if self._first is None:
            self._begun, self._first = time.monotonic(), done
        seconds = time.monotonic() - self._begun
        made = done - self._first
        if done == total and seconds < BAR_PATIENCE_S:
            return
        left = f", about {clock_time(seconds / made * (total - done))} left" if made else ""
        text = f"corpus: {done:,} of {total:,} slices, {seconds:.1f} s"
        self.show(lambda: text + (left if done < total else ""), at_once=done == total)


@contextmanager
def spangram_bar(game: Any) -> Iterator[SpangramBar]:
    """Show how many spangrams are done while a game solves; nothing when it tells nothing."""
    bar = SpangramBar()
    # Games that have much to tell call this attribute with (done, total).
    if hasattr(game, "on_progress"):
        game.on_progress = bar
    try:
        yield bar
    finally:
        if hasattr(game, "on_progress"):
            game.on_progress = None
        bar.close()


class SpangramBar:
    """A bar on a terminal, a line now and then elsewhere, from BAR_PATIENCE_S on."""

    def __init__(self) -> None:
        self._begun = now = time.monotonic()
        self._moving = sys.stderr.isatty()
        self._told = False
        self._next_at = now + (BAR_PATIENCE_S if self._moving else PIPED_EVERY_S)
        self._bar: Bar | None = None
        self._task: Any = None

    def __call__(self, done: int, total: int) -> None:
        """Show how far it is, unless that was shown a moment ago."""
        now = time.monotonic()
        if now < self._next_at:
            return
        self._next_at = now + (TERMINAL_EVERY_S if self._moving else PIPED_EVERY_S)
        if not self._moving:
            note(f"{done:,} of {total:,} spangrams")
            self._told = True
            return
        if self._bar is None:
            self._bar = _open_bar()
            self._task = self._bar.add_task("spangrams", total=total)
        self._bar.update(self._task, completed=done, total=total)
        self._bar.refresh()

    def give_way(self) -> None:
        """Leave the terminal to an answer that is written now, until nothing came for a while."""
        if self._moving and sys.stdout.isatty():
            self.close()
            self._next_at = time.monotonic() + BAR_PATIENCE_S

    def close(self) -> None:
        """Take the bar away; after lines that tell how far it is, tell that it has ended."""
        if self._bar is not None:
            self._bar.stop()
        self._bar = None
        if self._told:
            note(f"ended after {time.monotonic() - self._begun:.1f} s")
        self._told = False


def _open_bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,
    )
    bar.start()
    return bar


def describe(progress: Progress) -> str:
    """Write a progress as one line."""
    # Loaded with the first progress: by then the workers' own modules are.
    from nightgrid.workers.driver.progress import told_of

    full = BAR_CHARS * progress.jobs_done // max(progress.jobs_total, 1)
    return f"[{'#' * full}{'.' * (BAR_CHARS - full)}] {told_of(progress)}"


def warm(name: str) -> None:
    """Compile or load a game's kernels; say so if it takes long, which it does once a machine.

    Before workers are started this saves them from compiling the same kernels side by side.
    """
    with patient(
        f"loading or compiling the kernels of {name}: compiling happens once, and after an update",
        WARM_PATIENCE_S,
    ):
        from nightgrid.solvers.registry import game

        game(name).warm()


@contextmanager
def patient(text: str, seconds: float) -> Iterator[Callable[[], None]]:
    """Say a text if the body goes on for so long, unless what it gives was called before that."""
    timer = threading.Timer(seconds, note, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield timer.cancel
    finally:
        timer.cancel()
