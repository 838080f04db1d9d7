"""What a driver has counted of its run: chunks, rows, states and expected seconds."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable

from archive.runfiles import Place, Run
from workers.executors import Flight
from workers.pace import Progress


class Tally:
    """Counts of the chunks of a run, and of those that are done."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._states_of: dict[Place, int] = {}
        self._states = 0
        self._expected_total_s = self._expected_done_s = 0.0
        self._chunks_total = self._chunks_done = 0
        self._rows_total = self._rows_done = 0

    def join(self, run: Run, places: Collection[Place]) -> None:
        """Count in chunks that are to be worked."""
        self._chunks_total += len(places)
        self._rows_total += sum(map(run.rows, places))
        self._expected_total_s += sum(_expected_s(run, place) for place in places)

    def leave(self, run: Run, place: Place) -> None:
        """Count out a chunk that was broken up."""
        self._chunks_total -= 1
        self._rows_total -= run.rows(place)
        self._expected_total_s -= _expected_s(run, place)

    def land(self, run: Run, places: Iterable[Place]) -> None:
        """Count chunks as done."""
        for place in places:
            self._chunks_done += 1
            self._rows_done += run.rows(place)
            self._expected_done_s += _expected_s(run, place)

    def reopen(self, run: Run, place: Place) -> None:
        """Count a chunk as done no more."""
        self._chunks_done -= 1
        self._rows_done -= run.rows(place)
        self._expected_done_s -= _expected_s(run, place)

    def read(self, place: Place, states: int) -> None:
        """Count the states that a chunk has kept, however often it is read."""
        self._states += states - self._states_of.get(place, 0)
        self._states_of[place] = states

    def progress(self, run: Run, flights: Collection[Flight], failures: int) -> Progress:
        """Say how far the run is."""
        now = time.monotonic()
        sent = min((flight.submitted_at for flight in flights), default=None)
        return Progress(
            run_id=run.run_id,
            chunks_done=self._chunks_done,
            chunks_total=self._chunks_total,
            rows_done=self._rows_done,
            rows_total=self._rows_total,
            in_flight=len(flights),
            failures=failures,
            seconds=now - self._begun,
            states=self._states,
            expected_done_s=self._expected_done_s,
            expected_total_s=self._expected_total_s,
            oldest_seconds=None if sent is None else now - sent,
            planned_share=_planned_share(run),
        )


def _expected_s(run: Run, place: Place) -> float:
    """Say what the planner expected of a chunk; nothing of what came back split."""
    expected_s = run.expected_s(place)
    return expected_s if math.isfinite(expected_s) else 0.0


def _planned_share(run: Run) -> float:
    """Say which share of the puzzles is planned, as far as anybody knows how many there are."""
    if run.planned or not run.puzzle_count:
        return 1.0
    planned = sum(sum(s.chunk_rows) for s in run.segments if s.kind == "plan")
    return min(1.0, planned / run.puzzle_count)
