"""Budgets of an on-demand job: for one task, for each of its parts, and in total."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nightgrid.archive.lake.schemas import BUDGET_COLUMNS
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.workers.settings import SOLUTION_BYTES, Settings

_TOTALS = ("total_seconds", "total_bytes", "solution_bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobBudget:
    """Budget of a job."""

    part: Budget
    """Limit of one solve: the whole job in one task, or one part of it."""
    total_seconds: float
    """Total kernel time of all parts."""
    total_bytes: int
    """States of a staged count in the lake at once, in bytes."""
    solution_bytes: int = SOLUTION_BYTES
    """Solutions of a listing, in bytes of JSON."""

    @classmethod
    def of(cls, settings: Settings, part: Budget | None = None) -> JobBudget:
        """Return the budget that the settings allow; `part` replaces their limit for one part."""
        return cls(
            part=part or settings.budget,
            total_seconds=settings.ondemand_total_seconds,
            total_bytes=settings.ondemand_total_bytes,
            solution_bytes=settings.budget_solution_bytes,
        )

    def to_row(self, ask: Ask) -> dict[str, Any]:
        """Return it as columns of the result row of a job with this ask."""
        listed = self.solution_bytes if ask.kind == "all" else None
        values = (*self.part.limits.values(), self.total_seconds, self.total_bytes, listed)
        return dict(zip(BUDGET_COLUMNS, values, strict=True))

    def or_more(self, other: JobBudget) -> JobBudget:
        """Return the larger of each limit."""
        limits = other.part.limits
        part = {name: max(most, limits[name]) for name, most in self.part.limits.items()}
        totals = {name: max(getattr(self, name), getattr(other, name)) for name in _TOTALS}
        return JobBudget(part=Budget(**part), **totals)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, as submissions store it."""
        return {"part": self.part.limits, **{name: getattr(self, name) for name in _TOTALS}}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> JobBudget:
        """Parse what `to_json` returns."""
        return cls(**{**value, "part": Budget(**value["part"])})
