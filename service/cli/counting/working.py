"""A count as it is worked: its progress on standard error, and its report at the end."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from typing import TYPE_CHECKING

from nightgrid.flows.runs import StoppedError, Watch, stopped
from nightgrid.flows.start import run_count
from nightgrid.service.cli.counting.count_tables import say_count
from nightgrid.service.options.shared_options import solved_by
from nightgrid.service.terminal.console import (
    Exit,
    emit,
    exit_for_many,
    note,
    same_command,
    warn_of_poison,
)
from nightgrid.service.terminal.outage_line import outages_shown
from nightgrid.service.terminal.progress import (
    BAR_PATIENCE_S,
    READY_PATIENCE_S,
    OnceLine,
    ProgressLine,
    waited,
    warm_games,
)
from nightgrid.workers.logs import logged_to
from nightgrid.workers.tracing import begin_tracing

if TYPE_CHECKING:
    from nightgrid.archive.corpus.corpus import Corpus
    from nightgrid.flows.count.settings import CountSettings
    from nightgrid.workers.driver.progress import Progress


class _Shown:
    """Shows on standard error how far a count is, until it is closed."""

    def __init__(self, settings: CountSettings) -> None:
        self._settings = settings
        self._corpus = OnceLine("corpus", BAR_PATIENCE_S)
        self._progress = ProgressLine()
        self._waiting = ExitStack()
        self.run_ids: list[str] = []
        """The runs that were told, in their order."""

    def close(self) -> None:
        """End all lines."""
        self._waiting.close()
        self._progress.close()
        self._corpus.close()

    def watch(self) -> Watch:
        """Say what a count is to call as it goes on."""
        return Watch(
            on_rows=self._corpus,
            on_corpus=self._make_ready,
            on_progress=self._show,
            waiting=self._wait,
            on_note=self._tell,
        )

    def _make_ready(self, corpus: Corpus) -> None:
        self._corpus.close()
        if self._settings.executor == "inline":
            warm_games([corpus.game])
        else:
            # Workers compile them before they take work, and this process needs none.
            text = (
                f"still planning, or starting workers; kernels of {corpus.game} that were never "
                "compiled here take a minute or two, once"
            )
            self._waiting.enter_context(waited(text, READY_PATIENCE_S))

    def _show(self, state: Progress) -> None:
        self._waiting.close()
        if state.run_id not in self.run_ids:
            self.run_ids.append(state.run_id)
            note(f"run {state.run_id}; nightgrid count --cancel {state.run_id} cancels it")
        self._progress(state)

    def _wait(self, what: str) -> AbstractContextManager[None]:
        self._corpus.close()
        return waited(what)

    def _tell(self, sentence: str) -> None:
        self._corpus.close()
        note(sentence)


def work_count(
    settings: CountSettings,
    *,
    prefect: bool | None,
    json: bool,
    verbose: bool,
) -> Exit:
    """Work a count, and write its report.

    `prefect` None: under Prefect where it is installed.
    """
    begin_tracing(settings.workers.trace_url, "count")
    note(f"count: {settings.corpus} -> {settings.workers.lake}, solved by {solved_by(settings)}")
    shown = _Shown(settings)
    try:
        with closing(shown), outages_shown(), logged_to(settings.workers.driver_log_path):
            report = run_count(settings, shown.watch(), prefect=prefect)
    except (StoppedError, KeyboardInterrupt) as error:
        note(_why_stopped(settings, error, shown.run_ids))
        if getattr(error, "cancelled", False):
            note(f"it goes on with: {same_command('--resume')}")
        return Exit.INTERRUPTED
    if report.poisoned:
        warn_of_poison(report.game, report.figures.statuses["poison"])
    if json:
        emit(report.to_json())
    else:
        say_count(report, verbose=verbose)
    return exit_for_many(
        failed=False, poisoned=report.poisoned, needs_attention=report.needs_attention
    )


def _why_stopped(settings: CountSettings, error: BaseException, runs: Sequence[str]) -> str:
    """Say how far it came and how to go on, whether the driver or this process was stopped."""
    if isinstance(error, StoppedError) and error.run_id is not None:
        return str(error)
    return str(stopped(settings, runs[-1])) if runs else "stopped; the same command goes on"
