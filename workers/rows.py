"""Rows of the table `parts`: what becomes of a manifest row."""

from __future__ import annotations

import json
from typing import Any

from solvers.algebra import Ask, Game, Outcome

Row = dict[str, Any]


def outcome_row(game: Game[Any, Any], ask: Ask, head: Row, outcome: Outcome[Any]) -> Row:
    """Make the PARTS row of an outcome."""
    solutions = None
    if ask.kind != "count":
        solutions = json.dumps(
            [game.solution_to_json(solution) for solution in outcome.solutions],
            separators=(",", ":"),
        )
    statistics = outcome.statistics
    return part_row(
        head,
        str(outcome.status),
        outcome.reason,
        count=outcome.count,
        value=outcome.value,
        solutions=solutions,
        truncated=outcome.truncated,
        states=statistics.states,
        nodes=statistics.nodes,
        kernel_ns=statistics.kernel_ns,
        table_bytes=statistics.table_bytes,
    )


def part_row(head: Row, status: str, reason: str, **rest: Any) -> Row:
    """Make one PARTS row for a manifest row; what is not given is null, false or zero."""
    blank = {"count": None, "value": None, "solutions": None, "truncated": False, "children": None}
    costs = dict.fromkeys(("states", "nodes", "kernel_ns", "table_bytes"), 0)
    names = ("job_no", "job_id", "part_path")
    return (
        {**{n: head[n] for n in names}, "status": status, "reason": reason} | blank | costs | rest
    )
