"""The meaning of kernel codes: a status and a reason."""

from __future__ import annotations

import numpy as np

from nightgrid.solvers.algebra import STATUS_CODES, Status
from nightgrid.solvers.kernel import codes
from nightgrid.solvers.pips.layers import space as spaces
from nightgrid.solvers.reasons import Reason, ReasonCode, reason_code_of

SOLVING = 16
"""Codes of count and search start here, after those of prepare."""
CODES = 2 * SOLVING

_BEFORE: dict[int, tuple[Status, ReasonCode | None, str]] = {
    spaces.BAD_ROW: (
        Status.INVALID,
        ReasonCode.INVALID_PUZZLE,
        "the row is not a Pips board in canonical order",
    ),
    spaces.UNTILEABLE: (Status.UNSOLVABLE, None, ""),
    spaces.BOARD_TOO_LARGE: (
        Status.OVER_BUDGET,
        ReasonCode.CAPACITY,
        "the board is too large: at most 1024 cells, 128 distinct dominoes and 256 distinct pips",
    ),
    spaces.ORDER_TOO_WIDE: (
        Status.OVER_BUDGET,
        ReasonCode.CAPACITY,
        "the board is too wide: its frontier of partly covered cells exceeds 62 positions",
    ),
    spaces.FOREST_TOO_LARGE: (
        Status.OVER_BUDGET,
        ReasonCode.TABLE_BYTES,
        "the budget of table bytes ran out: the tilings of the frontier exceed it",
    ),
    spaces.KEY_TOO_LONG: (
        Status.OVER_BUDGET,
        ReasonCode.CAPACITY,
        "the board is too loose: dominoes left and open regions exceed a key of 256 bits",
    ),
    spaces.TIME_IS_UP: (Status.OVER_BUDGET, ReasonCode.SECONDS, ""),
}
"""Results of preparing a board: status, reason code, and a sentence of its own."""
# Solved or not, depending on the count.
_ENDINGS: dict[int, tuple[Status, Reason | None]] = {
    code: (status, Reason(code=reason, sentence=sentence) if reason else None)
    for code, (status, reason, sentence) in _BEFORE.items()
}
_ENDINGS[SOLVING + codes.DONE] = Status.SOLVED, None
for _code in (codes.OUT_OF_NODES, codes.OUT_OF_BYTES, codes.OUT_OF_SECONDS, codes.COUNT_TOO_LARGE):
    _ENDINGS[SOLVING + _code] = Status.OVER_BUDGET, Reason(code=reason_code_of(_code))

REASONS: tuple[Reason | None, ...] = tuple(
    dict.fromkeys([None, *(reason for _, reason in _ENDINGS.values())])
)
"""Reasons of the column `reason` of solve_batch."""

STATUS_OF_CODE = np.zeros(CODES, np.uint8)
"""Index into STATUS_CODES by kernel code."""
REASON_OF_CODE = np.zeros(CODES, np.uint8)
"""Index into REASONS by kernel code."""
for _code, (_status, _reason) in _ENDINGS.items():
    STATUS_OF_CODE[_code] = STATUS_CODES.index(_status)
    REASON_OF_CODE[_code] = REASONS.index(_reason)


def ending(code: int) -> tuple[Status, Reason | None]:
    """Translate a kernel's code."""
    return _ENDINGS[code]


def is_capacity(code: int) -> bool:
    """Return whether more memory or a longer key may help."""
    return code in (spaces.FOREST_TOO_LARGE, spaces.KEY_TOO_LONG, SOLVING + codes.OUT_OF_BYTES)


def is_refusal(code: int) -> bool:
    """Return whether the board does not fit the layers' tables, whatever the budget."""
    return code in (spaces.BOARD_TOO_LARGE, spaces.ORDER_TOO_WIDE, spaces.KEY_TOO_LONG)
