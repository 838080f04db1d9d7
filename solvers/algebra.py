"""The contract that everything which solves obeys: ask, budget, outcome, split, solve, merge."""

from __future__ import annotations

import enum
import hashlib
import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.layered_count import LayeredCount
from nightgrid.solvers.ranged_search import RangedSearch
from nightgrid.solvers.reasons import BudgetSpentError, Reason, ReasonCode

if TYPE_CHECKING:
    # Help, asks and plugs need this module, and no NumPy, which takes longer than they.
    import numpy as np
    import numpy.typing as npt

    from nightgrid.solvers.stop import Stop

MAX_COUNT = 10**38 - 1
"""The largest count an outcome can hold: what decimal128(38, 0) stores in the lake."""

MAX_BUDGET = 2**62
"""The most nodes or table bytes that a budget can name: kernels count in 64 bits."""
MAX_BUDGET_S = 1e9

ID_HEX_DIGITS = 32
"""Length of puzzle_id and job_id: 128 bits of a SHA-256, in hexadecimal."""

AskKind = Literal["first", "best", "all", "count"]
Arrays: TypeAlias = "Mapping[str, npt.NDArray[Any]]"
"""Columns of many puzzles or outcomes. A list column NAME is two arrays, NAME.values and
NAME.offsets (rows + 1 integers); a scalar column is one array called NAME."""


class Status(enum.StrEnum):
    """How a job ended."""

    SOLVED = "solved"
    """At least one solution exists (and, for `count` and `all`, the count is complete)."""
    UNSOLVABLE = "unsolvable"
    """Proven: there is no solution."""
    OVER_BUDGET = "over_budget"
    """The budget or a capacity of the solver ran out first; the reason says which."""
    INVALID = "invalid"
    """The puzzle breaks a rule of its game."""
    POISON = "poison"
    """Working on it killed its worker more often than the cap on attempts allows."""


STATUS_CODES: tuple[Status, ...] = tuple(Status)
"""Index = the uint8 by which status columns of `solve_batch` name a status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is wanted of a puzzle: `first`, `best(k)`, `all(limit)` or `count`."""

    kind: AskKind
    limit: int | None = None
    """For `all`, the most solutions wanted (None: every one); for `best`, k; else None."""

    def __post_init__(self) -> None:
        if self.kind in ("first", "count") and self.limit is not None:
            raise PermanentError(f"ask {self.kind!r} takes no limit, got {self.limit}")
        if self.kind == "best" and self.limit is None:
            raise PermanentError("ask 'best' needs a limit: best(k) with k >= 1")
        if self.limit is not None and self.limit < 1:
            raise PermanentError(f"ask limit is {self.limit}; expected at least 1")

    def __str__(self) -> str:
        return self.kind if self.limit is None else f"{self.kind}({self.limit})"

    @classmethod
    def parse(cls, text: str) -> Ask:
        """Read an ask as `str(ask)` writes it.

        Raises PermanentError on anything else.
        """
        match = re.fullmatch(r"(first|best|all|count)(?:\((\d{1,9})\))?", text)
        if match is None:
            raise PermanentError(
                f"unknown ask {text!r}; expected first, count, all, all(LIMIT) or best(K)"
            )
        kind, limit = match.groups()
        return cls(kind=kind, limit=None if limit is None else int(limit))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much one solve may spend. A kernel that runs out returns; it never hangs or swaps."""

    nodes: int = 10**12
    """Transitions tried."""
    table_bytes: int = 2 * 1024**3
    """Memory for states, tables and their index."""
    seconds: float = 90.0
    """Wall time inside the kernel."""
    stop: Stop | None = field(default=None, compare=False, repr=False)
    """Ends the solve from another thread; it is no limit, and travels nowhere."""

    def __post_init__(self) -> None:
        for what, value, most in (
            ("nodes", self.nodes, MAX_BUDGET),
            ("table_bytes", self.table_bytes, MAX_BUDGET),
            ("seconds", self.seconds, MAX_BUDGET_S),
        ):
            if not 0 < value <= most:
                raise PermanentError(
                    f"a budget's {what} is {value}; expected more than 0 and at most {most}"
                )

    @property
    def limits(self) -> dict[str, Any]:
        """Name its limits as JSON values, from which a budget can be made again."""
        return {"nodes": self.nodes, "table_bytes": self.table_bytes, "seconds": self.seconds}

    @property
    def stop_address(self) -> int:
        """Where kernels look whether they are to stop (see Stop.address); 0 for nowhere."""
        return 0 if self.stop is None else self.stop.address

    @property
    def stopped(self) -> ReasonCode | None:
        """Why its solves are to end, if another thread said so."""
        return None if self.stop is None else self.stop.reason_code

    def deadline_ns(self) -> int:
        """Tell when its seconds are over if they begin now, on the monotonic clock."""
        return time.monotonic_ns() + int(self.seconds * 1e9)

    def is_over(self, deadline_ns: int) -> bool:
        """Tell whether a deadline of `deadline_ns` has passed, or a solve is to stop."""
        return self.stopped is not None or time.monotonic_ns() > deadline_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """What a solve cost. Sums over parts, except `table_bytes`, which is the largest."""

    states: int = 0
    """Distinct states kept."""
    nodes: int = 0
    """Transitions tried."""
    kernel_ns: int = 0
    """Wall nanoseconds inside kernels, compilation excluded."""
    table_bytes: int = 0
    """Peak memory of states, tables and index."""
    engine: str = ""
    """Which searches took the board, by name, joined by "+" where parts went to different ones;
    "" where the game has one only."""

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(
            states=self.states + other.states,
            nodes=self.nodes + other.nodes,
            kernel_ns=self.kernel_ns + other.kernel_ns,
            table_bytes=max(self.table_bytes, other.table_bytes),
            engine="+".join(sorted({*self.engine.split("+"), *other.engine.split("+")} - {""})),
        )


COST_COLUMNS = ("states", "nodes", "kernel_ns", "table_bytes")
"""The numbers of Statistics, as rows of parts and results have them."""

P = TypeVar("P")
S = TypeVar("S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[S]):
    """How one solve ended."""

    status: Status
    count: int | None = None
    """`count` and `best`: the exact number of all solutions, which a search for the best has
    counted; Tiles alone counts nothing. Elsewhere the number of solutions returned. None when over
    budget, invalid or poison."""
    solutions: tuple[S, ...] = ()
    """In the solver's canonical order; empty for `count`."""
    truncated: bool = False
    """True when `all(limit)` stopped at its limit and more solutions may exist."""
    statistics: Statistics = field(default_factory=Statistics)
    reason_code: ReasonCode | None = None
    """Why it is over_budget, invalid or poison, for programs; else None."""
    reason: str = ""
    """The same in one sentence for people: that of the code where none is given; else empty."""
    value: int | None = None
    """What the best solution is worth in a game that asks for the fewest of something: the words
    or letters of a chain, the moves of a board of tiles. Only those parts of a job count that
    have the lowest value. None where the game or the ask compares nothing, or nothing was found."""
    value_at_least: int | None = None
    """After a search for the lowest value that ended early: no solution is worth less;"""
    value_at_most: int | None = None
    """and one was found that is worth this. None where that is not known."""

    def __post_init__(self) -> None:
        if self.reason_code is None:
            if self.reason:
                raise PermanentError(f"an outcome has a reason without a code: {self.reason}")
        elif not self.reason:
            object.__setattr__(self, "reason", self.reason_code.sentence)


