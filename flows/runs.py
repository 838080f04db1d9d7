"""Settings, steps, progress callbacks and stopping, for nights and counts alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal, ParamSpec, Protocol, TypeVar

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import NightgridError, PermanentError
from nightgrid.workers.runs.status import read_run_status
from nightgrid.workers.settings import Settings, load_settings

ExecutorKind = Literal["celery", "inline"]
P = ParamSpec("P")
R = TypeVar("R")


class AsStep(Protocol):
    """Wraps a step: returns the function itself, or a task of a flow engine."""

    def __call__(self, name: str, step: Callable[P, R]) -> Callable[P, R]:
        """Return the function to call in place of `step`, with the same signature."""


def plain(name: str, step: Callable[P, R]) -> Callable[P, R]:  # noqa: ARG001
    """Return a step unchanged."""
    return step


def ignore(*_: object) -> None:
    """Accept any arguments of a callback and do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Callbacks for the events of a night or a count."""

    on_trouble: Callable[[str, str], None] = ignore
    """A source is invalid, before anything is fetched: game, sentence."""
    on_work: Callable[[Sequence[str]], None] = ignore
    """Games with work (their names) are about to be planned or solved."""
    on_rows: Callable[[int, int | None], None] = ignore
    """Between slices: rows read so far, and their total if known."""
    on_corpus: Callable[[Any], None] = ignore
    """The corpus (`nightgrid.archive.corpus.corpus.Corpus`) is loaded."""
    on_progress: Callable[[Any], None] = ignore
    """While a run is driven, with a `nightgrid.workers.driver.progress.Progress`."""
    waiting: Callable[[str], AbstractContextManager[Any]] = nullcontext
    """Around a wait for an external service, with its name."""
    on_report: Callable[[Any], None] = ignore
    """A game of a night, or a count, is done: with its report."""
    on_note: Callable[[str], None] = ignore
    """Something failed without affecting the rest, with a sentence."""


SILENT = Watch()

Rest = Callable[[AsStep, Watch], R]
"""The rest of a night or a count once there is work."""


class InFlow(Protocol):
    """Runs the rest of a night or a count in a flow run, or without one."""

    def __call__(self, rest: Rest[R], *, has_work: bool = True) -> R:
        """Return what `rest` returns; without work, only a failure gets a flow run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The lake of runs, and how they are solved. Raises PermanentError for an unknown executor."""

    executor: ExecutorKind = "celery"
    """`celery`: the workers that serve our server, else workers of our own. `inline`: this
    process."""
    workers: Settings = field(default_factory=load_settings)
    """Lake, server, processes, budgets."""

    def __post_init__(self) -> None:
        if self.executor not in ("celery", "inline"):
            raise PermanentError(f"unknown executor {self.executor!r}; expected celery or inline")

    @property
    def lake(self) -> Lake:
        """Open the lake."""
        return Lake.open(self.workers.lake)

    @property
    def processes(self) -> int:
        """Processes that solve a run, unless others join."""
        return 1 if self.executor == "inline" else self.workers.batch_processes

    def way_on(self, run_id: str, *, cancelled: bool) -> str:
        """Return how to continue a run that was stopped or cancelled."""
        raise NotImplementedError


class StoppedError(NightgridError):
    """A signal asked a night or a count to stop, or its run is cancelled."""

    def __init__(self, message: str, run_id: str | None = None, *, cancelled: bool = False) -> None:
        super().__init__(message)
        self.run_id = run_id
        self.cancelled = cancelled


def stopped(settings: RunSettings, run_id: str, *, cancelled: bool = False) -> StoppedError:
    """Return the error of a stopped run: what is done, what is left, and how to continue."""
    what = f"run {run_id} is cancelled" if cancelled else f"stopped run {run_id}"
    told = f"{what}: {how_far(settings, run_id, cancelled=cancelled)}"
    return StoppedError(told, run_id, cancelled=cancelled)


def how_far(settings: RunSettings, run_id: str, *, cancelled: bool) -> str:
    """Return how many chunks of a run are done and left, and how to continue it."""
    left = read_run_status(settings.lake, run_id)
    more = "" if left.planned else ", and more to be planned"
    done = "1 chunk is done" if left.chunks_done == 1 else f"{left.chunks_done:,} chunks are done"
    how = f"{done}, {left.chunks_left:,} {'is' if left.chunks_left == 1 else 'are'} left{more}"
    return f"{how}; {settings.way_on(run_id, cancelled=cancelled)}"


def figures_table(figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Format figures as (name, value) for people; leave out empty ones."""
    return [(name.replace("_", " "), _shown(value)) for name, value in figures.items() if value]


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
