"""Which chunk is sent next, and when one is given up: chunks that may kill workers stand apart.

Chunks that were in one worker when it died are all suspect, and most are innocent: no two suspects
are in flight at once, and before a suspect is given up it is in flight alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.chunks.result_rows import poison_reason
from nightgrid.workers.driver.chunk_states import Chunk
from nightgrid.workers.driver.chunk_table import ChunkTable
from nightgrid.workers.runs.attempts import Attempts
from nightgrid.workers.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How often a chunk is tried."""

    failures: int
    """Failures after which it is given up, whichever they are."""
    interruptions: int
    """The same for times at which it died together with its driver, perhaps innocent."""

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        """Take them from the settings."""
        return cls(failures=settings.attempts_max, interruptions=settings.interruptions_max)

    def are_reached(self, attempts: Attempts) -> bool:
        """Tell whether a chunk is given up."""
        return (
            len(attempts.failures) >= self.failures or attempts.interruptions >= self.interruptions
        )

    def leave_one(self, attempts: Attempts) -> bool:
        """Tell whether a chunk is given up if it fails once more."""
        return (
            len(attempts.failures) >= self.failures - 1
            or attempts.interruptions >= self.interruptions - 1
        )


def choose(table: ChunkTable, ready: Iterable[Chunk], limits: Limits) -> Chunk | None:
    """Choose the next chunk of those that are `ready`; None: none may be sent now."""
    suspects = table.suspects_in_flight()
    if any(limits.leave_one(chunk.attempts) for chunk in suspects):
        return None
    for chunk in ready:
        if not chunk.is_suspect:
            return chunk
        if not suspects and not (table.in_flight and limits.leave_one(chunk.attempts)):
            return chunk
    return None


def after_failure(old: Attempts, reason: Reason) -> Attempts:
    """Count a failure."""
    return replace(old, attempt=old.attempt + 1, failures=(*old.failures, reason))


def after_interruption(old: Attempts) -> Attempts:
    """Count a death together with the driver."""
    return replace(old, attempt=old.attempt + 1, interruptions=old.interruptions + 1)


def poison_reason_of(attempts: Attempts, limits: Limits) -> Reason:
    """Say why a row is poison, in words that do not depend on what else was killed."""
    if len(attempts.failures) < limits.failures:
        return poison_reason(Reason(code=ReasonCode.INTERRUPTED), attempts.interruptions)
    ((usual, _),) = Counter(attempts.failures).most_common(1)
    return poison_reason(usual, len(attempts.failures))
