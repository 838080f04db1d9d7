"""`nightgrid reduce`: turn hard problems into boards, and solve them."""

from __future__ import annotations

import textwrap
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nightgrid.service.cli.answers import cost_text
from nightgrid.service.games import view
from nightgrid.service.options.pictures import check_picture, write_file
from nightgrid.service.options.shared_options import SECONDS_MIN, Json
from nightgrid.service.terminal.console import emit, note, say, say_drawing
from nightgrid.service.terminal.exit_codes import Exit, exit_for
from nightgrid.service.terminal.progress import solving_shown
from nightgrid.solvers.algebra import MAX_BUDGET_S, Ask, Budget, Outcome, Status
from nightgrid.solvers.errors import PermanentError

if TYPE_CHECKING:
    from nightgrid.solvers.reductions.catalogue import Made, Reduction

DRAWN_COLUMNS = 160
"""Wider boards are only written to a file."""
SIZE_MAX = 1_000
"""Size of the largest random instance."""


def reduce(
    reduction: Annotated[
        str,
        typer.Argument(
            metavar="REDUCTION",
            help="Which problem into which game.",
        ),
    ],
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="The instance; formulas in DIMACS CNF. '-' or nothing: standard input.",
        ),
    ] = None,
    random: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=SIZE_MAX,
            metavar="N",
            help="Draw a solvable instance of size N instead.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="S", help="The same seed draws the same instance.")
    ] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the board to FILE.")
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a picture, as SVG; with --solve its solution too.",
        ),
    ] = None,
    solve: Annotated[
        bool, typer.Option("--solve", help="Solve the board, and print the answer to the problem.")
    ] = False,
    seconds: Annotated[
        float,
        typer.Option(
            min=SECONDS_MIN,
            max=MAX_BUDGET_S,
            metavar="S",
            help="With --solve: give up after S seconds.",
        ),
    ] = 90.0,
    json: Json = False,
) -> int:
    """Turn hard problems into boards.

    A board can be solved if and only if the instance can: nae-letterboxed (not-all-equal 3-SAT),
    matching-letterboxed (3D matching), planar-pips and planar-strands (planar 1-in-3-SAT, with an
    embedding), sum-pips (subset sum), flow-strands (Flow Free). Exit code: 0 done or solved,
    2 unsolvable, 3 bad input, 4 over budget.
    """
    from nightgrid.solvers.reductions import catalogue

    chosen = catalogue.reduction(reduction)
    check_picture(svg)
    made = catalogue.make(chosen, _instance(chosen, file, random, seed))
    if out is not None:
        write_file(out, f"{dumps(made.reduced.puzzle.to_json(), ensure_ascii=False)}\n", "--out")
    outcome = None
    if solve:
        bound, budget = made.reduced.bind(), Budget(seconds=seconds)
        with solving_shown(bound):
            outcome = bound.solve(made.reduced.puzzle, Ask(kind="first"), None, budget)
    found = outcome.solutions[0] if outcome is not None and outcome.solutions else None
    answer = None if found is None else made.solution_of(found)
    if svg is not None:
        write_file(svg, picture(made, found), "--svg")
    if json:
        emit(_json(made, outcome, answer))
    else:
        _say(made, outcome, found, answer, drawn=out is None)
    if outcome is None:
        return Exit.OK
    if outcome.status is Status.OVER_BUDGET:
        note(outcome.reason)
    return exit_for(outcome.status)


def _instance(reduction: Reduction, file: str | None, size: int | None, seed: int) -> Any:
    from nightgrid.service.options.reading import STDIN, read_input

    if size is not None:
        if file is not None:
            raise PermanentError("--random and a file exclude one another; give one of them")
        return reduction.problem.random(size, seed)
    data, name = read_input(file or STDIN, "an instance")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise PermanentError(f"{name}: byte {error.start} is not UTF-8") from error
    return reduction.problem.read(text)


def picture(made: Made, solution: Any | None) -> str:
    """Draw a board, with a solution if there is one, as the text of an SVG file."""
    reduced = made.reduced
    title = f"{made.reduction.name}: {_describe(made)}"
    return view(reduced.game).svg(reduced.puzzle, solution, title)


def _describe(made: Made) -> str:
    return view(made.reduced.game).describe(made.reduced.puzzle)


def _json(made: Made, outcome: Outcome[Any] | None, answer: Any) -> dict[str, Any]:
    reduced = made.reduced
    value: dict[str, Any] = {
        "reduction": made.reduction.name,
        "instance": made.reduction.problem.write(made.instance),
        "game": reduced.game,
        "puzzle_id": reduced.puzzle.puzzle_id,
        "rules": reduced.rules,
        "puzzle": reduced.puzzle.to_json(),
        "words": list(reduced.words),
    }
    if outcome is not None:
        problem, statistics = made.reduction.problem, outcome.statistics
        value |= {
            "status": str(outcome.status),
            "states": statistics.states,
            "kernel_ns": statistics.kernel_ns,
            "engine": statistics.engine,
            "reason_code": outcome.reason_code,
            "reason": outcome.reason,
            "answer": None if answer is None else problem.to_json(made.instance, answer),
        }
    return value


def _say(
    made: Made, outcome: Outcome[Any] | None, found: Any | None, answer: Any, *, drawn: bool
) -> None:
    reduced = made.reduced
    shown = view(reduced.game)
    say(f"{made.reduction.line}: {_describe(made)}, puzzle {reduced.puzzle.puzzle_id}")
    if reduced.rules:
        say(f"Rules: {reduced.rules}")
    if reduced.words:
        some = " ".join(
            textwrap.shorten(word, 24, placeholder="...") for word in reduced.words[:12]
        )
        more = len(reduced.words) - 12
        say(f"Words: {some}" + (f" and {more:,} more; --json has all" if more > 0 else ""))
    if drawn:
        drawing = shown.board(reduced.puzzle)
        if found is not None:
            drawing = shown.solution(reduced.puzzle, found)
        say()
        say_drawing(drawing, DRAWN_COLUMNS)
    if outcome is not None:
        say()
        ended = str(outcome.status).replace("_", " ").capitalize()
        say(f"{ended} in {cost_text(outcome)}")
    if answer is not None:
        say(made.reduction.problem.to_text(made.instance, answer))
