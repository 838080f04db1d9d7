"""Exit codes of the command line: their meanings, and the code of each outcome."""

from __future__ import annotations

import enum
from typing import Self

from nightgrid.solvers.algebra import Status


class Exit(enum.IntEnum):
    """How a command ended. For several puzzles the largest code counts.

    For a night or a count, which is about many puzzles, the code says whether a person is needed:
    OK, LOOK, or FAILED if not everything is done. It does not say why, since there may be several
    reasons; the report does. So LOOK differs from all codes that say how one puzzle ended. Poison,
    a puzzle at which its workers failed or died as often as allowed, is FAILED everywhere, in
    whichever run: it has no answer, and `--retry poison` may find one.
    """

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Self:
        """Create a code with its meaning."""
        exit_ = int.__new__(cls, code)
        exit_._value_ = code
        exit_.meaning = meaning
        return exit_

    OK = 0, "done; every puzzle is solved"
    FAILED = 1, "something outside failed: a server, a disk, a source; or a puzzle is poison"
    UNSOLVABLE = 2, "a puzzle is proven to have no solution"
    BAD_INPUT = 3, "a puzzle, a file, an option or a setting is wrong"
    OVER_BUDGET = 4, "the budget ran out first"
    LOOK = 5, "a night or a count is done, and its report lists what needs attention"
    INTERRUPTED = 130, "Ctrl-C, or a signal asked the nightly job to stop"
    BROKEN_PIPE = 141, "the reader of the output went away"


_BY_STATUS = {
    Status.SOLVED: Exit.OK,
    Status.UNSOLVABLE: Exit.UNSOLVABLE,
    Status.OVER_BUDGET: Exit.OVER_BUDGET,
    Status.INVALID: Exit.BAD_INPUT,
    Status.POISON: Exit.FAILED,
}


def exit_for_many(*, poisoned: bool, needs_attention: bool) -> Exit:
    """Return the exit code of a night or a count."""
    if poisoned:
        return Exit.FAILED
    return Exit.LOOK if needs_attention else Exit.OK


def exit_for(status: Status) -> Exit:
    """Return the exit code of one outcome."""
    return _BY_STATUS[status]
