"""Count the whole jobs of a chunk at once, in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nightgrid.archive.lake.arrow_to_numpy import slice_arrays
from nightgrid.archive.lake.tables import COUNT, PARTS
from nightgrid.solvers.algebra import COST_COLUMNS, STATUS_CODES, Ask, Budget, Status
from nightgrid.solvers.game_contract import Game
from nightgrid.workers.chunks.result_rows import HEAD, NOTHING

_HAS_COUNT = np.array(
    [s not in (Status.OVER_BUDGET, Status.INVALID, Status.POISON) for s in STATUS_CODES]
)
"""By status code: whether an outcome has a count."""


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
