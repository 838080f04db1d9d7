"""The contract of a game: what every floor asks of it, from reading a puzzle to merging parts.

A game derives from `Game` and says what differs: how a puzzle and a solution are written, how a
board is divided, counted and searched, and in which order the solutions of its parts stand.
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
"""Stands in the column `value` of `solve_batch` where an outcome has none."""
CLOCK_STRIDE = 1024
"""Solutions listed between two looks at the clock."""
_rare_lock = threading.RLock()
_rare_is_warm: set[str] = set()


Dictionaries = Callable[[str], tuple[str, ...]]
"""Loads the words of a dictionary by its id, for boards that are laid out in columns: those name
their dictionary and do not hold it. Raises PermanentError for one that it does not have."""


class Board(Protocol):
    """What every puzzle can say of itself."""

    @property
    def puzzle_id(self) -> str:
        """Hash of the canonical form."""

    def to_json(self) -> dict[str, Any]:
        """Write the canonical form."""


P = TypeVar("P", bound=Board)
S = TypeVar("S")


class Game(ABC, Generic[P, S]):
    """One game as every floor sees it. Parts are JSON values, so that they travel as they are."""

    name: str
    solver_version: str
    """Changes whenever a count, a solution or the canonical order of solutions could."""
    reasons: tuple[Reason | None, ...]
    """Index = the uint8 by which reason columns of `solve_batch` name a reason; None at 0."""
    rules: str
    """The switchable rules that it plays by, in their one-line form; "" for a game without."""
    lexicon_id: str
    """The lexicon that it is bound to; "" for none. A word game that is bound to none can do
    everything that needs no words: read, write, name and lay out puzzles."""
    counts: tuple[AskKind, ...] = ("count", "best")
    """Asks that `solve_counted` answers, with the exact number of all solutions."""
    streams: tuple[AskKind, ...] = ("first", "all")
    """Asks that are answered one solution at a time."""
    batch: AskKind = "count"
    """The ask that `solve_batch` answers."""
    has_value = False
    """Whether outcomes have a value."""
    parts_in_order = False
    """Whether the parts of `split` for `all` are ranges of the canonical order, one behind the
    other: the streams of all parts, joined, are the stream of the whole."""
    board_s = 0.0
    """What a published board costs."""

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
        """Write a puzzle in its canonical form."""
        return puzzle.to_json()

    def puzzle_id(self, puzzle: P) -> str:
        """Hash the canonical form; the last one is cached, for one question needs it four times."""
        last = self._last_id
        if last is None or last[0] is not puzzle:
            # One assignment: other threads may ask for other puzzles.
            self._last_id = last = (puzzle, puzzle.puzzle_id)
        return last[1]

    def clued(self, puzzle: P, clue: str | None) -> P:  # noqa: ARG002
        """Add what players are told next to the board, where answers depend on it.

        Raises PermanentError for a puzzle of which this game cannot be asked.
        """
        return puzzle

    def subject(self, puzzle: P) -> str:
        """Name what a question is about: the puzzle by its id, and where answers depend on more
        than that, this as well.
        """
        return self.puzzle_id(puzzle)

    @abstractmethod
    def solution_to_json(self, solution: S, /) -> Any:
        """Write a solution as a JSON value."""

    @abstractmethod
    def solution_from_json(self, value: Any, /) -> S:
        """Read a solution as `solution_to_json` writes it."""

    def solution_text(self, solution: S) -> str:
        """Write that JSON value as the lake has it: as a text without spaces."""
        return json.dumps(self.solution_to_json(solution), separators=(",", ":"))

    @abstractmethod
    def to_arrays(self, puzzles: Sequence[P], /) -> dict[str, npt.NDArray[Any]]:
        """Lay puzzles out column-wise, as the puzzles table of the lake stores them."""

    @abstractmethod
    def from_arrays(self, arrays: Arrays, row: int) -> P:
        """Rebuild the puzzle of one row."""

    @abstractmethod
    def split(self, puzzle: P, ask: Ask, part: Any, into: int) -> list[Any]:
        """Divide a job (part None) or a part into about `into` disjoint parts that make it up.

        Returns a list of one when nothing is left to divide.
        """

    @abstractmethod
    def open_stream(
        self, puzzle: P, part: Any, budget: Budget, limit: int | None, *, first: bool
    ) -> SolutionStream[S]:
        """Make the stream of at most `limit` solutions; with `first` any one will do."""

    def solve_counted(self, puzzle: P, ask: Ask, part: Any, budget: Budget) -> Outcome[S]:
        """Answer one of the asks in `counts`."""
        raise NotImplementedError

    def solution_bytes(self, solution: S) -> int:
        """Estimate a solution's share of a list of solutions."""
        raise NotImplementedError

    def value_of(self, solutions: Sequence[S]) -> int | None:  # noqa: ARG002
        """Return what the best of some solutions is worth; None where nothing is compared."""
        return None

    def in_order(self, puzzle: P, ask: Ask, solutions: list[S]) -> list[S]:  # noqa: ARG002
        """Put the solutions of all parts, given in the order of `split`, in canonical order."""
        return solutions

    def stream(
        self, puzzle: P, ask: Ask, part: Any = None, budget: Budget | None = None
    ) -> SolutionStream[S]:
        """Answer `first` or `all(limit)` one solution at a time.

        Raises PermanentError for another ask.
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
        # The list itself costs time and memory beside the search's.
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
            # Some solutions would pass for all of them.
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

    def merge(self, puzzle: P, ask: Ask, outcomes: Sequence[Outcome[S]]) -> Outcome[S]:
        """Combine the outcomes of all parts into exactly what solving whole would have given."""
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
        """Answer the ask in `batch` for every row, by default one board after the other.

        Returns scalar columns `status` (uint8, index into STATUS_CODES), `count_hi` and
        `count_lo` (uint64), `states`, `nodes`, `kernel_ns`, `table_bytes` (int64) and `reason`
        (uint8, index into `reasons` of the game), and for a game whose outcomes have a value
        `value` (int64, -1 for none). The budget holds for each puzzle by itself. Raises
        PermanentError for another ask.
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
        """Make the columns of `solve_batch`, zero everywhere."""
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
        """Compile or load the kernels, so that the first solve pays for nothing."""

    def warm_rare(self) -> None:
        """Compile or load those that `warm` leaves out, because few boards need them."""

    def warm_rare_once(self) -> None:
        """Call `warm_rare`, once a process: before the clock of a board that needs these starts.

        Compiling takes seconds, which would be recorded as a board over its budget.
        """
        # Other threads wait. What `warm_rare` solves comes here again.
        with _rare_lock:
            if self.name not in _rare_is_warm:
                _rare_is_warm.add(self.name)
                self.warm_rare()

    def layered(self, puzzle: P, budget: Budget) -> LayeredCount | None:  # noqa: ARG002
        """Take up a board to count it by layers, or None where the game or the board has none.

        A part of a job that is counted by layers is `{"layer": L, "buckets": [i, j]}`: all
        solutions whose state in layer L falls into the buckets i to j - 1. `solve` takes such a
        part like any other, from the empty board on; further keys of it are ignored.
        """
        return None

    def cost_s(self, arrays: Arrays, ask: Ask) -> npt.NDArray[np.float64]:  # noqa: ARG002
        """Estimate the seconds that each row will take one core, for planning."""
        import numpy as np

        return np.full(len(arrays["size"]), self.board_s)

    def close_cost_s(self, arrays: Arrays, ask: Ask) -> float | None:  # noqa: ARG002
        """Estimate the seconds that the only row will take, by a closer look than `cost_s` takes.

        None where the game or the board has none. For one job on demand and for small batches: a
        plan of a million boards cannot afford it.
        """
        return None


def over_budget(reason: Reason, statistics: Statistics) -> Outcome[Any]:
    """Make the outcome of a search that ended early."""
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
