"""Rows of the table `parts`: what becomes of a manifest row."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from nightgrid.solvers.algebra import COST_COLUMNS, Ask, Outcome
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.reasons import Reason, ReasonCode

Row = dict[str, Any]

HEAD = ("job_no", "job_id", "part_path")
"""What a result row has from its manifest row."""
NOTHING = ("value", "value_at_least", "value_at_most", "count", "solutions", "children")
"""Columns that are null where an outcome has nothing to say."""


def heads_of(rows: pa.Table) -> list[Row]:
    """Read of manifest rows what their result rows begin with."""
    heads: list[Row] = rows.select(HEAD).to_pylist()
    return heads


def outcome_row(game: Game[Any, Any], ask: Ask, head: Row, outcome: Outcome[Any]) -> Row:
    """Make the PARTS row of an outcome."""
    solutions = None
    if ask.kind != "count":
        solutions = json.dumps(
            [game.solution_to_json(solution) for solution in outcome.solutions],
            separators=(",", ":"),
        )
    return listed_row(head, outcome, solutions=solutions)


def listed_row(head: Row, outcome: Outcome[Any], **rest: Any) -> Row:
    """Make the PARTS row of an outcome whose solutions are not in it; `rest` is added."""
    return result_row(
        head,
        str(outcome.status),
        outcome_reason(outcome),
        count=outcome.count,
        value=outcome.value,
        value_at_least=outcome.value_at_least,
        value_at_most=outcome.value_at_most,
        truncated=outcome.truncated,
        **{name: getattr(outcome.statistics, name) for name in COST_COLUMNS},
        **rest,
    )


def outcome_reason(outcome: Outcome[Any]) -> Reason | None:
    """Say why an outcome is not an answer."""
    if outcome.reason_code is None:
        return None
    return Reason(code=outcome.reason_code, sentence=outcome.reason)


def exception_reason(error: BaseException) -> Reason:
    """Say which error the work raised."""
    return Reason(code=ReasonCode.EXCEPTION, sentence=f"{type(error).__name__}: {error}")


def poison_reason(failure: Reason, attempts: int) -> Reason:
    """Say why something is poison that failed so often."""
    return Reason(code=failure.code, sentence=f"{failure.sentence} ({attempts} attempts)")


def result_row(head: Row, status: str, reason: Reason | None, **rest: Any) -> Row:
    """Make one PARTS row for a manifest row; what is not given is null, false or zero."""
    why = {
        "reason_code": None if reason is None else str(reason.code),
        "reason": "" if reason is None else reason.sentence,
    }
    row = {**{n: head[n] for n in HEAD}, "status": status, "truncated": False}
    return row | why | dict.fromkeys(NOTHING) | dict.fromkeys(COST_COLUMNS, 0) | rest
