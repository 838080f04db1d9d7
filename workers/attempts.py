"""What has happened to the chunks of a run, and which of them may have killed a worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from archive.attempts import Attempts, read_all_attempts, write_attempts
from archive.lake import Lake
from archive.runfiles import ChunkRef, Place
from solvers.reasons import Reason, ReasonCode
from workers.settings import Settings


def poison_reason(failure: Reason, attempts: int) -> Reason:
    """Say why something is poison that failed so often."""
    return Reason(code=failure.code, sentence=f"{failure.sentence} ({attempts} attempts)")


class Record:
    """Failures of chunks, kept in the lake, and suspicion, which follows from them."""

    def __init__(self, lake: Lake, run_id: str, settings: Settings) -> None:
        self._lake = lake
        self._run_id = run_id
        self._settings = settings
        self._attempts = read_all_attempts(lake, run_id)
        self._suspects = {
            place
            for place, attempts in self._attempts.items()
            if attempts.interruptions
            or any(failure.code is ReasonCode.WORKER_LOST for failure in attempts.failures)
        }

    def ref(self, place: Place) -> ChunkRef:
        """Name a chunk with the attempt that counts now."""
        return ChunkRef(
            run_id=self._run_id,
            segment=place[0],
            chunk=place[1],
            attempt=self._of(place).attempt,
        )

    def suspect(self, place: Place) -> None:
        """Remember that a chunk was in a worker that died."""
        self._suspects.add(place)

    def choose(self, ready: Iterable[Place], flying: Collection[Place]) -> Place | None:
        """Choose the next chunk, keeping apart those that may have killed a worker.

        Chunks that were in one worker when it died are all suspect, and most are innocent: no two
        suspects fly at once, and before a suspect is condemned it flies alone.
        """
        suspects = self._suspects.intersection(flying)
        if any(self._has_last_chance(place) for place in suspects):
            return None
        for place in ready:
            if place not in self._suspects:
                return place
            if not suspects and not (flying and self._has_last_chance(place)):
                return place
        return None

    def _has_last_chance(self, place: Place) -> bool:
        attempts = self._of(place)
        return (
            len(attempts.failures) >= self._settings.attempts_max - 1
            or attempts.interruptions >= self._settings.interruptions_max - 1
        )

    def failed(self, place: Place, reason: Reason, *, witnessed: bool) -> bool:
        """Count a failure durably; tell whether it was one too many."""
        old = self._of(place)
        attempts = Attempts(
            attempt=old.attempt + 1,
            failures=(*old.failures, reason) if witnessed else old.failures,
            interruptions=old.interruptions + (0 if witnessed else 1),
        )
        write_attempts(self._lake, self.ref(place), attempts)
        self._attempts[place] = attempts
        return (
            len(attempts.failures) >= self._settings.attempts_max
            or attempts.interruptions >= self._settings.interruptions_max
        )

    def guilt(self, place: Place, reason: Reason, *, witnessed: bool) -> Reason:
        """Say why a row is poison, in words that do not depend on what else was killed."""
        attempts = self._of(place)
        if not witnessed:
            return poison_reason(reason, attempts.interruptions)
        ((usual, _),) = Counter(attempts.failures).most_common(1)
        return poison_reason(usual, len(attempts.failures))

    def _of(self, place: Place) -> Attempts:
        return self._attempts.get(place, Attempts())
