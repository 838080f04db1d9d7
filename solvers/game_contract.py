"""The contract of a game with all floors, from parsing a puzzle to merging parts.

A game derives from `Game` and defines what differs: how puzzles and solutions are written, how a
board is divided, counted and searched, and the order of the solutions of its parts.
"""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from nightgrid.solvers.algebra import (
    COST_COLUMNS,
    MAX_COUNT,
    STATUS_CODES,
    Arrays,
    Ask,
    AskKind,
    Budget,
    Outcome,
    SolutionStream,
    Statistics,
    Status,
    failure_of,
)
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.layered_count import LayeredCount
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.reasons import Reason, ReasonCode, reason_index

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

NO_VALUE = -1
"""Value of a missing outcome in the column `value` of `solve_batch`."""
CLOCK_STRIDE = 1024
"""Solutions listed between two clock checks."""
_rare_lock = threading.RLock()
_rare_is_warm: set[str] = set()


Dictionaries = Callable[[str], tuple[str, ...]]
"""Loads the words of a dictionary by its id, for boards in columns, which only have the id. Raises
PermanentError for an unknown id."""


class Board(Protocol):
    """The interface of every puzzle."""

    @property
    def puzzle_id(self) -> str:
        """Hash of the canonical form."""

    def to_json(self) -> dict[str, Any]:
        """Return the canonical form."""


P = TypeVar("P", bound=Board)
S = TypeVar("S")


