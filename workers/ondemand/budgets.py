"""What an on-demand job may cost: in one task, in each of its parts, and all of it together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nightgrid.archive.lake.tables import BUDGET_COLUMNS
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.workers.settings import SOLUTION_BYTES, Settings

UNBOUNDED_BYTES = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class JobBudget:
    """What a job may cost. Raises PermanentError for totals that are not more than 0."""

    part: Budget
    """What one solve may spend: the whole job in one task, or one part of it."""
    total_seconds: float
    """Kernel time of all parts together."""
    total_bytes: int
    """States of a staged count that lie in the lake at once."""
    solution_bytes: int = SOLUTION_BYTES
    """Solutions of a listing, as JSON."""

    def __post_init__(self) -> None:
        for name in ("total_seconds", "total_bytes", "solution_bytes"):
            value = getattr(self, name)
            if not value > 0:
                raise PermanentError(f"a job's {name} is {value}; expected more than 0")

    @classmethod
    def of(cls, settings: Settings, part: Budget | None = None) -> JobBudget:
        """Take what the settings allow; `part` in the place of their budget."""
        return cls(
            part=part or settings.budget,
            total_seconds=settings.ondemand_total_seconds,
            total_bytes=settings.ondemand_total_bytes,
            solution_bytes=settings.budget_solution_bytes,
        )

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> JobBudget | None:
        """Read what the job of a result row could spend; None where the row does not say.

        Bytes of solutions count where they are what ran out: no other end depends on them.
        """
        nodes, table_bytes, seconds, *totals, listed = (row[name] for name in BUDGET_COLUMNS)
        is_long = row["reason_code"] == ReasonCode.SOLUTION_BYTES
        if nodes is None or (is_long and listed is None):
            return None
        return cls(
            part=Budget(nodes=nodes, table_bytes=table_bytes, seconds=seconds),
            # A night and a count have no totals.
            total_seconds=math.inf if totals[0] is None else totals[0],
            total_bytes=UNBOUNDED_BYTES if totals[1] is None else totals[1],
            solution_bytes=listed if is_long else UNBOUNDED_BYTES,
        )

    def to_row(self, ask: Ask) -> dict[str, Any]:
        """Write it as columns of a result row of a job that asks this."""
        listed = self.solution_bytes if ask.kind == "all" else None
        values = (*self.part.limits.values(), self.total_seconds, self.total_bytes, listed)
        return dict(zip(BUDGET_COLUMNS, values, strict=True))

    def covers(self, other: JobBudget) -> bool:
        """Return whether nothing of the other is larger."""
        return self == self.or_more(other)

    def or_more(self, other: JobBudget) -> JobBudget:
        """Take the larger of each."""
        return JobBudget(
            part=Budget(
                nodes=max(self.part.nodes, other.part.nodes),
                table_bytes=max(self.part.table_bytes, other.part.table_bytes),
                seconds=max(self.part.seconds, other.part.seconds),
            ),
            total_seconds=max(self.total_seconds, other.total_seconds),
            total_bytes=max(self.total_bytes, other.total_bytes),
            solution_bytes=max(self.solution_bytes, other.solution_bytes),
        )

    def to_json(self) -> dict[str, Any]:
        """Write it as records keep it: the budget of a part as messages have it, and the totals."""
        totals = {
            "seconds": self.total_seconds,
            "bytes": self.total_bytes,
            "solution_bytes": self.solution_bytes,
        }
        return {"budget": self.part.limits, "total": totals}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> JobBudget:
        """Read it as `to_json` writes it. Raises PermanentError for anything else."""
        try:
            total = value["total"]
            return cls(
                part=Budget(**value["budget"]),
                total_seconds=float(total["seconds"]),
                total_bytes=int(total["bytes"]),
                solution_bytes=int(total["solution_bytes"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise PermanentError(f"budget or total is none: {error!r:.80}") from error
