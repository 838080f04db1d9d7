"""The values of the contract that all solving obeys: ask, budget, status, outcome, solutions."""

from __future__ import annotations

import enum
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reasons import BudgetSpentError, Reason, ReasonCode

if TYPE_CHECKING:
    # Help, asks and plugs need this module, and no NumPy, which takes longer than they.
    import numpy.typing as npt

    from nightgrid.solvers.stop import Stop

MAX_COUNT = 10**38 - 1
"""The largest count an outcome can hold: what decimal128(38, 0) stores in the lake."""

MAX_BUDGET = 2**62
"""The most nodes or table bytes that a budget can name: kernels count in 64 bits."""
MAX_BUDGET_S = 1e9

AskKind = Literal["first", "best", "all", "count", "meant"]
MEANT_MAX = 100
"""Solutions that are compared to tell which of them was meant: the largest k of `meant(k)`."""
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
    """What is wanted of a puzzle: `first`, `best(k)`, `all(limit)`, `count` or `meant(k)`."""

    kind: AskKind
    limit: int | None = None
    """For `all`, the most solutions wanted (None: every one); for `best` and `meant`, k; else
    None."""

    def __post_init__(self) -> None:
        if self.kind in ("first", "count") and self.limit is not None:
            raise PermanentError(f"ask {self.kind!r} takes no limit, got {self.limit}")
        if self.kind in ("best", "meant") and self.limit is None:
            raise PermanentError(f"ask {self.kind!r} needs a limit: {self.kind}(k) with k >= 1")
        if self.limit is not None and self.limit < 1:
            raise PermanentError(f"ask limit is {self.limit}; expected at least 1")
        if self.kind == "meant" and (self.limit or 0) > MEANT_MAX:
            raise PermanentError(f"ask is {self}; expected at most meant({MEANT_MAX})")

    def __str__(self) -> str:
        return self.kind if self.limit is None else f"{self.kind}({self.limit})"

    @classmethod
    def parse(cls, text: str) -> Ask:
        """Read an ask as `str(ask)` writes it; "meant" alone has the largest k.

        Raises PermanentError on anything else.
        """
        match = re.fullmatch(r"(first|best|all|count|meant)(?:\((\d{1,9})\))?", text)
        if match is None:
            raise PermanentError(
                f"unknown ask {text!r}; expected first, count, all, all(LIMIT), best(K) or meant(K)"
            )
        kind, limit = match.groups()
        if kind == "meant" and limit is None:
            return MEANT
        return cls(kind=kind, limit=None if limit is None else int(limit))  # type: ignore[arg-type]


MEANT = Ask(kind="meant", limit=MEANT_MAX)


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
        """Return when its seconds are over if they begin now, on the monotonic clock."""
        return time.monotonic_ns() + int(self.seconds * 1e9)

    def is_over(self, deadline_ns: int) -> bool:
        """Return whether a deadline of `deadline_ns` has passed, or a solve is to stop."""
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


def count_of(hi: int, lo: int) -> int:
    """Join the two 64-bit halves in which kernels keep a count."""
    return (int(hi) << 64) | int(lo)
