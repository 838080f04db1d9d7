"""`nightgrid result`: the results of jobs, and their solutions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nightgrid.service.cli.answers import say_best
from nightgrid.service.cli.ondemand.job_sources import JobNames, Jobs, Url, jobs_at, named_jobs
from nightgrid.service.games import view
from nightgrid.service.options.shared_options import FormatName, Json, LakeOption, OutputFile
from nightgrid.service.terminal.console import (
    complain,
    duration,
    emit,
    emit_end,
    emit_start,
    emit_text,
    say,
    say_drawing,
)
from nightgrid.service.terminal.exit_codes import Exit, exit_for
from nightgrid.service.terminal.formats import Format, chosen_format, write_table
from nightgrid.solvers.algebra import Ask, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.workers.ondemand.status import JobStatus

MAX_WAIT_S = 7 * 24 * 3600.0
DRAWN_MAX = 100
"""Most solutions of one job that are drawn."""
SOLUTIONS_SHOWN = {"job_id": "job", "rank": "rank", "solution": "solution"}


def result(
    jobs: JobNames,
    wait: Annotated[
        float,
        typer.Option(
            min=0.0, max=MAX_WAIT_S, metavar="S", help="Wait up to S seconds for all of them."
        ),
    ] = 0.0,
    solutions: Annotated[
        bool,
        typer.Option(
            "--solutions",
            help="Write the solutions, a row each, in canonical order.",
        ),
    ] = False,
    lake: LakeOption = None,
    url: Url = None,
    format_: FormatName = None,
    output: OutputFile = None,
    json: Json = False,
) -> int:
    """Print the results of jobs.

    A reference means every job about its puzzles: of a night, a count or on demand. --json has all
    solutions of each; --solutions writes only solutions. Exit code: 0 solved, 1 no result yet or
    poison, 2 unsolvable, 3 bad input, 4 over budget; over several jobs the largest.
    """
    form = chosen_format(format_, output, json=json)
    if not solutions and (output is not None or form not in (None, Format.JSON)):
        raise PermanentError("--format and --output write solutions; add --solutions")
    with jobs_at(url, lake, writes=False) as source:
        named, worst = named_jobs(source, jobs)
        shown = show_results(source, named, wait, form, output, solutions=solutions)
    return max(worst, shown)


def show_results(
    source: Jobs,
    named: Mapping[str, str],
    wait: float,
    form: Format | None,
    output: Path | None = None,
    *,
    solutions: bool = False,
) -> Exit:
    """Print the results of jobs, waiting at most `wait` seconds for all of them.

    `named` maps job ids to their display names. Returns the worst exit code.
    """
    from nightgrid.archive.lake.schemas import SOLUTIONS

    worst = Exit.OK
    until = time.monotonic() + wait
    rows: list[dict[str, Any]] = []
    is_streamed = form is Format.JSON and not solutions
    for job, name in named.items():
        row = source.result_row(job, timeout_s=max(0.0, until - time.monotonic()))
        if row is None:
            state = source.status(job)
            if is_streamed:
                emit(asdict(state))
            complain(_why_none(state, wait))
            worst = max(worst, Exit.FAILED)
            continue
        worst = max(worst, exit_for(Status(row["status"])))
        if is_streamed:
            _emit_row(source, row)
        elif form is None and not solutions:
            if rows:
                say()
            _say_row(source, row, name)
        rows.append(row)
    if solutions:
        tables = (table for row in rows for table in source.solution_tables(row))
        write_table(tables, SOLUTIONS, form or Format.JSON, output, shown=SOLUTIONS_SHOWN)
    return worst


def _why_none(job: JobStatus, waited_s: float) -> str:
    """Explain why a job has no result, and what to do."""
    if job.state in ("refused", "cancelled", "expired"):
        return f"job {job.job_id} is {job.state}: {job.reason}; nightgrid submit restarts it"
    since = f" after {waited_s:g} s" if waited_s else ""
    return (
        f"job {job.job_id} has no result{since}: it is {job.state}; "
        f"nightgrid result {job.job_id} --wait {2 * waited_s or 60:g} waits for it"
    )


def _say_row(source: Jobs, row: dict[str, Any], name: str) -> None:
    cost = duration(row["kernel_ns"])
    if row["states"]:
        cost += f" ({plural(row['states'], 'state')})"
    ended = row["status"].replace("_", " ")
    if row["count"] is not None and row["status"] == "solved":
        ended = plural(row["count"], "solution")
    if row.get("value") is not None:
        ended += f", the best of {view(row['game']).value(row['value'], row['rules'])},"
    called = f" ({name})" if "/" in name else ""
    say(f"{row['ask']} of puzzle {row['puzzle_id']}{called}: {ended} in {cost}")
    if row["reason"]:
        say(row["reason"])
    kind = Ask.parse(row["ask"]).kind
    if kind == "count" or not row["count"]:
        return
    if kind == "meant":
        from nightgrid.service.games.strands.ranking import ranked_lines

        covers = [loads(text) for text in _texts(source, row)]
        ranker, took_ns = row["solver_version"], row["kernel_ns"]
        for line in ranked_lines(covers, ranker, took_ns):
            say(line)
        return
    played, is_best = game(row["game"]), kind == "best"
    shown = view(row["game"])
    texts = islice(_texts(source, row), None if is_best else DRAWN_MAX)
    solutions = [played.solution_from_json(loads(text)) for text in texts]
    puzzle = source.puzzle(row) if solutions else None
    if is_best and puzzle is not None:
        say_best(shown, puzzle, solutions)
        return
    for solution in solutions:
        if puzzle is None:
            say(shown.line(solution))
        else:
            say()
            say_drawing(shown.solution(puzzle, solution))
    if row["count"] > DRAWN_MAX:
        say()
        say(f"and {row['count'] - DRAWN_MAX:,} more: --solutions writes all of them")


def _texts(source: Jobs, row: dict[str, Any]) -> Iterator[str]:
    for table in source.solution_tables(row):
        yield from table.column("solution").to_pylist()


def _emit_row(source: Jobs, row: dict[str, Any]) -> None:
    """Print a result as one JSON object, streaming its solutions: there may be millions."""
    emit_start({name: row[name] for name in row if name != "puzzle"}, "solutions")
    is_first = True
    if Ask.parse(row["ask"]).kind != "count":
        for text in _texts(source, row):
            emit_text(text, first=is_first)
            is_first = False
    emit_end({})
