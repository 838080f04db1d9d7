"""Format answers: as JSON with the names of the lake's tables, and as text for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from nightgrid.service.drawing import View
from nightgrid.service.games import bound_json, view
from nightgrid.service.terminal.console import (
    complain,
    duration,
    emit,
    say,
    say_drawing,
    sentence_of,
)
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.solvers.algebra import COST_COLUMNS, Ask, Outcome, Status
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import ReadItem


def each_puzzle(
    sources: Iterable[ReadItem],
    work: Callable[[ReadItem, Published], Exit],
    *,
    json: bool,
    spaced: bool = True,
) -> int:
    """Apply `work` to every puzzle, report every fault, and return the worst exit code.

    With `spaced`, answers are separated by empty lines.
    """
    from nightgrid.archive.payloads.published import Fault

    worst = Exit.OK
    for i, found in enumerate(sources):
        item = found.item
        if isinstance(item, Fault):
            complain(str(item))
            if json:
                costs = {"count": None, "states": 0, "kernel_ns": 0}
                why = {"reason_code": ReasonCode.INVALID_PUZZLE, "reason": item.message}
                at = {"rule": item.rule, "place": item.place}
                emit(head_json(found, None) | {"status": "invalid"} | costs | at | why)
            code = Exit.BAD_INPUT
        else:
            if spaced and not json and i:
                say()
            code = work(found, item)
        worst = max(worst, code)
    return worst


def head_json(found: ReadItem, puzzle: Any | None) -> dict[str, Any]:
    """Return the puzzle's identity and origin; a fault has neither puzzle nor date."""
    date = getattr(found.item, "date", None)
    return {
        "source": found.source,
        "puzzle_id": None if puzzle is None else puzzle.puzzle_id,
        "game": found.game or None,
        "date": None if date is None else date.isoformat(),
        "level": found.item.level,
    }


def outcome_json(game: Game[Any, Any], ask: Ask, outcome: Outcome[Any]) -> dict[str, Any]:
    """Write an outcome in the names of the results table, with its solutions if they were asked."""
    statistics = outcome.statistics
    value: dict[str, Any] = {
        "ask": str(ask),
        **bound_json(game),
        "status": str(outcome.status),
        "count": outcome.count,
        "value": outcome.value,
        **{name: getattr(statistics, name) for name in COST_COLUMNS},
        **({"engine": statistics.engine} if statistics.engine else {}),
        "solver_version": game.solver_version,
        "reason_code": outcome.reason_code,
        "reason": outcome.reason,
    }
    if ask.kind != "count":
        value["truncated"] = outcome.truncated
        value["solutions"] = [game.solution_to_json(solution) for solution in outcome.solutions]
    return value


def say_head(found: ReadItem, published: Published, puzzle: Any) -> None:
    """Print the puzzle's identity in one line."""
    shown = view(found.game)
    name = " ".join(str(part) for part in (published.date, published.level) if part is not None)
    clue = "" if published.clue is None else f" “{' '.join(published.clue.split())}”"
    title = f"{name or found.source}{clue}"
    # A generated board of the lake is only known by its id, which need not be repeated.
    known = "" if puzzle.puzzle_id in title else f", puzzle {puzzle.puzzle_id}"
    say(f"{title}: {shown.describe(puzzle)}{known}")
    say()


def say_unsolved(game: str, puzzle: Any) -> None:
    """Draw the bare board; a solved one is drawn with its solution instead."""
    say_drawing(view(game).board(puzzle))
    say()


def say_failure(outcome: Outcome[Any], hint: str = "") -> None:
    """Print why there is no answer, with a `hint` if there is one."""
    cost = cost_text(outcome)
    if outcome.status is Status.UNSOLVABLE:
        timed = f" in {cost}" if outcome.statistics.kernel_ns else ""
        say(f"No solution exists: proven{timed}.")
        if hint:
            say(sentence_of(hint))
    else:
        ended = str(outcome.status).replace("_", " ").capitalize()
        say(f"{ended} after {cost}: {outcome.reason}")


def say_solutions(
    game: Game[Any, Any],
    puzzle: Any,
    ask: Ask,
    outcome: Outcome[Any],
    sample: tuple[Any, ...],
) -> None:
    """Print the solutions; `sample` is one to draw if they were only counted."""
    cost = cost_text(outcome)
    solutions = outcome.solutions or sample
    assert outcome.count is not None
    shown = view(game.name)
    worth = "" if outcome.value is None else shown.value(outcome.value, game.rules)
    if ask.kind == "count":
        what = "It is:" if outcome.count == 1 else "One of them:"
        of = f", the best of {worth}," if worth else ""
        say(f"Counted {plural(outcome.count, 'solution')}{of} in {cost}. {what}")
    elif ask.kind == "best":
        best = f"best {len(solutions)}" if len(solutions) > 1 else "best"
        known = plural(outcome.count, "solution")
        found = f"{best} of {known}" if outcome.count > 1 else "best solution"
        say(f"Found the {found}{f', {worth},' if worth else ''} in {cost}:")
    else:
        say(f"Found a solution in {cost}:")
    say_best(shown, puzzle, solutions)


def say_best(shown: View, puzzle: Any, solutions: Sequence[Any]) -> None:
    """Draw the first solution, and list all of them by rank, a line each."""
    for solution in solutions[:1]:
        say()
        say_drawing(shown.solution(puzzle, solution))
    if len(solutions) > 1:
        say()
        for rank, solution in enumerate(solutions, 1):
            say(f"{rank:>{len(str(len(solutions)))}}.  {shown.line(solution)}")


def say_list_end(listed: int, outcome: Outcome[Any], hint: str = "") -> None:
    """Print below a list of solutions whether it is complete."""
    cost = cost_text(outcome)
    if outcome.status is Status.UNSOLVABLE:
        say_failure(outcome, hint)
    elif outcome.status is Status.OVER_BUDGET:
        say(f"Over budget after {plural(listed, 'solution')}, {cost}: {outcome.reason}")
    elif outcome.truncated:
        say(f"Listed {plural(listed, 'solution')} in {cost}; there are more.")
    else:
        say(f"Listed {plural(listed, 'solution')}, all there are, in {cost}.")


def cost_text(outcome: Outcome[Any]) -> str:
    """Format the cost of a solve."""
    statistics = outcome.statistics
    taken = "general engine" if "general" in statistics.engine.split("+") else ""
    # Some searches keep no states.
    states = plural(statistics.states, "state") if statistics.states else ""
    told = ", ".join(part for part in (states, taken) if part)
    return duration(statistics.kernel_ns) + (f" ({told})" if told else "")
