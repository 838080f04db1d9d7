"""`nightgrid demo`: run a night over the bundled sample archives, and show its results."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nightgrid.service.cli.night import work_night
from nightgrid.service.games import ALL, view
from nightgrid.service.options.shared_options import (
    BatchProcesses,
    Inline,
    Json,
    Plain,
    game_name,
    one_of,
    run_options,
)
from nightgrid.service.terminal.console import (
    duration,
    emit,
    say,
    say_attention,
    say_drawing,
    say_table,
)
from nightgrid.service.terminal.encoded import plain_row
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game_plug
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.archive.lookup.boards import Board
    from nightgrid.flows.night.report import GameReport

SAMPLES: dict[str, Path] = {game: plug.sample for game, plug in ALL.items() if plug.sample}
"""The bundled archive of every game with one."""
DEMO_LAKE = "var/demo/lake"
LISTED_MAX = 1_000
"""The suggested next command lists all solutions up to this number, and counts beyond."""


def demo(
    lake: Annotated[
        str, typer.Option(metavar="FOLDER|URL", help="Where the results go.")
    ] = DEMO_LAKE,
    game: Annotated[
        str | None,
        typer.Option(
            metavar="GAME",
            parser=game_name,
            help=f"{one_of(list(SAMPLES))} alone. Default: all in one night.",
        ),
    ] = None,
    workers: BatchProcesses = None,
    inline: Inline = False,
    no_prefect: Plain = False,
    json: Json = False,
) -> int:
    """Run a night over the bundled archives, and show its results.

    It ends with a board and its solution, a table of counts and times, and the next step. Exit
    codes as of nightly.
    """
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.flows.night.settings import NightGame, NightSettings

    if game is not None and game not in SAMPLES:
        raise PermanentError(
            f"there is no sample of {game_plug(game).title}; expected one of {', '.join(SAMPLES)}"
        )
    games = [
        NightGame(source=str(SAMPLES[name]), game=name)
        for name in (SAMPLES if game is None else (game,))
    ]
    night = NightSettings(games=tuple(games), **run_options(lake, workers, inline=inline))

    reports: list[GameReport] = []

    def show(report: GameReport) -> None:
        if json:
            for row in counts_by_date(Lake.open(night.workers.lake), report.game):
                emit(row)
            emit(report.to_json())
        else:
            reports.append(report)
            say(report.line())

    code = work_night(night, show, prefect=False if no_prefect else None)
    for report in reports:
        say_attention(report.attention_sections())
    if code in (Exit.OK, Exit.LOOK) and not json:
        # Prefect stops its server when the process exits, and would have the last word.
        logging.getLogger("prefect").setLevel(logging.WARNING)
        say()
        say_result(Lake.open(night.workers.lake), lake, [name.game for name in games])
    return code


def counts_by_date(lake: Lake, game: str) -> list[dict[str, Any]]:
    """Read the counts by date, as JSON values."""
    from nightgrid.archive.lake.schemas import COUNTS_BY_DATE
    from nightgrid.archive.results.gold.rebuild import COUNTS_PATH

    rows = lake.read_table(COUNTS_PATH, COUNTS_BY_DATE).to_pylist()
    return [plain_row(row) for row in rows if row["game"] == game]


def say_result(lake: Lake, address: str, games: Sequence[str]) -> None:
    """Draw the last board of the first game with its solution, and print the counts."""
    from nightgrid.archive.lookup.boards import find_boards
    from nightgrid.archive.lookup.reference import read_reference

    counts = {game: counts_by_date(lake, game) for game in games}
    if not counts[games[0]]:
        return
    last = max(row["date"] for row in counts[games[0]])
    board = find_boards(lake, read_reference(f"{games[0]}/{last}"))[-1]
    here = (last, board.published.level)
    row = next(row for row in counts[games[0]] if (row["date"], row["level"]) == here)
    _say_board(board, row)
    _say_counts(counts)
    say()
    say(f"All of it is in {address}, as Parquet.")
    say(f"Next, {_next(board, row, address)}")


def _say_board(board: Board, row: Mapping[str, Any]) -> None:
    published, shown = board.published, view(board.game)
    clue = f" “{published.clue}”" if published.clue else ""
    of = "" if row["count"] is None else f", one of {plural(row['count'], 'solution')}"
    say(f"{board.name}{clue}: {shown.describe(published.puzzle)}{of}")
    say()
    if published.solution is None:
        say_drawing(shown.board(published.puzzle))
    else:
        say_drawing(shown.solution(published.puzzle, published.solution))
    say()


def _say_counts(counts: Mapping[str, list[dict[str, Any]]]) -> None:
    """Print a line for every game and level."""
    from nightgrid.archive.games import reader

    headings = ("boards", "solved", "solutions", "most", "time", "longest")
    lines = []
    for game, rows in counts.items():
        levels = [level for level in reader(game).LEVELS if any(r["level"] == level for r in rows)]
        for level in levels:
            name = game_plug(game).title + (f", {level}" if len(levels) > 1 else "")
            lines.append((name, *_cells([row for row in rows if row["level"] == level])))
    title = "Solutions and times: medians, and the largest"
    say_table(headings, lines, title=title, numbers=headings[1:], whole=1)


def _cells(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    solved = [row for row in rows if row["status"] == "solved"]
    found = sorted(row["count"] for row in solved)
    times = sorted(row["kernel_ns"] for row in solved)
    share = f"{len(solved):,}" + (f" of {len(rows):,}" if len(solved) < len(rows) else "")
    if not solved:
        return (share, "", "", "", "")
    counted = (f"{median(found):,.0f}", f"{found[-1]:,}")
    return (share, *counted, duration(round(median(times))), duration(times[-1]))


def _next(board: Board, row: Mapping[str, Any], address: str) -> str:
    """Return the next step as a command to paste."""
    few = row["count"] is not None and row["count"] <= LISTED_MAX
    what, how = ("list every solution of this board", "--all") if few else ("count it", "--count")
    command = ["nightgrid", "solve", board.name, how, "--lake", address]
    return f"{what}: {shlex.join(command)}"
