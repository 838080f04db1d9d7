"""What a driver has counted of its run: chunks, jobs, states and expected seconds."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from archive.lake import Lake
from archive.runfiles import NO_JOBS, Place, Run, done_places, open_run, read_expanded
from workers.executors import Flight
from workers.expansion import GROWTH_COLUMNS, Growth, PartOf, read_parts_of, went_on
from workers.pace import Begun, Progress


@dataclass(frozen=True, slots=True)
class _Read:
    """What the part of a chunk has told."""

    answered: int = 0
    states: int = 0
    kernel_ns: int = 0


class Tally:
    """Counts of the chunks of a run, and of those that are done.

    A job that was worked whole is done with the chunk that has its answer, a divided one when no
    part of it is open, or when one is lost for good.
    """

    def __init__(self, run: Run, places: Collection[Place], parts: Mapping[Place, PartOf]) -> None:
        self._begun = time.monotonic()
        self._read: dict[Place, _Read] = {}
        self._answered = self._states = self._kernel_ns = 0
        self._expected_total_s = self._expected_done_s = 0.0
        self._chunks_total = self._chunks_done = 0
        self._foreseen_total = self._foreseen_done = 0
        self._job_of: dict[Place, int] = {}
        self._open: dict[int, set[Place]] = {}
        """Parts of each divided job whose outcome is missing; those that went on are not."""
        self._lost: set[int] = set()
        self._divided_done: set[int] = set()
        self._siblings = 0
        """Rows of the plan that are parts of a job, but for one of each."""
        self.know(run, parts)
        self.join(run, places)

    def join(self, run: Run, places: Collection[Place]) -> None:
        """Count in chunks that are to be worked: those that they continue went on."""
        self._chunks_total += len(places)
        for place in places:
            self._foreseen_total += _is_foreseen(run, place)
            self._expected_total_s += _expected_s(run, place)
        for number in {number for number, _ in places}:
            for origin in run.segments[number].origins:
                self._close(origin)

    def know(self, run: Run, parts: Mapping[Place, PartOf]) -> None:
        """Take note of the parts of jobs that a segment has brought."""
        for place, part in parts.items():
            planned = run.segments[place[0]].kind == "plan"
            self._siblings += planned and part.job in self._open
            self._job_of[place] = part.job
            self._open.setdefault(part.job, set()).add(place)
            self._divided_done.discard(part.job)

    def leave(self, run: Run, place: Place) -> None:
        """Count out a chunk that was broken up."""
        self._chunks_total -= 1
        self._foreseen_total -= _is_foreseen(run, place)
        self._expected_total_s -= _expected_s(run, place)

    def land(self, run: Run, places: Iterable[Place]) -> None:
        """Count chunks as done."""
        for place in places:
            self._chunks_done += 1
            self._foreseen_done += _is_foreseen(run, place)
            self._expected_done_s += _expected_s(run, place)

    def reopen(self, run: Run, place: Place) -> None:
        """Count a chunk as done no more: the job that it is a part of was not done."""
        self._chunks_done -= 1
        self._foreseen_done -= _is_foreseen(run, place)
        self._expected_done_s -= _expected_s(run, place)

    def read(self, place: Place, more: Growth) -> None:
        """Count what the part of a chunk tells, however often it is read."""
        old, new = self._read.get(place, _Read()), _Read(more.answered, more.states, more.kernel_ns)
        self._read[place] = new
        self._answered += new.answered - old.answered
        self._states += new.states - old.states
        self._kernel_ns += new.kernel_ns - old.kernel_ns
        if place in self._job_of and more.lost:
            self._lost.add(self._job_of[place])
        if not more.chunks and (more.carried is None or more.lost):
            self._close(place)

    def _close(self, place: Place) -> None:
        """Take note of a part that has its outcome, or goes on in others."""
        job = self._job_of.get(place)
        if job is None:
            return
        self._open[job].discard(place)
        if not self._open[job] or job in self._lost:
            self._divided_done.add(job)

    def progress(
        self, run: Run, flights: Collection[Flight], processes: int, failures: int
    ) -> Progress:
        """Say how far the run is."""
        now = time.monotonic()
        sent = min((flight.submitted_at for flight in flights), default=None)
        jobs_total = run.job_count
        planned_share = 1.0
        if not run.planned:
            rows = sum(sum(s.chunk_rows) for s in run.segments if s.kind == "plan")
            jobs_total = rows - self._siblings
            if run.puzzle_count:
                planned_share = min(1.0, jobs_total / run.puzzle_count)
        return Progress(
            run_id=run.run_id,
            chunks_done=self._chunks_done,
            chunks_total=self._chunks_total,
            jobs_done=self._answered + len(self._divided_done),
            jobs_total=jobs_total,
            in_flight=len(flights),
            failures=failures,
            seconds=now - self._begun,
            processes=processes,
            states=self._states,
            kernel_s=self._kernel_ns / 1e9,
            expected_done_s=self._expected_done_s,
            expected_total_s=self._expected_total_s,
            foreseen_done=self._foreseen_done,
            unforeseen_left=self._chunks_total
            - self._foreseen_total
            - (self._chunks_done - self._foreseen_done),
            begun=[
                Begun(elapsed_s=now - flight.seen_at, expected_s=_expected_s(run, flight.ref.place))
                for flight in flights
                if flight.start is not None
            ],
            oldest_seconds=None if sent is None else now - sent,
            planned_share=planned_share,
        )


def look(lake: Lake, run_id: str, processes: int = 1) -> Progress:
    """Look how far a run is, whoever works it: a read of each part that is there.

    Raises PermanentError for a run that the lake does not have.
    """
    run = open_run(lake, run_id)
    refs = run.chunks()
    tally = Tally(run, [ref.place for ref in refs], read_parts_of(lake, run))
    expanded = read_expanded(lake, run)
    done = done_places(lake, run_id)
    for ref in refs:
        if ref.place in done:
            tally.land(run, [ref.place])
            known = expanded.get(ref.place, NO_JOBS)
            tally.read(ref.place, went_on(lake, ref, known, GROWTH_COLUMNS))
    return tally.progress(run, [], processes, failures=0)


def _is_foreseen(run: Run, place: Place) -> bool:
    """Tell whether the planner has said what a chunk takes."""
    return bool(run.segments[place[0]].chunk_cost_s)


def _expected_s(run: Run, place: Place) -> float:
    """Say what the planner expected of a chunk; nothing of what came back split."""
    expected_s = run.expected_s(place)
    return expected_s if math.isfinite(expected_s) else 0.0
