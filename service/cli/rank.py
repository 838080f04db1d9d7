"""`nightgrid rank`: rank the boards of a lake, and show how often the official cover is first."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from nightgrid.service.options.shared_options import (
    BatchProcesses,
    Inline,
    Json,
    LakeOption,
    check_is_there,
    run_options,
    solved_by,
)
from nightgrid.service.terminal.console import emit, note, say, say_table, sentence_of
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.service.terminal.progress import ProgressLine, waited
from nightgrid.service.terminal.running import STOPPED, run_shown
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.archive.results.gold.rank_accuracy import Month
    from nightgrid.flows.night.rank_lake import RankReport
    from nightgrid.workers.driver.progress import Progress


OPENING = "still opening the ranker, or starting workers"
OPENING_PATIENCE_S = 10.0
"""On a machine that has ranked before, the ranker and workers are ready sooner."""


def rank(
    *,
    lake: LakeOption = None,
    workers: BatchProcesses = None,
    inline: Inline = False,
    json: Json = False,
) -> int:
    """Rank the Strands boards of a lake by how likely each cover was meant.

    Boards that the same weights have ranked are skipped; the same command finishes a killed one.
    gold/rank_accuracy.parquet has the place of each official cover, which rankings never use. Exit
    code: 0 done, 1 something outside failed, 3 bad input.
    """
    from nightgrid.flows.night.rank_lake import rank_lake
    from nightgrid.flows.runs import RunSettings

    settings = RunSettings(**run_options(lake, workers, inline=inline))
    check_is_there(settings.workers)
    note(f"rank: {settings.workers.lake}, ranked by {solved_by(settings)}")
    try:
        with (
            run_shown(settings, "rank"),
            closing(ProgressLine()) as line,
            ExitStack() as opening,
        ):
            opening.enter_context(waited(OPENING, OPENING_PATIENCE_S))

            def on_progress(progress: Progress) -> None:
                opening.close()
                line(progress)

            report = rank_lake(settings, on_progress)
    except KeyboardInterrupt:
        note(STOPPED)
        return Exit.INTERRUPTED
    if json:
        emit(report.to_json())
    else:
        _say(report)
    return Exit.OK


def _say(report: RankReport) -> None:
    from nightgrid.archive.games import ranking_plug
    from nightgrid.archive.games.plug import ALONE_SUFFIX

    say(
        f"{plural(report.boards, 'board')}: {report.ranked:,} ranked now, {report.known:,} before, "
        f"by {report.ranker}."
    )
    if report.ranker.endswith(ALONE_SUFFIX):
        say(sentence_of(ranking_plug().ALONE))
    if report.months:
        say()
        rows = [_row(month) for month in (*report.months, report.whole)]
        heads = ["month", "boards", "first", "in five", "in the list", "most misses"]
        say_table(heads, rows, numbers=heads[1:5])
        if report.fitted_until is not None:
            say(f"The weights were fitted on boards until {report.fitted_until}: only later ones "
                "measure them.")  # fmt: skip
    say()
    say(f"Every board: {report.path}")


def _row(month: Month) -> list[str]:
    from nightgrid.archive.games import ranking_plug

    worst = max(month.misses.items(), key=lambda item: item[1], default=None)
    return [
        month.month,
        f"{month.boards:,}",
        *(f"{n / month.boards:.1%}" for n in (month.first, month.in_five, month.listed)),
        "" if worst is None else f"{ranking_plug().MISSES[worst[0]]} ({worst[1]})",
    ]
