"""The values of the solver contract: ask, budget, status, outcome, solutions."""

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
    # Help, asks and plugs need this module without NumPy, which takes longer to import.
    import numpy.typing as npt

    from nightgrid.solvers.stop import Stop

MAX_COUNT = 10**38 - 1
"""The largest count of an outcome: what decimal128(38, 0) stores in the lake."""

MAX_BUDGET = 2**62
"""The largest nodes or table bytes of a budget: kernels count in 64 bits."""
MAX_BUDGET_S = 1e9

AskKind = Literal["first", "best", "all", "count", "meant"]
MEANT_MAX = 100
"""Most solutions that are compared by how likely each was meant: the largest k of `meant(k)`."""
Arrays: TypeAlias = "Mapping[str, npt.NDArray[Any]]"
"""Columns of many puzzles or outcomes. A list column NAME is two arrays, NAME.values and
NAME.offsets (rows + 1 integers); a scalar column is one array called NAME."""


class Status(enum.StrEnum):
    """How a job ended."""

    SOLVED = "solved"
    """At least one solution exists (and, for `count` and `all`, the count is complete)."""
    UNSOLVABLE = "unsolvable"
    """Proven to have no solution."""
    OVER_BUDGET = "over_budget"
    """The budget or a capacity of the solver ran out first; the reason says which."""
    INVALID = "invalid"
    """The puzzle breaks a rule of its game."""
    POISON = "poison"
    """Its workers died or failed as often as attempts are allowed."""


STATUS_CODES: tuple[Status, ...] = tuple(Status)
"""Maps the uint8 codes of status columns of `solve_batch` to statuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """The kind of answer: `first`, `best(k)`, `all(limit)`, `count` or `meant(k)`."""

    kind: AskKind
    limit: int | None = None
    """For `all`, the maximum number of solutions (None: unlimited); for `best` and `meant`, k; else
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
        """Parse an ask as formatted by `str(ask)`; "meant" alone means the largest k.

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
    """Limits of one solve. A kernel that exceeds them returns; it never hangs or swaps."""

    nodes: int = 10**12
    """Transitions tried."""
    table_bytes: int = 2 * 1024**3
    """Memory for states, tables and their index."""
    seconds: float = 90.0
    """Wall time inside the kernel."""
    stop: Stop | None = field(default=None, compare=False, repr=False)
    """Lets another thread stop the solve; not a limit, and never serialised."""

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
        """Return its limits as JSON values, from which the budget can be rebuilt."""
        return {"nodes": self.nodes, "table_bytes": self.table_bytes, "seconds": self.seconds}

    @property
    def stop_address(self) -> int:
        """Address of the flag that kernels poll (see Stop.address); 0 for none."""
        return 0 if self.stop is None else self.stop.address

    @property
    def stopped(self) -> ReasonCode | None:
        """The reason set by another thread to stop its solves, if any."""
        return None if self.stop is None else self.stop.reason_code

    def deadline_ns(self) -> int:
        """Return the deadline, on the monotonic clock, of a solve that starts now."""
        return time.monotonic_ns() + int(self.seconds * 1e9)

    def is_over(self, deadline_ns: int) -> bool:
        """Return whether the deadline has passed, or the solve was stopped."""
        return self.stopped is not None or time.monotonic_ns() > deadline_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Cost of a solve. Adds up over parts, except `table_bytes`, which is the maximum."""

    states: int = 0
    """Distinct states kept."""
    nodes: int = 0
    """Transitions tried."""
    kernel_ns: int = 0
    """Wall nanoseconds inside kernels, compilation excluded."""
    table_bytes: int = 0
    """Peak memory of states, tables and index."""
    engine: str = ""
    """Names of the searches used, joined by "+" if parts used different ones; "" if the game has
    only one."""

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(
            states=self.states + other.states,
            nodes=self.nodes + other.nodes,
            kernel_ns=self.kernel_ns + other.kernel_ns,
            table_bytes=max(self.table_bytes, other.table_bytes),
            engine="+".join(sorted({*self.engine.split("+"), *other.engine.split("+")} - {""})),
        )


COST_COLUMNS = ("states", "nodes", "kernel_ns", "table_bytes")
"""The numeric fields of Statistics, in rows of parts and results."""

S = TypeVar("S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[S]):
    """The result of one solve."""

    status: Status
    count: int | None = None
    """`count` and `best`: the exact number of all solutions, which a search for the best counts
    too, except in Tiles. Otherwise the number of solutions returned. None if over budget, invalid
    or poison."""
    solutions: tuple[S, ...] = ()
    """In the solver's canonical order; empty for `count`."""
    truncated: bool = False
    """True when `all(limit)` stopped at its limit and more solutions may exist."""
    statistics: Statistics = field(default_factory=Statistics)
    reason_code: ReasonCode | None = None
    """Machine-readable reason of over_budget, invalid or poison; else None."""
    reason: str = ""
    """The reason as a sentence, by default that of the code; empty if there is none."""
    value: int | None = None
    """Value of the best solution in a game that minimises something: the words or letters of a
    chain, the moves of a board of Tiles. Only the parts of a job with the lowest value count. None
    if the game or the ask compares nothing, or nothing was found."""
    value_at_least: int | None = None
    """Bounds from a search for the lowest value that ended early: no solution is below this,"""
    value_at_most: int | None = None
    """and one with this value was found. None if unknown."""

    def __post_init__(self) -> None:
        if self.reason_code is None:
            if self.reason:
                raise PermanentError(f"an outcome has a reason without a code: {self.reason}")
        elif not self.reason:
            object.__setattr__(self, "reason", self.reason_code.sentence)


def failure_of(outcomes: Sequence[Outcome[Any]]) -> Outcome[Any] | None:
    """Return the outcome of a job with an unanswered part; None if every part is answered.

    The worst status decides: poison, then invalid, then over budget; the reason is that of the
    first such part. Parts skipped because of another part yield to that one.
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
    """Solutions in canonical order; its attributes are final once it ends.

    Subclasses implement the search in `found`, and report its cost.
    """

    limit: int | None = None
    """Maximum number of solutions; None: unlimited."""
    first = False
    """Whether any solution will do; then `limit` is 1, and the search stops at the first."""
    status = Status.UNSOLVABLE
    reason_code: ReasonCode | None = None
    reason = ""
    truncated = False
    """Whether there may be more solutions than the limit."""
    skip = 0
    """Number of solutions to skip before the first."""
    stop: Stop | None = None
    """Lets another thread stop it, like that of the budget."""

    @property
    @abstractmethod
    def statistics(self) -> Statistics:
        """Cost of the stream so far."""

    @abstractmethod
    def found(self) -> Iterator[S]:
        """Yield one solution after the other. Raises BudgetSpentError."""

    def found_after(self, skip: int) -> Iterator[S]:
        """Yield the solutions after the first `skip`. Raises BudgetSpentError."""
        return islice(self.found(), skip, None)

    def __iter__(self) -> Iterator[S]:
        """Search for the next solution on demand."""
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
        """Record why the search ended early."""
        self.status = Status.OVER_BUDGET
        self.reason_code, self.reason = reason.code, reason.sentence


def count_of(hi: int, lo: int) -> int:
    """Join the two 64-bit halves of a kernel's count."""
    return (int(hi) << 64) | int(lo)
