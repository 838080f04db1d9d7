"""What `nightgrid count` shows people: an estimate, how far a count is, its report."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.count.count import begun_run, bring_corpus, estimate_count
from nightgrid.flows.runs import StoppedError, Watch, how_far, stopped
from nightgrid.flows.start import run_count
from nightgrid.service.drawing import bar
from nightgrid.service.options.shared_options import solved_by
from nightgrid.service.terminal.colour import console
from nightgrid.service.terminal.console import (
    Exit,
    duration,
    emit,
    exit_for_many,
    note,
    say,
    say_attention,
    say_end,
    say_figures,
    say_table,
    warn_of_poison,
)
from nightgrid.service.terminal.progress import (
    BAR_PATIENCE_S,
    READY_PATIENCE_S,
    OnceLine,
    ProgressLine,
    waited,
    warm_games,
)
from nightgrid.service.terminal.running import STOPPED, run_shown
from nightgrid.workers.driver.progress import clock_time
from nightgrid.workers.runs.status import is_cancelled

if TYPE_CHECKING:
    from nightgrid.archive.corpus.corpus import Corpus
    from nightgrid.flows.count.report import CountReport
    from nightgrid.flows.count.settings import CountSettings
    from nightgrid.workers.driver.progress import Progress
    from nightgrid.workers.runs.plan.plan_pass import PlanPass

SPREAD_CHARS = 40
"""Width of the longest bar of the distribution."""
FRAME_CHARS = 13
"""Lines and spaces of a table of four columns."""
VALUES_SHOWN = 20


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
    rows, line, starting = OnceLine("corpus", BAR_PATIENCE_S), ProgressLine(), ExitStack()
    runs: list[str] = []

    def on_corpus(corpus: Corpus) -> None:
        rows.close()
        if settings.executor == "inline":
            warm_games([corpus.game])
        else:
            # Workers compile them before they take work, and this process needs none.
            text = (
                f"still planning, or starting workers; kernels of {corpus.game} that were never "
                "compiled here take a minute or two, once"
            )
            starting.enter_context(waited(text, READY_PATIENCE_S))

    def on_progress(progress: Progress) -> None:
        starting.close()
        if progress.run_id not in runs:
            runs.append(progress.run_id)
            note(f"run {progress.run_id}; nightgrid count --cancel {progress.run_id} cancels it")
        line(progress)

    watch = Watch(
        on_rows=rows, on_corpus=on_corpus, on_progress=on_progress, waiting=waited, on_note=note
    )
    try:
        with run_shown(settings, "count"), closing(rows), closing(line), starting:
            lake, by = settings.workers.lake, solved_by(settings)
            note(f"count: {settings.corpus} -> {lake}, solved by {by}")
            report = run_count(settings, watch, prefect=prefect)
    except (StoppedError, KeyboardInterrupt) as error:
        # It says how far it came and how to go on, whether the driver or this process was stopped.
        is_told = isinstance(error, StoppedError) and error.run_id is not None
        known = error if is_told or not runs else stopped(settings, runs[-1])
        note(str(known) or STOPPED)
        return Exit.INTERRUPTED
    if report.poisoned:
        warn_of_poison(report.game, report.figures.statuses["poison"])
    if json:
        emit(report.to_json())
    else:
        say_count(report, verbose=verbose)
    return exit_for_many(poisoned=report.poisoned, needs_attention=report.needs_attention)


def say_count(report: CountReport, *, verbose: bool) -> None:
    """Write the report of a count: its line, what deserves a look, its distribution."""
    say(report.line())
    if report.finished_before:
        say(report.nothing_to_do())
    say_attention(report.attention_sections())
    if verbose:
        say()
        say_figures(report.table())
    say()
    figures = report.figures
    spread = figures.distribution()
    # An ask for the first one, or for so many, does not count the others.
    counted = report.ask != "first" and not report.ask.startswith("all(")
    if spread and report.ask != "first":
        say_spread("solutions" if counted else "solutions found", spread)
    values = sorted(figures.values.items())
    if values:
        rows = [(f"{value:,}", number) for value, number in values[:VALUES_SHOWN]]
        more = sum(number for _, number in values[VALUES_SHOWN:])
        say_spread("fewest", [*rows, ("more", more)] if more else rows)
    if counted and figures.largest_count is not None:
        say(f"Most solutions: {figures.largest_count:,}, of puzzle {figures.largest_puzzle}.")
    if figures.longest_puzzle is not None:
        say(f"Longest in the kernel: {duration(figures.longest_ns)}, {figures.longest_puzzle}.")
    if verbose:
        say_end(report.paths)
    else:
        say("Every figure and table: --verbose")
    say()
    say("Ask it more, for example which boards stand out:")
    say(f"  {report.command()}")


def say_spread(heading: str, spread: list[tuple[str, int]]) -> None:
    """Draw how many puzzles have how much of something."""
    total = sum(number for _, number in spread)
    most = max(number for _, number in spread)
    cells = [(span, f"{number:,}", _percent(number, total)) for span, number in spread]
    headings = (heading, "puzzles", "share")
    used = sum(max(map(len, column)) for column in zip(headings, *cells, strict=True))
    width = min(SPREAD_CHARS, max(1, console().width - used - FRAME_CHARS))
    rows = [
        (*cell, bar(number / most, width)) for cell, (_, number) in zip(cells, spread, strict=True)
    ]
    say_table((heading, "puzzles", "share", ""), rows, numbers=(heading, "puzzles", "share"))


def _percent(number: int, total: int) -> str:
    """Write a share to a tenth of a percent; one that is less is not nothing."""
    text = f"{100 * number / total:.1f} %"
    return "< 0.1 %" if number and text == "0.0 %" else text


def tell_estimate(settings: CountSettings, *, json: bool) -> Exit:
    """Return what a count of the corpus would come to; nothing is solved, and the lake only read.

    A corpus that the lake lacks is made in a folder that is deleted again.
    """
    with tempfile.TemporaryDirectory(prefix="nightgrid-corpus-") as folder:
        with closing(OnceLine("corpus", BAR_PATIENCE_S)) as line:
            corpus = bring_corpus(settings, Watch(on_rows=line), into=Lake.open(folder))
        value = _estimate_json(settings, corpus, estimate_count(settings, corpus))
    if json:
        emit(value)
        return Exit.OK
    say_estimate(value)
    if run_id := value["begun_run"]:
        cancelled = value["cancelled"]
        what = "cancelled" if cancelled else "begun"
        say(f"Run {run_id} is {what}: {how_far(settings, run_id, cancelled=cancelled)}.")
    return Exit.OK


def _estimate_json(settings: CountSettings, corpus: Corpus, estimate: PlanPass) -> dict[str, Any]:
    """Write an estimate as --json has it."""
    begun = begun_run(settings, corpus)
    return {
        "corpus": corpus.name,
        "corpus_id": corpus.corpus_id,
        "game": corpus.game,
        "ask": str(settings.ask),
        "rows": corpus.row_count,
        "quarantined": corpus.quarantined,
        "jobs": estimate.job_count,
        "repeated": estimate.repeated_count,
        "already_known": estimate.answered_count,
        "chunks": estimate.chunk_count,
        "core_seconds": estimate.cost_s,
        "workers": settings.processes,
        "wall_seconds": estimate.cost_s / settings.processes,
        "begun_run": begun,
        "cancelled": begun is not None and is_cancelled(settings.lake, begun),
        "largest": estimate.largest,
    }


def say_estimate(value: Mapping[str, Any]) -> None:
    """Write what a count would come to, in the names of --dry-run --json."""
    rows = []
    for name, figure in value.items():
        if name.endswith("_seconds"):
            # A second more or less is that of starting and planning.
            rows.append((name.removesuffix("_seconds") + " time", clock_time(figure)))
        elif isinstance(figure, str | int) and name not in ("corpus_id", "begun_run", "cancelled"):
            text = figure if isinstance(figure, str) else f"{figure:,}"
            rows.append((name.replace("_", " "), text))
    say_figures(rows, title="Estimate")
    if value["largest"]:
        largest = [
            (job["puzzle_id"], f"{job['size']:,}", duration(round(job["seconds"] * 1e9)))
            for job in value["largest"]
        ]
        headings = ("largest jobs", "size", "estimated time")
        say_table(headings, largest, numbers=headings[1:])