class Game(ABC, Generic[P, S]):
    """One game as every floor sees it. Parts are JSON values, which need no encoding."""

    name: str
    solver_version: str
    """Changes whenever a count, a solution or the canonical order of solutions could."""
    reasons: tuple[Reason | None, ...]
    """Maps the uint8 codes of reason columns of `solve_batch` to reasons; None at 0."""
    rules: str
    """The switchable rules in effect, in their one-line form; "" for a game without."""
    lexicon_id: str
    """The lexicon that it is bound to; "" for none. A word game without one can do everything that
    needs no words: parse, write, hash and encode puzzles."""
    counts: tuple[AskKind, ...] = ("count", "best")
    """Asks for `solve_counted`, which also counts all solutions exactly."""
    streams: tuple[AskKind, ...] = ("first", "all")
    """Asks that are answered one solution at a time."""
    batch: AskKind = "count"
    """The ask of `solve_batch`."""
    has_value = False
    """Whether outcomes have a value."""
    parts_in_order = False
    """Whether the parts of `split` for `all` are consecutive ranges of the canonical order, so that
    the joined streams of all parts are the stream of the whole."""
    board_s = 0.0
    """Cost of a published board, in seconds."""

    def __init__(
        self,
        rules: Any = None,
        lexicon: Lexicon | None = None,
        dictionaries: Dictionaries | None = None,
    ) -> None:
        self.bound_rules = rules
        self.lexicon = lexicon
        self.dictionaries = dictionaries
        self.rules = "" if rules is None else str(rules)
        self.lexicon_id = "" if lexicon is None else lexicon.lexicon_id
        self._last_id: tuple[P, str] | None = None

    @abstractmethod
    def puzzle_from_json(self, value: object, /) -> P:
        """Validate a JSON value into a puzzle, or raise InvalidPuzzleError."""

    def puzzle_to_json(self, puzzle: P) -> dict[str, Any]:
        """Return the canonical form of a puzzle."""
        return puzzle.to_json()

    def puzzle_id(self, puzzle: P) -> str:
        """Hash the canonical form; cache the last one, since one question needs it four times."""
        last = self._last_id
        if last is None or last[0] is not puzzle:
            # One assignment, because other threads may hash other puzzles.
            self._last_id = last = (puzzle, puzzle.puzzle_id)
        return last[1]

    def clued(self, puzzle: P, clue: str | None) -> P:  # noqa: ARG002
        """Add the clue shown to players, if answers depend on it.

        Raises PermanentError if this game cannot answer about the puzzle.
        """
        return puzzle

    def subject(self, puzzle: P) -> str:
        """Return the subject of a question: the puzzle's id, and the clue if it matters."""
        return self.puzzle_id(puzzle)

    @abstractmethod
    def solution_to_json(self, solution: S, /) -> Any:
        """Return a solution as a JSON value."""

    @abstractmethod
    def solution_from_json(self, value: Any, /) -> S:
        """Parse a solution as returned by `solution_to_json`."""

    def solution_text(self, solution: S) -> str:
        """Return that JSON value as the lake stores it, as a text without spaces."""
        return json.dumps(self.solution_to_json(solution), separators=(",", ":"))

    @abstractmethod
    def to_arrays(self, puzzles: Sequence[P], /) -> dict[str, npt.NDArray[Any]]:
        """Encode puzzles as columns, as in the lake's puzzles table."""

    @abstractmethod
    def from_arrays(self, arrays: Arrays, row: int) -> P:
        """Decode the puzzle of one row."""

    @abstractmethod
    def split(self, puzzle: P, ask: Ask, part: Any, into: int) -> list[Any]:
        """Divide a job (part None) or a part into about `into` disjoint parts that make it up.

        Returns a list of one when nothing is left to divide.
        """

    @abstractmethod
    def open_stream(
        self, puzzle: P, part: Any, budget: Budget, limit: int | None, *, first: bool
    ) -> SolutionStream[S]:
        """Return a stream of at most `limit` solutions; with `first`, any solution will do."""

    def solve_counted(self, puzzle: P, ask: Ask, part: Any, budget: Budget) -> Outcome[S]:
        """Answer one of the asks in `counts`."""
        raise NotImplementedError

    def solution_bytes(self, solution: S) -> int:
        """Estimate a solution's share of a list of solutions."""
        raise NotImplementedError

    def value_of(self, solutions: Sequence[S]) -> int | None:  # noqa: ARG002
        """Return the value of the best of some solutions; None if the game compares nothing."""
        return None

    def in_order(self, puzzle: P, ask: Ask, solutions: list[S]) -> list[S]:  # noqa: ARG002
        """Sort the solutions of all parts, given in the order of `split`, canonically."""
        return solutions

    def stream(
        self, puzzle: P, ask: Ask, part: Any = None, budget: Budget | None = None
    ) -> SolutionStream[S]:
        """Answer `first` or `all(limit)` one solution at a time.

        Raises PermanentError for any other ask.
        """
        if ask.kind not in self.streams:
            raise PermanentError(
                f"solutions of {self.name} are not streamed for {ask}; ask for "
                f"{' or '.join(self.streams)}"
            )
        first = ask.kind == "first"
        budget = budget or Budget()
        stream = self.open_stream(puzzle, part, budget, 1 if first else ask.limit, first=first)
        stream.stop = budget.stop
        return stream

    def solve(
        self, puzzle: P, ask: Ask, part: Any = None, budget: Budget | None = None
    ) -> Outcome[S]:
        """Answer the ask for the whole puzzle or one part of it.

        Raises PermanentError for an ask that the game does not answer.
        """
        budget = budget or Budget()
        if ask.kind not in (*self.counts, *self.streams):
            raise PermanentError(f"{self.name}, bound as it is, does not answer {ask}")
        if ask.kind in self.counts:
            return as_stopped(self.solve_counted(puzzle, ask, part, budget), budget)
        return as_stopped(self._solve_streamed(puzzle, ask, part, budget), budget)

    def _solve_streamed(self, puzzle: P, ask: Ask, part: Any, budget: Budget) -> Outcome[S]:
        stream = self.stream(puzzle, ask, part, budget)
        # The list needs time and memory of its own.
        deadline_ns = budget.deadline_ns()
        found: list[S] = []
        taken = 0
        for solution in stream:
            found.append(solution)
            taken += self.solution_bytes(solution)
            if taken > budget.table_bytes:
                return over_budget(Reason(code=ReasonCode.TABLE_BYTES), stream.statistics)
            if len(found) % CLOCK_STRIDE == 0 and budget.is_over(deadline_ns):
                return over_budget(Reason(code=ReasonCode.SECONDS), stream.statistics)
        if stream.reason_code is not None:
            # An incomplete list must not pass for a complete one.
            return Outcome(
                status=stream.status,
                reason_code=stream.reason_code,
                reason=stream.reason,
                statistics=stream.statistics,
            )
        return Outcome(
            status=stream.status,
            count=len(found),
            solutions=tuple(found),
            truncated=stream.truncated and ask.kind == "all",
            statistics=stream.statistics,
            value=self.value_of(found),
        )

    def continuation(
        self,
        puzzle: P,  # noqa: ARG002
        moves: Sequence[Any],  # noqa: ARG002
        budget: Budget,  # noqa: ARG002
        published: S | None = None,  # noqa: ARG002
    ) -> Outcome[tuple[Any, ...]]:
        """Find moves that lead from the moves of a player to a solution, all as JSON values.

        Moves are what solutions are made of: placements, words with their paths, words, tiles. The
        outcome has at most one solution, the moves that are left: none of them when the board is
        solved; that of a `published` solution comes first. Unsolvable is proven: no solution has
        the moves given. Raises IllegalMoveError.
        """
        raise PermanentError(f"{self.name} has no moves to play")

    def merge(self, puzzle: P, ask: Ask, outcomes: Sequence[Outcome[S]]) -> Outcome[S]:
        """Combine the outcomes of all parts into exactly the outcome of the whole."""
        failed = failure_of(outcomes)
        if failed is not None:
            return failed
        statistics = sum((o.statistics for o in outcomes), Statistics())
        count = sum(o.count or 0 for o in outcomes)
        if ask.kind in self.counts and count > MAX_COUNT:
            return over_budget(Reason(code=ReasonCode.COUNT_TOO_LARGE), statistics)
        found = [solution for o in outcomes for solution in o.solutions]
        if found:
            found = self.in_order(puzzle, ask, found)
        kept = tuple(found[: 1 if ask.kind == "first" else ask.limit])
        return Outcome(
            status=Status.SOLVED if count else Status.UNSOLVABLE,
            count=count if ask.kind in self.counts else len(kept),
            solutions=kept,
            truncated=ask.kind == "all"
            and (len(found) > len(kept) or any(o.truncated for o in outcomes)),
            statistics=statistics,
        )

    def solve_batch(self, arrays: Arrays, ask: Ask, budget: Budget) -> dict[str, npt.NDArray[Any]]:
        """Answer the ask `batch` for every row, by default one board after the other.

        Returns scalar columns `status` (uint8, index into STATUS_CODES), `count_hi` and `count_lo`
        (uint64), `states`, `nodes`, `kernel_ns`, `table_bytes` (int64) and `reason` (uint8, index
        into `reasons` of the game), and for a game whose outcomes have a value `value` (int64, -1
        for none). The budget applies to each puzzle. Raises PermanentError for any other ask.
        """
        self.check_batch(ask)
        out = self.batch_columns(len(arrays["size"]))
        for row in range(len(arrays["size"])):
            if budget.stopped is None:
                outcome = self.solve(self.from_arrays(arrays, row), ask, None, budget)
            else:
                outcome = over_budget(Reason(code=ReasonCode.SECONDS), Statistics())
            self.write_row(out, row, outcome)
        return out

    def check_batch(self, ask: Ask) -> None:
        """Raise PermanentError for an ask that `solve_batch` does not answer."""
        if ask.kind != self.batch:
            can = "counted" if self.batch == "count" else "decided"
            raise PermanentError(f"a batch of {self.name} boards can be {can}, not asked for {ask}")

    def batch_columns(self, rows: int) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of `solve_batch`, filled with zeros."""
        import numpy as np

        out: dict[str, npt.NDArray[Any]] = {name: np.zeros(rows, np.int64) for name in COST_COLUMNS}
        out |= {name: np.zeros(rows, np.uint8) for name in ("status", "reason")}
        out |= {name: np.zeros(rows, np.uint64) for name in ("count_hi", "count_lo")}
        if self.has_value:
            out["value"] = np.full(rows, NO_VALUE, np.int64)
        return out

    def write_row(self, out: dict[str, npt.NDArray[Any]], row: int, outcome: Outcome[S]) -> None:
        """Write one outcome into the columns of `solve_batch`."""
        out["status"][row] = STATUS_CODES.index(outcome.status)
        out["reason"][row] = reason_index(self.reasons, outcome.reason_code)
        out["count_hi"][row] = (outcome.count or 0) >> 64
        out["count_lo"][row] = (outcome.count or 0) & (2**64 - 1)
        if self.has_value:
            out["value"][row] = NO_VALUE if outcome.value is None else outcome.value
        for name in COST_COLUMNS:
            out[name][row] = getattr(outcome.statistics, name)

    def open(self) -> object:
        """Open files that answers rest on, such as models; the first process of a machine may have
        to make them.
        """
        return None

    @abstractmethod
    def warm(self) -> None:
        """Compile or load the kernels, so that the first solve does not have to."""

    def warm_rare(self) -> None:
        """Compile or load the kernels that `warm` skips because few boards need them."""

    def warm_rare_once(self) -> None:
        """Call `warm_rare` once a process, before the clock of a board that needs it starts.

        Compiling takes seconds, which would otherwise count as the board's.
        """
        # Other threads wait. Solves of `warm_rare` itself come here again.
        with _rare_lock:
            if self.name not in _rare_is_warm:
                _rare_is_warm.add(self.name)
                self.warm_rare()

    def layered(self, puzzle: P, budget: Budget) -> LayeredCount | None:  # noqa: ARG002
        """Return the layered count of a board, or None if the game or the board has no layers.

        A part of a job that is counted by layers is `{"layer": L, "buckets": [i, j]}`: all
        solutions whose state in layer L falls into the buckets i to j - 1. `solve` takes such a
        part like any other, from the empty board on; further keys of it are ignored.
        """
        return None

    def cost_s(self, arrays: Arrays, ask: Ask) -> npt.NDArray[np.float64]:  # noqa: ARG002
        """Estimate the seconds that each row takes one core, for planning."""
        import numpy as np

        return np.full(len(arrays["size"]), self.board_s)

    def close_cost_s(self, arrays: Arrays, ask: Ask) -> float | None:  # noqa: ARG002
        """Estimate the seconds of the only row, more closely than `cost_s`.

        None if there is no such estimate. For single on-demand jobs and small batches: planning a
        million boards cannot afford it.
        """
        return None


def over_budget(reason: Reason, statistics: Statistics) -> Outcome[Any]:
    """Return the outcome of a search that ended early."""
    return Outcome(
        status=Status.OVER_BUDGET,
        reason_code=reason.code,
        reason=reason.sentence,
        statistics=statistics,
    )


def as_stopped(outcome: Outcome[S], budget: Budget) -> Outcome[S]:
    """Relabel a timed-out outcome as stopped if it was stopped."""
    why = budget.stopped
    if why is None or outcome.reason_code is not ReasonCode.SECONDS:
        return outcome
    return replace(outcome, reason_code=why, reason=why.sentence)


def even_parts(at: range, into: int, **named: Any) -> list[dict[str, Any]]:
    """Divide a range into at most `into` parts {"from", "to"} of about the same size.

    `named` are further entries of every part.
    """
    many = max(1, min(into, len(at)))
    cuts = [at.start + len(at) * i // many for i in range(many + 1)]
    return [{**named, "from": a, "to": b} for a, b in pairwise(cuts)]
