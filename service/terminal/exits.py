"""Exit codes of the command line, worst last among the outcomes of puzzles."""

from __future__ import annotations

import enum

from nightgrid.solvers.algebra import Status


class Exit(enum.IntEnum):
    """How a command ended. Over several puzzles the largest outcome counts."""

    OK = 0
    """Done; every puzzle is solved."""
    FAILED = 1
    """Something outside failed: a server, a disk, a missing extra. Trying again may help."""
    UNSOLVABLE = 2
    """A puzzle is proven to have no solution."""
    BAD_INPUT = 3
    """A puzzle, a file, an option or a setting is wrong."""
    OVER_BUDGET = 4
    """The budget ran out first."""
    INTERRUPTED = 130
    """Ctrl-C."""
    BROKEN_PIPE = 141
    """The reader of the output went away."""


_BY_STATUS = {
    Status.SOLVED: Exit.OK,
    Status.UNSOLVABLE: Exit.UNSOLVABLE,
    Status.OVER_BUDGET: Exit.OVER_BUDGET,
    Status.INVALID: Exit.BAD_INPUT,
    Status.POISON: Exit.FAILED,
}


def exit_for(status: Status) -> Exit:
    """Name the exit code of one outcome."""
    return _BY_STATUS[status]
