"""Why a search or a job did not end as asked: codes for programs, and sentences for people.

Kernels return small integers (nightgrid.solvers.kernel.codes), programs branch on `ReasonCode`,
people read a sentence. No program reads a sentence.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from nightgrid.solvers.kernel.codes import (
    COUNT_TOO_LARGE,
    FIXED_TABLE_FULL,
    OUT_OF_BYTES,
    OUT_OF_NODES,
    OUT_OF_SECONDS,
)


class ReasonCode(enum.StrEnum):
    """Why something did not end as asked."""

    NODES = "nodes"
    TABLE_BYTES = "table_bytes"
    SECONDS = "seconds"
    COUNT_TOO_LARGE = "count_too_large"
    """The count is more than a result holds (nightgrid.solvers.algebra.MAX_COUNT)."""
    CAPACITY = "capacity"
    """The board is larger than the solver takes, whatever the budget."""
    FIXED_TABLE_FULL = "fixed_table_full"
    """A table of fixed size ran full in the search, whatever the budget."""
    UNPROVEN = "unproven"
    """An incomplete search ended without an answer."""
    INVALID_PUZZLE = "invalid_puzzle"
    """The puzzle breaks a rule of its game."""
    REFUSED = "refused"
    """The game does not answer this question about this puzzle."""
    DEFERRED = "deferred"
    """A chunk left the row to others."""
    UNRECOVERABLE_JOB = "unrecoverable_job"
    """The part is not worked, because another part keeps its job from being answered."""
    EXCEPTION = "exception"
    """The work raised an error."""
    TRANSIENT = "transient"
    """A lake or a broker failed; the work is tried again."""
    PROCESS_LOST = "process_lost"
    """The process that worked on it died; it alone was in that process."""
    WORKER_LOST = "worker_lost"
    """A worker died that had it in hand, perhaps among others."""
    HARD_LIMIT = "hard_limit"
    """The process that worked on it was killed at the hard limit of time."""
    INTERRUPTED = "interrupted"
    """Its worker died together with its driver."""
    OVERDUE = "overdue"
    """Nothing was heard of it for too long after it began."""

    @property
    def is_budget(self) -> bool:
        """Whether smaller parts or a larger budget may avoid it."""
        return self in _BUDGET

    @property
    def sentence(self) -> str:
        """The usual sentence for people; a place that knows more says it in its own."""
        return SENTENCES[self]


SENTENCES: dict[ReasonCode, str] = {
    ReasonCode.NODES: "the budget of nodes ran out",
    ReasonCode.TABLE_BYTES: "the budget of table bytes ran out",
    ReasonCode.SECONDS: "the budget of seconds ran out",
    ReasonCode.COUNT_TOO_LARGE: "the count is 10^38 or more",
    ReasonCode.CAPACITY: "the board is larger than the solver takes",
    ReasonCode.FIXED_TABLE_FULL: "a table of fixed size in the solver ran full",
    ReasonCode.UNPROVEN: "the search found no answer, which proves nothing",
    ReasonCode.INVALID_PUZZLE: "the puzzle breaks a rule of its game",
    ReasonCode.REFUSED: "the game does not answer this question about this puzzle",
    ReasonCode.DEFERRED: "not worked: the chunk's time was up",
    ReasonCode.UNRECOVERABLE_JOB: "another part of the job is over budget",
    ReasonCode.EXCEPTION: "the work raised an error",
    ReasonCode.TRANSIENT: "the lake or the broker failed",
    ReasonCode.PROCESS_LOST: "its process died",
    ReasonCode.WORKER_LOST: "its worker died",
    ReasonCode.HARD_LIMIT: "exceeded the hard limit of time",
    ReasonCode.INTERRUPTED: "it was interrupted together with its driver",
    ReasonCode.OVERDUE: "nothing heard of it after it began",
}
_BUDGET = frozenset({ReasonCode.NODES, ReasonCode.TABLE_BYTES, ReasonCode.SECONDS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A code for programs and a sentence for people."""

    code: ReasonCode
    sentence: str = ""
    """The usual one of the code where none is given."""

    def __post_init__(self) -> None:
        if not self.sentence:
            object.__setattr__(self, "sentence", self.code.sentence)


_OF_KERNEL: dict[int, ReasonCode] = {
    OUT_OF_NODES: ReasonCode.NODES,
    OUT_OF_BYTES: ReasonCode.TABLE_BYTES,
    OUT_OF_SECONDS: ReasonCode.SECONDS,
    COUNT_TOO_LARGE: ReasonCode.COUNT_TOO_LARGE,
    FIXED_TABLE_FULL: ReasonCode.FIXED_TABLE_FULL,
}


def reason_code_of(code: int) -> ReasonCode:
    """Translate the code of a kernel that is not done."""
    return _OF_KERNEL[code]


def reason_index(reasons: Sequence[Reason | None], code: ReasonCode | None) -> int:
    """Find the first reason with a code: what columns of `Game.solve_batch` name it by."""
    return next(i for i, reason in enumerate(reasons) if code == (reason and reason.code))


class BudgetSpentError(Exception):
    """A kernel stopped before it was done; `code` is its code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code

    @property
    def reason_code(self) -> ReasonCode:
        """Why it stopped."""
        return reason_code_of(self.code)


__all__ = [
    "SENTENCES",
    "BudgetSpentError",
    "Reason",
    "ReasonCode",
    "reason_code_of",
    "reason_index",
]