def failure_of(outcomes: Sequence[Outcome[Any]]) -> Outcome[Any] | None:
    """Make the outcome of a job of which a part has no answer; None if every part has one.

    The worst status decides: poison, then invalid, then over budget; the reason is that of the
    first such part. A part that was not worked because of another one gives way to that one.
    """
    for status in (Status.POISON, Status.INVALID, Status.OVER_BUDGET):
        failed = [outcome for outcome in outcomes if outcome.status is status]
        worked = [o for o in failed if o.reason_code is not ReasonCode.UNRECOVERABLE_JOB]
        for outcome in worked or failed:
            return Outcome(
                status=status,
                statistics=sum((o.statistics for o in outcomes), Statistics()),
                reason_code=outcome.reason_code,
                reason=outcome.reason,
            )
    return None


class SolutionStream(ABC, Generic[S]):
    """Solutions in canonical order; what it says of itself is final once it ends.

    A stream says in `found` how they are searched for, and what they have cost.
    """

    limit: int | None = None
    """The most solutions wanted; None for every one."""
    first = False
    """Whether any solution will do: then `limit` is 1, and no other one is looked for."""
    status = Status.UNSOLVABLE
    reason_code: ReasonCode | None = None
    reason = ""
    truncated = False
    """Whether there may be more solutions than were wanted."""
    skip = 0
    """So many solutions are left out before the first that is wanted."""
    stop: Stop | None = None
    """What ends it from another thread, as that of the budget."""

    @property
    @abstractmethod
    def statistics(self) -> Statistics:
        """What the stream has cost so far."""

    @abstractmethod
    def found(self) -> Iterator[S]:
        """Search for one solution after the other. Raises BudgetSpentError."""

    def found_after(self, skip: int) -> Iterator[S]:
        """Search for the solutions behind the first `skip`. Raises BudgetSpentError."""
        return islice(self.found(), skip, None)

    def __iter__(self) -> Iterator[S]:
        """Search for the next solution when it is asked for."""
        try:
            found = self.found_after(self.skip) if self.skip else self.found()
            for solution in islice(found, self.limit):
                self.status = Status.SOLVED
                yield solution
            if self.first:
                self.truncated = self.status is Status.SOLVED
            elif self.limit is not None:
                self.truncated = next(found, None) is not None
        except BudgetSpentError as error:
            self.end(Reason(code=error.reason_code))
        if self.reason_code is ReasonCode.SECONDS and self.stop is not None:
            self.reason_code = self.stop.reason_code or self.reason_code
            self.reason = self.reason_code.sentence

    def end(self, reason: Reason) -> None:
        """Note why the search ended early."""
        self.status = Status.OVER_BUDGET
        self.reason_code, self.reason = reason.code, reason.sentence


