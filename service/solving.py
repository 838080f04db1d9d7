"""`nightgrid solve` and `nightgrid show`: puzzles from a file, answered or drawn here and now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.console import complain, duration, emit, emit_end, emit_item, emit_start, plural, say
from service.exits import Exit, exit_for
from service.options import Files, Json, Levels, check_range, read_settings
from service.progress import warm

if TYPE_CHECKING:
    from archive.pips import Fault, Published
    from solvers.algebra import Ask, Budget, Game, Outcome

GAME = "pips"
MB_BYTES = 1024**2


def solve(
    files: Files = None,
    level: Levels = None,
    first: Annotated[
        bool, typer.Option("--first", help="Find one solution (this is the default).")
    ] = False,
    count: Annotated[bool, typer.Option("--count", help="Count all solutions, exactly.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="List every solution.")] = False,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="List at most N solutions (with --all)."),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Give up after N transitions. Default: NIGHTGRID_BUDGET_NODES, else 10^12.",
            show_default=False,
        ),
    ] = None,
    table_mb: Annotated[
        int | None,
        typer.Option(
            metavar="MB",
            help="Give up beyond MB megabytes of tables. Default: NIGHTGRID_BUDGET_TABLE_BYTES, "
            "else 2048 MB.",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="Give up after S seconds a puzzle. Default: NIGHTGRID_BUDGET_SECONDS, else 90.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Solve puzzles here and now: draw a solution, count them all, or list them.

    Exit code: 0 solved, 2 unsolvable, 3 bad input, 4 over budget; over several puzzles the
    largest. A bad puzzle does not keep the others of its payload from being solved.
    """
    from service.reading import read_sources
    from solvers.registry import game

    ask = _ask(first=first, count=count, all_=all_, limit=limit)
    budget = _budget(nodes, table_mb, seconds)
    warm(GAME)
    pips = game(GAME)
    return _each(
        read_sources(files or [], level or ()),
        lambda source, published: _solve_one(pips, source, published, ask, budget, json=json),
        ask=ask,
        json=json,
    )


def show(
    files: Files = None,
    level: Levels = None,
    solution: Annotated[
        bool, typer.Option("--solution", help="Draw the payload's own solution as well.")
    ] = False,
    json: Json = False,
) -> int:
    """Draw puzzles without solving them.

    Exit code: 0 drawn, 3 bad input.
    """
    from service.reading import read_sources

    return _each(
        read_sources(files or [], level or ()),
        lambda source, published: _show_one(source, published, solution=solution, json=json),
        ask=None,
        json=json,
    )


def _ask(*, first: bool, count: bool, all_: bool, limit: int | None) -> Ask:
    from solvers.algebra import Ask
    from solvers.errors import PermanentError

    if first + count + all_ > 1:
        raise PermanentError("--first, --count and --all exclude one another; give one of them")
    if limit is not None and not all_:
        raise PermanentError("--limit goes with --all")
    return Ask(kind="count" if count else "all" if all_ else "first", limit=limit)


