"""What a driver believes: the lake against what is in flight, chunk by chunk, step by step."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from archive.attempts import read_start
from archive.frontier import drop_frontiers
from archive.lake import Lake
from archive.runfiles import (
    NO_JOBS,
    ChunkRef,
    Place,
    Segment,
    SegmentKind,
    SegmentTakenError,
    add_segment,
    done_places,
    folder,
    open_run,
    read_expanded,
    with_more,
)
from solvers.algebra import Status
from solvers.errors import TransientError
from solvers.reasons import Reason, ReasonCode
from workers.attempts import Record
from workers.barriers import Barriers
from workers.collector import Collector
from workers.executors import Executor, Flight
from workers.expansion import (
    PartOf,
    parts_of,
    read_parts,
    read_parts_of,
    single_rows,
    unfinished_part,
    went_on,
)
from workers.logs import get_logger
from workers.pace import Progress
from workers.plan_watch import LOOK_SECONDS, PlanWatch
from workers.redis_keys import Announcement
from workers.settings import Settings
from workers.tally import Tally

log = get_logger("nightgrid.driver")

UNRECOVERABLE = Reason(code=ReasonCode.UNRECOVERABLE_JOB)
TRANSIENT_PAUSE_SECONDS = 0.2
"""Pause after the broker or the lake failed, before the next try."""


class Reconciler:
    """One driver's view of one run: what is ready, in flight and done, chunk by chunk."""

    def __init__(
        self,
        lake: Lake,
        run_id: str,
        executor: Executor,
        on_progress: Callable[[Progress], None] | None,
        settings: Settings,
        collector: Collector,
        check_planner: Callable[[], None] | None = None,
    ) -> None:
        self._lake = lake
        self._collector = collector
        self._plan = PlanWatch(lake, check_planner)
        self._executor = executor
        self._on_progress = on_progress
        self._settings = settings
        self._begun = time.monotonic()
        self.run = open_run(lake, run_id)
        self._record = Record(lake, run_id, settings)
        self._expanded = read_expanded(lake, self.run)
        self._done = done_places(lake, run_id)
        self._rows = {ref.place: self.run.rows(ref.place) for ref in self.run.chunks()}
        # The longest first: what is worked last is short, whoever works it.
        ready = [place for place in self._rows if place not in self._done]
        self._ready = deque(sorted(ready, key=self.run.expected_s, reverse=True))
        self._flights: dict[Place, Flight] = {}
        self._adopted: set[Place] = set()
        self._unread = [p for p in self._rows if p in self._done]
        self._heard_at = self._begun
        self._trouble_since: dict[str, float] = {}
        self._announced: deque[Announcement] = deque()
        self._transient_row = 0
        self._part_of = read_parts_of(lake, self.run)
        self._barriers = Barriers(self._part_of, settings.stage_sizes, self.run.budget)
        self._litter: list[Place] = []
        self._hopeless: set[int] = set()
        self._tally = Tally(self.run, self._rows, self._part_of)
        self._tally.land(self.run, self._unread)
        self.chunks_total = len(self._rows)
        self.chunks_resumed = len(self._unread)
        self.failures = 0
        self.resubmissions = 0

    # -- the loop ----------------------------------------------------------------------------

    def work(self, stop: threading.Event) -> None:
        """Work until nothing is left, or until asked to stop."""
        self._adopt()
        self._guarded(self._reconcile)
        looked_at, looked_again = time.monotonic(), 0
        while not stop.is_set():
            if not self.run.planned:
                self._plan.check(self.run)
                self._guarded(self._take_in)
            self._guarded(self._expand)
            self._guarded(self._submit)
            self._guarded(self._tidy)
            self._collector.step()
            self._report()
            if self.run.planned and not self._ready and not self._flights and not self._unread:
                if looked_again == len(self.run.segments):
                    return
                looked_again = len(self.run.segments)
                self._unread = self._replaceable()
                continue
            self._guarded(self._listen)
            if time.monotonic() - looked_at >= self._settings.reconcile_seconds:
                self._guarded(self._reconcile)
                looked_at = time.monotonic()

    def _guarded(self, step: Callable[[], None]) -> None:
        """Run a step; bear for a while with a broker or a lake that fails it."""
        name = step.__name__
        try:
            step()
        except SegmentTakenError:
            raise
        except TransientError as error:
            now = time.monotonic()
            since = self._trouble_since.setdefault(name, now)
            if now - since > self._settings.broker_patience_seconds:
                raise
            if since == now:
                log.warning("driver waits", run=self.run.run_id, step=name, error=str(error))
            time.sleep(TRANSIENT_PAUSE_SECONDS)
        else:
            self._trouble_since.pop(name, None)

    def _replaceable(self) -> list[Place]:
        """Name chunks of which a slower execution may have put another part over the one read."""
        sure, staged = self._lake.is_exclusive, self._barriers.staged
        return [p for p in self._rows if p in self._done and (not sure or staged(p))]

    def _listen(self) -> None:
        """Take announcements; what one of them fails on is found again in the lake."""
        if not self._announced:
            soon = not self.run.planned or self._collector.is_behind
            patience_s = LOOK_SECONDS if soon else self._settings.poll_seconds
            self._announced += self._executor.poll(self.run.run_id, patience_s)
        while self._announced:
            self._hear(self._announced.popleft())

    def _report(self) -> None:
        if self._on_progress is not None:
            flights, hands = self._flights.values(), self._executor.processes
            self._on_progress(self._tally.progress(self.run, flights, hands, self.failures))

    # -- out and back ------------------------------------------------------------------------

    def _adopt(self) -> None:
        """Take over what an earlier driver sent and a worker has begun: it may still be at it."""
        begun = set(self._lake.list(f"{folder(self.run.run_id)}/started"))
        for place in [p for p in self._ready if self._ref(p).started_path in begun]:
            ref = self._ref(place)
            self._ready.remove(place)
            self._adopted.add(place)
            self._flights[place] = Flight(
                ref=ref,
                submitted_at=self._begun,
                start=read_start(self._lake, ref),
                seen_at=self._begun,
            )

    def _ref(self, place: Place) -> ChunkRef:
        return self._record.ref(place)

    def _submit(self) -> None:
        while len(self._flights) < self._executor.window:
            place = self._record.choose(filter(self._has_sources, self._ready), self._flights)
            if place is None:
                return
            ref = self._ref(place)
            if place in self._part_of and self._part_of[place].job in self._hopeless:
                unfinished_part(self._lake, ref, Status.OVER_BUDGET, UNRECOVERABLE)
                self._land(place)
                continue
            self._executor.submit(ref)
            self._ready.remove(place)
            self._flights[place] = Flight(ref=ref, submitted_at=time.monotonic(), start=None)

    def _hear(self, announcement: Announcement) -> None:
        place = announcement.ref.place
        self._heard_at = time.monotonic()
        if announcement.event == "done":
            if place not in self._done and self._lake.exists(self._ref(place).part_path):
                self._land(place)
            return
        flight = self._flights.get(place)
        if flight is None or flight.ref.attempt != announcement.ref.attempt:
            return
        if announcement.event == "transient":
            # Not the chunk's fault: tried again for as long as anything else gets done.
            self._transient_row += 1
            self._requeue(place)
            self._reopen(self._lost_sources(place))
            if self._transient_row > self._settings.attempts_max * self._executor.window:
                raise TransientError(announcement.why.sentence)
            time.sleep(TRANSIENT_PAUSE_SECONDS)
        else:
            self._failed(place, announcement.why)

    def _land(self, place: Place) -> None:
        if self._flights.pop(place, None) is None:
            with contextlib.suppress(ValueError):
                self._ready.remove(place)
        self._adopted.discard(place)
        if place in self._rows and place not in self._done:
            self._done.add(place)
            self._unread.append(place)
            self._tally.land(self.run, [place])
        self._transient_row = 0

    def _requeue(self, place: Place) -> None:
        self._flights.pop(place, None)
        self._adopted.discard(place)
        # First of all that is ready: it has waited for longer than any other.
        self._ready.appendleft(place)
        self.resubmissions += 1

    # -- what staged counts have left --------------------------------------------------------

    def _sources(self, place: Place) -> list[Place]:
        return self._barriers.sources(self.run.segments, self._ref(place))

    def _has_sources(self, place: Place) -> bool:
        return all(source in self._done for source in self._sources(place))

    def _lost_sources(self, place: Place) -> list[Place]:
        """Look which of them are no longer done: a worker has found that their states are gone."""
        done = [source for source in self._sources(place) if source in self._done]
        return [p for p in done if not self._lake.exists(self._ref(p).part_path)]

    def _reopen(self, places: list[Place]) -> None:
        """Let chunks that were done be worked again, before all others."""
        for place in places:
            log.warning("states lost", chunk=self._ref(place).name)
            self._done.discard(place)
            if place in self._unread:
                self._unread.remove(place)
            self._ready.appendleft(place)
            self._tally.reopen(self.run, place)
            self.resubmissions += 1

    # -- what did not come back ----------------------------------------------------------------

    def _reconcile(self) -> None:
        """Compare what is in flight with the lake, then ask the executor about the rest."""
        for place, flight in list(self._flights.items()):
            if self._lake.exists(flight.ref.part_path):
                self._land(place)
            elif flight.start is None:
                self._look_who_began(place)
        fates = self._executor.fates(list(self._flights.values()))
        now = time.monotonic()
        overdue = self._settings.chunk_overdue_seconds
        for place, flight in list(self._flights.items()):
            fate = fates.get(flight.ref)
            if fate == "waiting" or (fate is not None and self._look_who_began(place)):
                # It has its turn yet, or Redis has handed the message to somebody else meanwhile.
                continue
            if fate == "orphaned":
                self._orphaned(place)
            elif fate == "adrift":
                log.info("message lost", chunk=flight.ref.name)
                self._requeue(place)
            elif flight.start is not None:
                if now - flight.seen_at > overdue:
                    late = f"nothing heard for {overdue:g} s after it began"
                    self._failed(place, Reason(code=ReasonCode.OVERDUE, sentence=late))
            elif now - max(flight.submitted_at, self._heard_at) > overdue:
                self._requeue(place)
        self._executor.say_demand(self.run.run_id, len(self._ready) + len(self._flights))

    def _look_who_began(self, place: Place) -> bool:
        """Look for the note of a worker that began a chunk; tell whether it is a new one."""
        flight = self._flights[place]
        start = read_start(self._lake, flight.ref)
        if start is None or start == flight.start:
            return False
        self._flights[place] = replace(flight, start=start, seen_at=time.monotonic())
        return True

    def _orphaned(self, place: Place) -> None:
        # The part may have been written after we looked and before the worker died.
        if self._lake.exists(self._flights[place].ref.part_path):
            self._land(place)
        elif place in self._adopted:
            self._record.suspect(place)
            self._failed(place, Reason(code=ReasonCode.INTERRUPTED), witnessed=False)
        else:
            self._record.suspect(place)
            self._failed(place, Reason(code=ReasonCode.WORKER_LOST))

    def _failed(self, place: Place, reason: Reason, *, witnessed: bool = True) -> None:
        """Count a failure durably, then try again, break the chunk up, or call its row poison."""
        ref = self._ref(place)
        hopeless = self._record.failed(place, reason, witnessed=witnessed)
        self.failures += 1
        log.warning("chunk failed", chunk=ref.name, attempt=ref.attempt, reason=reason.sentence)
        if not hopeless:
            self._requeue(place)
        elif self._rows[place] > 1:
            self._break_up(place)
        else:
            guilt = self._record.guilt(place, reason, witnessed=witnessed)
            unfinished_part(self._lake, ref, Status.POISON, guilt)
            self._land(place)

    def _break_up(self, place: Place) -> None:
        chunks = single_rows(self._lake, self._ref(place))
        self._add("broken", [place] * len(chunks), chunks)
        self._flights.pop(place, None)
        self._adopted.discard(place)
        del self._rows[place]
        self._tally.leave(self.run, place)

    # -- growth ------------------------------------------------------------------------------

    def _expand(self) -> None:
        """Read the parts that came in; let what came back split go on in a new segment."""
        origins: list[Place] = []
        chunks: list[pa.Table] = []
        reading, self._unread = self._unread, []
        try:
            for place in reading:
                known = self._expanded.get(place, NO_JOBS)
                columns = self._collector.columns(place)
                more = went_on(self._lake, self._ref(place), known, columns)
                origins += [place] * len(more.chunks)
                chunks += more.chunks
                self._hopeless |= more.hopeless
                self._tally.read(place, more)
                self._barriers.arrive(place, more)
                if not more.chunks and place not in self._expanded and place not in self._part_of:
                    self._collector.add(self._ref(place), more.part)
            if chunks:
                self._add("split", origins, chunks)
            numbers = [chunk.column("job_no").combine_chunks() for chunk in chunks]
            self._expanded |= with_more(self._expanded, zip(origins, numbers, strict=True))
            self._plan_stages()
        except BaseException:
            # They are read again, so that nobody takes the run to be at its end.
            self._unread = reading + self._unread
            raise

    def _plan_stages(self) -> None:
        """Let staged counts go on whose every part is done."""
        planned = self._barriers.next_stages(self._lake, self.run.run_id)
        for stage in planned:
            self._add("stage", stage.origins, stage.chunks)
        if planned:
            self._litter = self._barriers.litter(self._lake, self.run.run_id)

    def _tidy(self) -> None:
        """Delete states that have been taken on, once the workers have the next to do."""
        drop_frontiers(self._lake, self.run.run_id, self._litter)
        self._litter = []

    def _add(self, kind: SegmentKind, origins: list[Place], chunks: list[pa.Table]) -> None:
        while True:
            number, run_id = len(self.run.segments), self.run.run_id
            try:
                segment = add_segment(self._lake, run_id, number, kind, origins, chunks)
                break
            except SegmentTakenError:
                planned = self._plan.new_segments(self.run)
                if not planned:
                    raise
                self._join_planned(planned)
        places = self._join(segment)
        if kind == "split":
            self._ready.extendleft(reversed(places))
        else:
            self._ready.extend(places)
        if kind != "broken":
            self._know_parts(parts_of(segment.number, chunks))

    def _join(self, segment: Segment) -> list[Place]:
        self.run = replace(self.run, segments=(*self.run.segments, segment))
        places = [(segment.number, i) for i in range(len(segment.chunk_rows))]
        self._rows |= dict(zip(places, segment.chunk_rows, strict=True))
        self._tally.join(self.run, places)
        self.chunks_total += len(places)
        return places

    def _know_parts(self, parts: Mapping[Place, PartOf]) -> None:
        self._part_of |= parts
        self._tally.know(self.run, parts)
        self._barriers.join(parts)

    # -- a run that is planned while it is worked ----------------------------------------------

    def _take_in(self) -> None:
        """Go on with what the planner has added."""
        planned, new = self._plan.look(self.run)
        self._join_planned(new)
        if planned:
            self.run = self._plan.completed(self.run)

    def _join_planned(self, segments: Sequence[Segment]) -> None:
        for segment in segments:
            run_id = self.run.run_id
            # First what the lake may fail with: a segment that has joined is not looked at again.
            parts = read_parts(self._lake, run_id, segment) if segment.divided else {}
            places = self._join(segment)
            self._know_parts(parts)
            self._ready.extend(sorted(places, key=self.run.expected_s, reverse=True))