class Game(Protocol[P, S]):
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
    parts_in_order: bool
    """Whether the parts of `split` for `all` are ranges of the canonical order, one behind the
    other: the streams of all parts, joined, are the stream of the whole."""

    def puzzle_from_json(self, value: object) -> P:
        """Validate a JSON value into a puzzle, or raise InvalidPuzzleError."""

    def puzzle_to_json(self, puzzle: P) -> dict[str, Any]:
        """Write a puzzle in its canonical form."""

    def puzzle_id(self, puzzle: P) -> str:
        """Hash the canonical form."""

    def solution_to_json(self, solution: S) -> Any:
        """Write a solution as a JSON value."""

    def solution_text(self, solution: S) -> str:
        """Write that JSON value as the lake has it: as a text without spaces."""

    def solution_from_json(self, value: Any) -> S:
        """Read a solution as `solution_to_json` writes it."""

    def value_of(self, solutions: Sequence[S]) -> int | None:
        """Tell what the best of some solutions is worth; None where nothing is compared."""

    def split(self, puzzle: P, ask: Ask, part: Any, into: int) -> list[Any]:
        """Divide a job (part None) or a part into about `into` disjoint parts that make it up.

        Returns a list of one when nothing is left to divide.
        """

    def solve(
        self, puzzle: P, ask: Ask, part: Any = None, budget: Budget | None = None
    ) -> Outcome[S]:
        """Answer the ask for the whole puzzle (part None) or for one part of it."""

    def stream(
        self, puzzle: P, ask: Ask, part: Any = None, budget: Budget | None = None
    ) -> SolutionStream[S]:
        """Answer `first` or `all(limit)` one solution at a time.

        Raises PermanentError for another ask.
        """

    def merge(self, puzzle: P, ask: Ask, outcomes: Sequence[Outcome[S]]) -> Outcome[S]:
        """Combine the outcomes of all parts into exactly what solving whole would have given."""

    def to_arrays(self, puzzles: Sequence[P]) -> dict[str, npt.NDArray[Any]]:
        """Lay puzzles out column-wise, as the puzzles table of the lake stores them."""

    def from_arrays(self, arrays: Arrays, row: int) -> P:
        """Rebuild the puzzle of one row."""

    def solve_batch(self, arrays: Arrays, ask: Ask, budget: Budget) -> dict[str, npt.NDArray[Any]]:
        """Answer `count` for every row; Tiles, which does not count, `first`, without the walks.

        Returns scalar columns `status` (uint8, index into STATUS_CODES), `count_hi` and
        `count_lo` (uint64), `states`, `nodes`, `kernel_ns`, `table_bytes` (int64) and `reason`
        (uint8, index into `reasons` of the game), and for a game whose outcomes have a value
        `value` (int64, -1 for none). The budget holds for each puzzle by itself.
        """

    def layered(self, puzzle: P, budget: Budget) -> LayeredCount | None:
        """Take up a board to count it by layers, or None where the game or the board has none.

        A part of a job that is counted by layers is `{"layer": L, "buckets": [i, j]}`: all
        solutions whose state in layer L falls into the buckets i to j - 1. `solve` takes such a
        part like any other, from the empty board on; further keys of it are ignored.
        """

    def ranged(self, puzzle: P, ask: Ask, budget: Budget) -> RangedSearch[S] | None:
        """Take a job up range by range, so that idle processes can take ranges off its hands.

        None where the game has no ranges that cost little more than the whole, or the board cannot
        be searched: solving it gives the reason. Raises BudgetSpentError.
        """

    def cost_s(self, arrays: Arrays, ask: Ask) -> npt.NDArray[np.float64]:
        """Estimate the seconds that each row will take one core, for planning."""

    def features(self, arrays: Arrays) -> tuple[tuple[str, ...], npt.NDArray[np.float64]]:
        """Say of each row what may make it cheap or expensive beside what `cost_s` knows.

        Returns the names of the features, and their values, (rows, features): cheap to tell from
        the columns alone, and roughly in proportion to the logarithm of the time.
        """

    def warm(self) -> None:
        """Compile or load the kernels, so that the first solve pays for nothing."""

    def warm_rare(self) -> None:
        """Compile or load those that `warm` leaves out, because few boards need them."""


def digest(*fields: str) -> str:
    """Hash fields, unambiguously separated, into ID_HEX_DIGITS hexadecimal digits."""
    text = json.dumps(fields, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:ID_HEX_DIGITS]


def canonical_json(value: object) -> str:
    """Write a JSON value with sorted keys and no spaces."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def count_of(hi: int, lo: int) -> int:
    """Join the two 64-bit halves in which kernels keep a count."""
    return (int(hi) << 64) | int(lo)