def _budget(nodes: int | None, table_mb: int | None, seconds: float | None) -> Budget:
    """Read the options that bound a solve; the settings stand in for those not given."""
    from solvers.algebra import MAX_BUDGET, MAX_BUDGET_S, Budget

    check_range(nodes, "--nodes", MAX_BUDGET, least=1)
    check_range(table_mb, "--table-mb", MAX_BUDGET // MB_BYTES, least=1)
    check_range(seconds, "--seconds", MAX_BUDGET_S)
    default = read_settings().budget
    return Budget(
        nodes=default.nodes if nodes is None else nodes,
        table_bytes=default.table_bytes if table_mb is None else table_mb * MB_BYTES,
        seconds=default.seconds if seconds is None else seconds,
    )


def _each(items: Iterator[tuple[str, Any]], work: Any, *, ask: Ask | None, json: bool) -> int:
    """Work on every puzzle, report every fault, and return the worst exit code."""
    from archive.pips import Fault

    worst = Exit.OK
    for i, (source, item) in enumerate(items):
        if not json and i and not isinstance(item, Fault):
            say()
        if isinstance(item, Fault):
            complain(str(item))
            if json:
                emit(fault_json(source, item, ask))
            code = Exit.BAD_INPUT
        else:
            code = work(source, item)
        worst = max(worst, code)
    return worst


def fault_json(source: str, fault: Fault, ask: Ask | None) -> dict[str, Any]:
    """Write a puzzle that cannot be read in the names of an outcome, with the rule and place."""
    head: dict[str, Any] = {
        "source": source,
        "puzzle_id": None,
        "game": GAME,
        "date": None,
        "level": fault.level,
    }
    if ask is not None:
        head |= {"ask": str(ask), "status": "invalid", "count": None, "states": 0, "kernel_ns": 0}
    return head | {"rule": fault.rule, "place": fault.place, "reason": fault.message}


def head_json(source: str, published: Published) -> dict[str, Any]:
    """Write which puzzle it is and where it stands."""
    return {
        "source": source,
        "puzzle_id": published.puzzle.puzzle_id,
        "game": GAME,
        "date": None if published.date is None else published.date.isoformat(),
        "level": published.level,
    }


def _title(source: str, published: Published) -> str:
    name = " ".join(str(part) for part in (published.date, published.level) if part is not None)
    puzzle = published.puzzle
    return (
        f"{name or source}: {plural(len(puzzle.dominoes), 'domino').replace('os', 'oes')}, "
        f"{plural(len(puzzle.regions), 'region')}, puzzle {puzzle.puzzle_id}"
    )


def _say_board(source: str, published: Published) -> None:
    from service.draw import draw_regions, list_dominoes

    say(_title(source, published))
    say()
    say(draw_regions(published.puzzle))
    say()
    say("Dominoes:")
    say()
    say(list_dominoes(published.puzzle))
    say()


def _show_one(source: str, published: Published, *, solution: bool, json: bool) -> Exit:
    from archive.pips import solution_to_json
    from service.draw import draw_solution

    official = published.solution
    if json:
        value = head_json(source, published) | {"puzzle": published.puzzle.to_json()}
        if solution:
            value["solution"] = None if official is None else solution_to_json(official)
        emit(value)
        return Exit.OK
    _say_board(source, published)
    if solution:
        if official is None:
            say("The payload gives no solution.")
        else:
            say("Official solution:")
            say()
            say(draw_solution(official))
    return Exit.OK


def _solve_one(
    game: Game[Any, Any],
    source: str,
    published: Published,
    ask: Ask,
    budget: Budget,
    *,
    json: bool,
) -> Exit:
    if ask.kind == "all":
        return _list_all(game, source, published, ask, budget, json=json)
    outcome = game.solve(published.puzzle, ask, None, budget)
    if json:
        emit(head_json(source, published) | outcome_json(game, ask, outcome))
    else:
        _say_board(source, published)
        _say_outcome(game, published, ask, budget, outcome)
    return exit_for(outcome.status)


def _list_all(
    game: Any, source: str, published: Published, ask: Ask, budget: Budget, *, json: bool
) -> Exit:
    """List solutions as they are found: there may be millions, so none is kept."""
    from service.draw import draw_solution
    from solvers.algebra import Outcome

    stream = game.stream(published.puzzle, ask, None, budget)
    count = 0
    if json:
        emit_start(head_json(source, published), "solutions")
    else:
        _say_board(source, published)
    for count, solution in enumerate(stream, start=1):
        if json:
            emit_item(game.solution_to_json(solution), first=count == 1)
        else:
            say(f"{count:,}:")
            say(draw_solution(solution))
            say()
    outcome: Outcome[Any] = Outcome(
        status=stream.status,
        count=None if stream.status == "over_budget" else count,
        truncated=stream.truncated,
        statistics=stream.statistics,
        reason=stream.reason,
    )
    if json:
        tail = outcome_json(game, ask, outcome)
        del tail["solutions"]
        emit_end(tail)
    else:
        _say_end(count, outcome)
    return exit_for(outcome.status)


def _say_end(listed: int, outcome: Outcome[Any]) -> None:
    from solvers.algebra import Status

    cost = _cost(outcome)
    if outcome.status is Status.UNSOLVABLE:
        say(f"No solution exists: proven in {cost}.")
    elif outcome.status is Status.OVER_BUDGET:
        say(f"Over budget after {plural(listed, 'solution')}, {cost}: {outcome.reason}")
    elif outcome.truncated:
        say(f"Listed {plural(listed, 'solution')} in {cost}; there are more.")
    else:
        say(f"Listed {plural(listed, 'solution')}, all there are, in {cost}.")


def _cost(outcome: Outcome[Any]) -> str:
    statistics = outcome.statistics
    return f"{duration(statistics.kernel_ns)} ({plural(statistics.states, 'state')})"


def outcome_json(game: Game[Any, Any], ask: Ask, outcome: Outcome[Any]) -> dict[str, Any]:
    """Write an outcome in the names of the results table, with its solutions if they were asked."""
    statistics = outcome.statistics
    value: dict[str, Any] = {
        "ask": str(ask),
        "status": str(outcome.status),
        "count": outcome.count,
        "states": statistics.states,
        "nodes": statistics.nodes,
        "kernel_ns": statistics.kernel_ns,
        "table_bytes": statistics.table_bytes,
        "solver_version": game.solver_version,
        "reason": outcome.reason,
    }
    if ask.kind != "count":
        value["truncated"] = outcome.truncated
        value["solutions"] = [game.solution_to_json(solution) for solution in outcome.solutions]
    return value


def _say_outcome(
    game: Game[Any, Any],
    published: Published,
    ask: Ask,
    budget: Budget,
    outcome: Outcome[Any],
) -> None:
    from service.draw import draw_solution
    from solvers.algebra import Ask, Status

    cost = _cost(outcome)
    if outcome.status is Status.UNSOLVABLE:
        say(f"No solution exists: proven in {cost}.")
        return
    if outcome.status is not Status.SOLVED:
        say(f"{str(outcome.status).replace('_', ' ').capitalize()} after {cost}: {outcome.reason}")
        return
    assert outcome.count is not None
    solutions = outcome.solutions
    if ask.kind == "count":
        one = "It is:" if outcome.count == 1 else "One of them:"
        say(f"Counted {plural(outcome.count, 'solution')} in {cost}. {one}")
        solutions = game.solve(published.puzzle, Ask(kind="first"), None, budget).solutions
    else:
        say(f"Found a solution in {cost}:")
    for solution in solutions:
        say()
        say(draw_solution(solution))
