"""What `nightgrid count` shows people: its report, its distribution, an estimate."""

from __future__ import annotations

import datetime as dt
import tempfile
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.count.count import begun_run, bring_corpus, estimate_count
from nightgrid.flows.runs import Watch, how_far
from nightgrid.service.drawing import bar
from nightgrid.service.terminal.colour import console
from nightgrid.service.terminal.console import (
    Exit,
    duration,
    emit,
    same_command,
    say,
    say_attention,
    say_end,
    say_figures,
    say_table,
)
from nightgrid.service.terminal.progress import BAR_PATIENCE_S, OnceLine
from nightgrid.solvers.sentences import plural
from nightgrid.workers.runs.status import is_cancelled

if TYPE_CHECKING:
    from nightgrid.archive.corpus.corpus import Corpus
    from nightgrid.flows.count.report import CountReport
    from nightgrid.flows.count.settings import CountSettings
    from nightgrid.workers.runs.plan.plan_pass import PlanPass

SPREAD_CHARS = 40
"""Width of the longest bar of the distribution."""
FRAME_CHARS = 13
"""Lines and spaces of a table of four columns."""
VALUES_SHOWN = 20
SHORT_S = 1.0
"""What is expected to be solved sooner has no end that could be told: starting takes longer."""


def say_count(report: CountReport, *, verbose: bool) -> None:
    """Write the report of a count: its line, what deserves a look, its distribution."""
    say(report.line())
    if report.finished_before:
        say(report.sentence())
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
        say_end(report.sentence(), report.paths)
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
    """Say what a count of the corpus would come to; nothing is solved, and the lake only read.

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
        if cancelled:
            say(f"  {same_command('--resume', without=['--dry-run'])}")
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
    numbers = {
        "puzzles": "rows",
        "in quarantine": "quarantined",
        "stand more than once": "repeated",
        "known already": "already_known",
        "jobs": "jobs",
    }
    # Jobs that turn out to be large are divided while the run is worked, into more chunks.
    chunks = f"{value['chunks']:,} or more" if value["chunks"] else "0"
    say_figures(
        [
            ("corpus", value["corpus"]),
            ("game", value["game"]),
            *((name, f"{value[key]:,}") for name, key in numbers.items()),
            ("chunks", chunks),
            *_times(value),
        ]
    )
    if value["largest"]:
        rows = [
            (job["puzzle_id"], f"{job['size']:,}", duration(round(job["seconds"] * 1e9)))
            for job in value["largest"]
        ]
        headings = ("largest jobs", "size", "estimated time")
        say_table(headings, rows, numbers=headings[1:])


def _times(value: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Say how long the solving takes; below a second its end is that of what surrounds it."""
    from nightgrid.workers.driver.progress import clock_time

    label = f"estimated solving time with {plural(value['workers'], 'worker')}"
    if not value["jobs"]:
        return [(label, "none: every answer is known")]
    core_s, wall_s = value["core_seconds"], value["wall_seconds"]
    if wall_s < SHORT_S:
        return [(label, f"less than {SHORT_S:g} s, beside starting")]
    end = dt.datetime.now().astimezone() + dt.timedelta(seconds=wall_s)
    return [
        ("estimated core seconds", f"{core_s:,.1f}"),
        (label, clock_time(wall_s)),
        ("estimated end", f"{end:%Y-%m-%d %H:%M:%S}"),
    ]
