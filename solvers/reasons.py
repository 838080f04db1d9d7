"""Why a search or a job did not end as asked: codes for programs, and sentences for people.

Kernels return small integers (nightgrid.solvers.kernel.codes), programs branch on `ReasonCode`,
people read a sentence. No program reads a sentence.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from nightgrid.solvers.kernel import codes


class ReasonCode(enum.StrEnum):
    """Why something did not end as asked: its name for programs, and a sentence for people."""

    sentence: str
    """The default sentence; code that knows more uses its own."""

    def __new__(cls, value: str, sentence: str = "") -> Self:
        """Create a member from its value and its sentence."""
        code = str.__new__(cls, value)
        code._value_, code.sentence = value, sentence
        return code

    NODES = "nodes", "the budget of nodes ran out"
    TABLE_BYTES = "table_bytes", "the budget of table bytes ran out"
    SECONDS = "seconds", "the budget of seconds ran out"
    CANCELLED = "cancelled", "it was cancelled"
    """No person or program wanted it any more while it was running."""
    DEADLINE = "deadline", "its deadline passed"
    """The time by which its answer was wanted passed while it was running."""
    SOLUTION_BYTES = "solution_bytes", "the budget of bytes of solutions ran out"
    """More solutions were asked for than one job may list."""
    COUNT_TOO_LARGE = "count_too_large", "the count is 10^38 or more"
    """The count is more than a result holds (nightgrid.solvers.algebra.MAX_COUNT)."""
    CAPACITY = "capacity", "the board is larger than the solver takes"
    """The board is larger than the solver takes, whatever the budget."""
    FIXED_TABLE_FULL = "fixed_table_full", "a table of fixed size in the solver ran full"
    """A table of fixed size ran full in the search, whatever the budget."""
    INVALID_PUZZLE = "invalid_puzzle", "the puzzle breaks a rule of its game"
    REFUSED = "refused", "the game does not answer this question about this puzzle"
    DEFERRED = "deferred", "not worked: the chunk's time was up"
    """A chunk left the row to others."""
    UNRECOVERABLE_JOB = "unrecoverable_job", "another part of the job is over budget"
    """The part is skipped, because another part keeps its job from being answered."""
    EXCEPTION = "exception", "the work raised an error"
    TRANSIENT = "transient", "the lake or the broker failed"
    """A lake or a broker failed; the work is retried."""
    PROCESS_LOST = "process_lost", "its process died"
    """The process died while solving it alone."""
    WORKER_LOST = "worker_lost", "its worker died"
    """A worker died that was solving it, possibly among others."""
    HARD_LIMIT = "hard_limit", "exceeded the hard limit of time"
    """The process that was solving it was killed at the hard time limit."""

    @property
    def is_budget(self) -> bool:
        """Whether smaller parts or a larger budget may avoid it."""
        return self in (ReasonCode.NODES, ReasonCode.TABLE_BYTES, ReasonCode.SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A code for programs and a sentence for people."""

    code: ReasonCode
    sentence: str = ""
    """By default, the sentence of the code."""

    def __post_init__(self) -> None:
        if not self.sentence:
            object.__setattr__(self, "sentence", self.code.sentence)


_OF_KERNEL: dict[int, ReasonCode] = {
    codes.OUT_OF_NODES: ReasonCode.NODES,
    codes.OUT_OF_BYTES: ReasonCode.TABLE_BYTES,
    codes.OUT_OF_SECONDS: ReasonCode.SECONDS,
    codes.COUNT_TOO_LARGE: ReasonCode.COUNT_TOO_LARGE,
    codes.FIXED_TABLE_FULL: ReasonCode.FIXED_TABLE_FULL,
}


def reason_code_of(code: int) -> ReasonCode:
    """Return the reason for a kernel's code other than done."""
    return _OF_KERNEL[code]


def reason_index(reasons: Sequence[Reason | None], code: ReasonCode | None) -> int:
    """Return the index of a code's default reason, or else of the first with it.

    Columns of `Game.solve_batch` use this index.
    """
    usual = None if code is None else Reason(code=code)
    fits = {i: known for i, known in enumerate(reasons) if code == (known and known.code)}
    return next((i for i, known in fits.items() if known == usual), min(fits))


class BudgetSpentError(Exception):
    """A kernel stopped early with `code`."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code

    @property
    def reason_code(self) -> ReasonCode:
        """Why it stopped."""
        return reason_code_of(self.code)
