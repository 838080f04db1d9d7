"""Rows of the table `parts`, made from manifest rows one by one or column by column."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nightgrid.archive.lake.arrow_to_numpy import slice_arrays
from nightgrid.archive.lake.schemas import COUNT, PARTS
from nightgrid.solvers.algebra import COST_COLUMNS, STATUS_CODES, Ask, Budget, Outcome, Status
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.reasons import Reason, ReasonCode

Row = dict[str, Any]

HEAD = ("job_no", "job_id", "part_path")
"""Columns that a result row copies from its manifest row."""
NOTHING = ("value", "value_at_least", "value_at_most", "count", "solutions", "children")
"""Columns that are null unless an outcome has them."""


def heads_of(rows: pa.Table) -> list[Row]:
    """Return the HEAD columns of manifest rows."""
    heads: list[Row] = rows.select(HEAD).to_pylist()
    return heads


def outcome_row(game: Game[Any, Any], ask: Ask, head: Row, outcome: Outcome[Any]) -> Row:
    """Return the PARTS row of an outcome."""
    solutions = None
    if ask.kind != "count":
        solutions = json.dumps(
            [game.solution_to_json(solution) for solution in outcome.solutions],
            separators=(",", ":"),
        )
    return listed_row(head, outcome, solutions=solutions)


def listed_row(head: Row, outcome: Outcome[Any], **rest: Any) -> Row:
    """Return the PARTS row of an outcome whose solutions are elsewhere; `rest` adds columns."""
    return result_row(
        head,
        str(outcome.status),
        Reason(code=code, sentence=outcome.reason) if (code := outcome.reason_code) else None,
        count=outcome.count,
        value=outcome.value,
        value_at_least=outcome.value_at_least,
        value_at_most=outcome.value_at_most,
        truncated=outcome.truncated,
        **{name: getattr(outcome.statistics, name) for name in COST_COLUMNS},
        **rest,
    )


def exception_reason(error: BaseException) -> Reason:
    """Return the reason to record for an exception."""
    return Reason(code=ReasonCode.EXCEPTION, sentence=f"{type(error).__name__}: {error}")


def result_row(head: Row, status: str, reason: Reason | None, **rest: Any) -> Row:
    """Return one PARTS row for a manifest row; missing columns are null, false or zero."""
    why = {
        "reason_code": None if reason is None else str(reason.code),
        "reason": "" if reason is None else reason.sentence,
    }
    row = {**{n: head[n] for n in HEAD}, "status": status, "truncated": False}
    return row | why | dict.fromkeys(NOTHING) | dict.fromkeys(COST_COLUMNS, 0) | rest


_HAS_COUNT = np.array(
    [s not in (Status.OVER_BUDGET, Status.INVALID, Status.POISON) for s in STATUS_CODES]
)
"""Whether an outcome has a count, by status code."""


def count_batch(
    game: Game[Any, Any],
    ask: Ask,
    manifest: pa.Table,
    arrays: dict[str, npt.NDArray[Any]],
    budget: Budget,
    slices: Iterator[tuple[int, int]],
) -> pa.Table:
    """Count whole jobs column-wise, with no Python object per puzzle; return them as PARTS.

    `arrays` are the columns of the rows in `manifest`; the budget holds for each row.
    """
    outs = [game.solve_batch(slice_arrays(arrays, a, b), ask, budget) for a, b in slices]
    out = {name: np.concatenate([part[name] for part in outs]) for name in outs[0]}
    status = out["status"]
    rows = len(status)
    sentences = ["" if reason is None else reason.sentence for reason in game.reasons]
    codes = [None if reason is None else str(reason.code) for reason in game.reasons]
    columns = {name: pa.nulls(rows, PARTS.field(name).type) for name in NOTHING}
    if "value" in out:
        columns["value"] = pa.array(out["value"], pa.int64(), mask=out["value"] < 0)
    columns |= {name: manifest.column(name).slice(0, rows) for name in HEAD}
    columns |= {name: out[name] for name in COST_COLUMNS}
    columns |= {
        "status": _named(status, [str(s) for s in STATUS_CODES]),
        "count": decimals(out["count_hi"], out["count_lo"], _HAS_COUNT[status]),
        "truncated": pa.repeat(pa.scalar(False), rows),
        "reason_code": _named(out["reason"], codes),
        "reason": _named(out["reason"], sentences),
    }
    return pa.table({name: columns[name] for name in PARTS.names}, schema=PARTS)


def _named(codes: npt.NDArray[Any], names: Sequence[str | None]) -> pa.Array:
    if not codes.any():
        return pa.repeat(pa.scalar(names[0], pa.string()), len(codes))
    return pa.array(list(names), pa.string()).take(pa.array(codes))


def decimals(
    hi: npt.NDArray[np.uint64], lo: npt.NDArray[np.uint64], valid: npt.NDArray[np.bool_]
) -> pa.Array:
    """Join the halves of counts into decimal128(38, 0): the halves are its memory layout."""
    halves = np.empty((len(lo), 2), np.uint64)
    halves[:, 0], halves[:, 1] = lo, hi
    validity = np.packbits(valid, bitorder="little")
    return pa.Array.from_buffers(COUNT, len(lo), [pa.py_buffer(validity), pa.py_buffer(halves)])
