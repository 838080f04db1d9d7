"""The table of chunks: every transition, and what follows from the records after any of them."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.driver.chunk_records import (
    HAS_RESULT,
    IN_FLIGHT,
    OPEN,
    TRANSITIONS,
    Counts,
    IllegalTransitionError,
    PartOf,
    PlainTransition,
    Reading,
    State,
)
from nightgrid.workers.driver.chunk_table import ChunkTable
from nightgrid.workers.driver.reconciler import (
    Limits,
    after_failure,
    after_interruption,
    choose,
    poison_reason_of,
)
from nightgrid.workers.runs.attempts import Attempts, Start
from nightgrid.workers.runs.manifest import Segment
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.runs.staged.stages import Carried
from tests.drawn import drawn

RUN = "0" * 32
START = Start(attempt=1, worker="w", started_at=0.0)
BROKE, OTHER, WORKER_LOST, INTERRUPTED = (
    Reason(code=code)
    for code in (
        ReasonCode.EXCEPTION,
        ReasonCode.PROCESS_LOST,
        ReasonCode.WORKER_LOST,
        ReasonCode.INTERRUPTED,
    )
)
CARRIED = Carried(layer=1, layers=9, row_words=1, rows=(1, 2))
ARCHITECTURE = Path(__file__).parents[3] / "docs" / "explanation" / "architecture.md"


def segment(number, kind="plan", rows=(1,), origins=(), cost_s=()):
    return Segment(
        number=number,
        kind=kind,
        origins=tuple(origins),
        chunk_rows=tuple(rows),
        chunk_cost_s=tuple(cost_s),
    )


ARGUMENTS = {
    "send": (1.0,),
    "adopt": (START, 1.0),
    "begin": (START, 2.0),
    "fail": (Attempts(attempt=2, failures=(BROKE,)),),
    "read": (Reading(answered=1),),
}
"""What transitions take beside the key of a chunk."""
WAY_TO = {
    State.READY: (),
    State.SENT: ("send",),
    State.STARTED: ("send", "begin"),
    State.ADOPTED: ("adopt",),
    State.FAILED: ("send", "fail"),
    State.DONE: ("send", "land"),
    State.READ: ("send", "land", "read"),
    State.BROKEN_UP: ("send", "fail", "break_up"),
}


PLAIN = get_args(PlainTransition)


def transit(table, transition, key, *arguments):
    if transition in PLAIN:
        table.move(transition, key, *arguments)
    else:
        getattr(table, transition)(key, *arguments)


def make(table, transition, key=(0, 0)):
    transit(table, transition, key, *ARGUMENTS.get(transition, ()))


def table_in(state):
    """A table of two chunks, the first of which is in the state."""
    table = ChunkTable(RUN)
    table.add(segment(0, rows=(3, 3), cost_s=(2.0, 1.0)), {})
    for transition in WAY_TO[state]:
        make(table, transition)
    assert table[0, 0].state is state
    return table


def check_counts(table):
    """Sums are what counting all records anew comes to."""
    anew = Counts()
    for chunk in table:
        anew.add(chunk)
    for field in fields(Counts):
        found = getattr(table.counts, field.name)
        assert found == pytest.approx(getattr(anew, field.name)), field.name


EDGES = [
    (transition, before, after)
    for transition, states in TRANSITIONS.items()
    for before, after in states.items()
]


@pytest.mark.parametrize(("transition", "before", "after"), EDGES)
def test_a_transition_leads_where_it_says(transition, before, after):
    table = table_in(before)
    made = table.made[transition]
    make(table, transition)
    assert table[0, 0].state is after
    assert table.made[transition] == made + 1
    assert table[0, 1].state is State.READY, "no other chunk is changed"
    assert (table[0, 0].flight is not None) == (after in IN_FLIGHT)
    for state in OPEN:
        assert ((0, 0) in [c.key for c in table.chunks_in(state)]) == (state is after)
    check_counts(table)


@pytest.mark.parametrize(
    ("transition", "state"),
    [
        (name, state)
        for name, states in TRANSITIONS.items()
        for state in State
        if state not in states
    ],
)
def test_any_other_transition_raises_and_changes_nothing(transition, state):
    table = table_in(state)

    def all_of_it():
        records = [replace(chunk) for chunk in table]
        return records, replace(table.counts), dict(table.made), keys(table.ready())

    before = all_of_it()
    with pytest.raises(IllegalTransitionError, match=rf"{transition}: chunk \(0, 0\) is {state}"):
        make(table, transition)
    assert all_of_it() == before


def test_every_transition_is_plain_or_a_method_and_every_state_can_be_reached():
    methods = [name for name in TRANSITIONS if name not in PLAIN]
    assert all(inspect.getdoc(getattr(ChunkTable, name)) for name in methods)
    assert {*methods, *PLAIN} == set(TRANSITIONS)
    assert {after for _, _, after in EDGES} == set(State)


def test_the_diagram_in_the_docs_has_these_transitions_and_no_others():
    text = ARCHITECTURE.read_text()
    drawn = re.findall(r"^ +(\w+) --> (\w+): (\w+)$", text, re.MULTILINE)
    names = [(b.replace(" ", "_"), a.replace(" ", "_"), t) for t, b, a in EDGES]
    assert sorted(drawn) == sorted(names)
    rows = re.findall(r"^\| `(\w+)` \|", text.partition("## A chunk")[2], re.MULTILINE)
    assert rows == list(TRANSITIONS)


# -- what a transition does beside --------------------------------------------------------------


def keys(chunks):
    return [chunk.key for chunk in chunks]


def test_what_the_planner_adds_is_sent_the_longest_first_and_what_came_back_split_before_it():
    table = ChunkTable(RUN)
    table.add(segment(0, rows=(1, 1, 1), cost_s=(1.0, 3.0, 2.0)), {})
    table.add(segment(1, rows=(1, 1), cost_s=(5.0, 6.0)), {})
    assert keys(table.ready()) == [(0, 1), (0, 2), (0, 0), (1, 1), (1, 0)]
    table.send((0, 1), 0.0)
    table.move("land", (0, 1))
    table.add(segment(2, "split", (1, 1), [(0, 1)] * 2), {})
    assert keys(table.ready())[:3] == [(2, 0), (2, 1), (0, 2)]
    table.sort_ready()
    assert keys(table.ready()) == [(2, 0), (2, 1), (1, 1), (1, 0), (0, 2), (0, 0)]


@pytest.mark.parametrize(
    "way", [("send", "requeue"), ("send", "fail", "retry"), ("send", "land", "reopen")]
)
def test_a_chunk_that_is_worked_again_is_sent_before_all_others(way):
    table = ChunkTable(RUN)
    table.add(segment(0, rows=(1, 1, 1)), {})
    for transition in way:
        make(table, transition, (0, 2))
    assert keys(table.ready()) == [(0, 2), (0, 0), (0, 1)]


def test_a_chunk_is_named_by_its_segment_and_its_number_in_it():
    table = ChunkTable(RUN)
    table.add(segment(2, rows=(1, 1)), {})
    assert table.ref((2, 1)) == ChunkRef(run_id=RUN, segment=2, chunk=1, attempt=1)


def test_the_attempts_that_the_lake_knows_name_the_next_flight():
    table = ChunkTable(RUN, {(0, 0): Attempts(attempt=4, interruptions=1)})
    table.add(segment(0), {})
    table.send((0, 0), 0.0)
    assert [flight.ref.attempt for flight in table.flights()] == [4]
    table.fail((0, 0), after_failure(table[0, 0].attempts, BROKE))
    assert table.ref((0, 0)).attempt == 5
    assert table.flights() == []


def test_what_ended_with_its_driver_is_no_failure():
    table = ChunkTable(RUN)
    table.add(segment(0), {})
    for after, failures in ((after_interruption(Attempts()), 0), (Attempts(failures=(BROKE,)), 1)):
        table.send((0, 0), 0.0)
        table.fail((0, 0), after)
        table.move("retry", (0, 0))
        assert table.failures == failures


def test_a_worker_that_begins_again_leaves_an_adopted_chunk_adopted():
    table = table_in(State.ADOPTED)
    other = replace(START, worker="other")
    table.begin((0, 0), other, 7.0)
    (flight,) = table.flights()
    assert (flight.start, flight.seen_at, flight.submitted_at) == (other, 7.0, 1.0)
    assert table[0, 0].state is State.ADOPTED


def test_chunks_that_may_have_killed_a_worker_are_never_in_flight_together():
    limits = Limits(failures=3, interruptions=3)
    died = after_failure(Attempts(), WORKER_LOST)
    last = after_failure(died, WORKER_LOST)
    table = ChunkTable(RUN, {(0, 0): died, (0, 1): died, (0, 2): last})
    table.add(segment(0, rows=(1, 1, 1, 1, 1)), {})

    def chosen():
        chunk = choose(table, table.ready(), limits)
        return None if chunk is None else chunk.key

    assert chosen() == (0, 0)
    table.send((0, 0), 0.0)
    assert chosen() == (0, 3), "another suspect waits, one without suspicion does not"
    table.send((0, 3), 0.0)
    table.move("land", (0, 0))
    assert chosen() == (0, 1)
    table.send((0, 1), 0.0)
    table.move("land", (0, 1))
    assert chosen() == (0, 4), "the one with its last chance waits until it is alone"
    table.move("land", (0, 3))
    assert chosen() == (0, 2)
    table.send((0, 2), 0.0)
    assert chosen() is None


def test_a_poison_reason_is_the_usual_failure_or_the_interruptions():
    limits = Limits(failures=3, interruptions=2)
    often = after_interruption(after_interruption(Attempts()))
    assert limits.are_reached(often)
    assert poison_reason_of(often, limits).sentence == f"{INTERRUPTED.sentence} (2 attempts)"
    failed = Attempts(attempt=4, failures=(BROKE, OTHER, OTHER))
    assert limits.are_reached(failed)
    assert limits.are_reached(Attempts(failures=(BROKE, OTHER)), 1)
    assert poison_reason_of(failed, limits).sentence == f"{OTHER.sentence} (3 attempts)"


def test_answers_wait_for_the_collector_once_and_not_where_they_go_on():
    table = ChunkTable(RUN)
    table.add(segment(0, rows=(5, 7, 9)), {})
    for number in range(3):
        table.send((0, number), 0.0)
        table.move("land", (0, number))
    table.read((0, 0), Reading(answered=5))
    table.add(segment(1, "split", (1,), [(0, 1)]), {}, [((0, 1), pa.array([3]))])
    table.read((0, 1), Reading(answered=6, goes_on=True))
    table.read((0, 2), Reading(answered=9))
    assert keys(table.uncollected()) == [(0, 0), (0, 2)]
    assert table.uncollected_size == (2, 14)
    table.collect((0, 0))
    with pytest.raises(IllegalTransitionError, match="collect"):
        table.collect((0, 0))
    table.move("read_again", (0, 0))
    table.read((0, 0), Reading(answered=5))
    assert keys(table.uncollected()) == [(0, 2)]
    assert table[0, 1].rows_left == 6


def staged_table():
    table = ChunkTable(RUN)
    part = PartOf(job=0, stage=0)
    table.add(segment(0, rows=(1, 1)), {(0, 0): part, (0, 1): part})
    for number in range(2):
        table.send((0, number), 0.0)
        table.move("land", (0, number))
    return table


def test_a_stage_is_due_when_its_every_part_is_read_and_halves_are_parts_of_it():
    table = staged_table()
    table.read((0, 0), Reading(goes_on=True), CARRIED)
    assert not table.jobs.due
    assert not table.is_settled
    halves = dict.fromkeys([(1, 0), (1, 1)], PartOf(job=0, stage=0))
    table.add(segment(1, "split", (1, 1), [(0, 1)] * 2), halves)
    table.read((0, 1), Reading(goes_on=True))
    assert not table.jobs.due
    for key in halves:
        table.send(key, 0.0)
        table.move("land", key)
        table.read(key, Reading(goes_on=True), CARRIED)
    assert set(table.jobs.due[0].carried) == {(0, 0), (1, 0), (1, 1)}
    assert not table.is_settled, "a stage is to be added, though no chunk is open"
    assert table.jobs.done == 0
    table.add(segment(2, "stage", (1,), [(0, 0), (1, 0), (1, 1)]), {(2, 0): PartOf(job=0, stage=1)})
    assert not table.jobs.due
    table.move("reopen", (0, 0))
    table.send((0, 0), 0.0)
    table.move("land", (0, 0))
    table.read((0, 0), Reading(goes_on=True), CARRIED)
    assert table.jobs[0].carried == {}, "what an earlier stage leaves is not gathered again"
    table.send((2, 0), 0.0)
    table.move("land", (2, 0))
    table.read((2, 0), Reading())
    assert table.jobs.done == 1
    assert table.is_settled


def test_a_driver_that_begins_in_the_middle_waits_for_the_last_stage_alone():
    table = ChunkTable(RUN)
    first, second = PartOf(job=0, stage=0), PartOf(job=0, stage=1)
    table.add(segment(0, rows=(1, 1)), {(0, 0): first, (0, 1): first})
    table.add(segment(1, "stage", (1,), [(0, 0), (0, 1)]), {(1, 0): second})
    assert (table.jobs[0].stage, table.jobs[0].waiting) == (1, 1)
    for key in [(1, 0), (0, 0)]:
        table.move("land", key)
        table.read(key, Reading(goes_on=True), CARRIED)
    assert set(table.jobs.due[0].carried) == {(1, 0)}, "one of an earlier stage is not read"


def test_a_part_that_is_lost_ends_its_job_and_no_stage_follows():
    table = staged_table()
    table.read((0, 0), Reading(goes_on=True), CARRIED)
    table.read((0, 1), Reading(is_lost=True, is_over_budget=True))
    assert table.jobs.done == 1
    assert not table.jobs.due
    assert table.jobs.is_unrecoverable(table[0, 0])
    poison = staged_table()
    poison.read((0, 1), Reading(is_lost=True))
    assert poison.jobs.done == 1
    assert not poison.jobs.is_unrecoverable(poison[0, 0])


# -- any transitions in any order ----------------------------------------------------------------


def when(*states):
    """Let a rule be tried only when a chunk is in one of these states."""
    return precondition(lambda self: any(state in states for state in self.states.values()))


class Runs(RuleBasedStateMachine):
    """Works a run in any order, beside a model that knows the jobs of each chunk."""

    @initialize()
    def begin(self):
        self.table = ChunkTable(RUN)
        self.now = 0.0
        self.segments = 0
        self.jobs = 0
        self.states = {}
        """By key: the state that the model expects."""
        self.jobs_in = {}
        """By key of a chunk with whole jobs: their numbers."""
        self.carried = set()
        self.planned_parts = Counter()
        self.rows_planned = 0

    # -- what the model does

    def add(self, kind, chunks, origins=(), went_on=(), cost_s=()):
        """Add a segment of chunks, each a list of whole jobs or a PartOf."""
        number = self.segments
        self.segments += 1
        parts = {(number, i): c for i, c in enumerate(chunks) if isinstance(c, PartOf)}
        rows = [1 if isinstance(chunk, PartOf) else len(chunk) for chunk in chunks]
        self.table.add(segment(number, kind, rows, origins, cost_s), parts, went_on)
        for i, chunk in enumerate(chunks):
            self.states[number, i] = State.READY
            if not isinstance(chunk, PartOf):
                self.jobs_in[number, i] = list(chunk)

    def some(self, data, *states):
        found = sorted(key for key, state in self.states.items() if state in states)
        return data.draw(st.sampled_from(found))

    def make(self, key, transition, *arguments):
        """Let a chunk make a transition that its state has."""
        transit(self.table, transition, key, *arguments)
        self.states[key] = TRANSITIONS[transition][self.states[key]]
        self.carried.discard(key)

    def left(self, key):
        """The whole jobs of a chunk that do not go on elsewhere."""
        gone = set(self.table[key].went_on.to_pylist())
        return [job for job in self.jobs_in.get(key, []) if job not in gone]

    # -- rules

    @rule(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=3), foreseen=st.booleans())
    def plan(self, sizes, foreseen):
        chunks = []
        for size in sizes:
            chunks.append(list(range(self.jobs, self.jobs + size)))
            self.jobs += size
        self.rows_planned += sum(sizes)
        self.add("plan", chunks, cost_s=[0.5 * s for s in sizes] if foreseen else ())

    @rule(parts=st.integers(1, 3), staged=st.booleans())
    def plan_divided(self, parts, staged):
        part = PartOf(job=self.jobs, stage=0 if staged else None)
        self.planned_parts[self.jobs] = parts
        self.jobs += 1
        self.rows_planned += parts
        self.add("plan", [part] * parts)

    @when(State.READY)
    @rule(data=st.data(), number=st.integers(1, 6))
    def work(self, data, number):
        """Send chunks and find their results."""
        for _ in range(number):
            if State.READY in self.states.values():
                key = self.some(data, State.READY)
                self.make(key, "send", self.now)
                self.make(key, "land")

    @precondition(lambda self: self.states)
    @rule(
        data=st.data(),
        transition=st.sampled_from(
            ["send", "adopt", "begin", "requeue", "retry", "skip", "land", "read_again", "reopen"]
        ),
    )
    def disturb(self, data, transition):
        if not set(TRANSITIONS[transition]).isdisjoint(self.states.values()):
            key = self.some(data, *TRANSITIONS[transition])
            self.make(key, transition, *ARGUMENTS.get(transition, ()))

    @when(State.READY, *IN_FLIGHT)
    @rule(
        data=st.data(),
        reason=st.sampled_from([BROKE, WORKER_LOST, INTERRUPTED]),
        then=st.sampled_from(["nothing", "retry", "poison", "break up"]),
    )
    def fail(self, data, reason, then):
        key = self.some(data, State.READY, *IN_FLIGHT)
        if self.states[key] is State.READY:
            self.make(key, "send", self.now)
        old = self.table[key].attempts
        more = after_interruption(old) if reason == INTERRUPTED else after_failure(old, reason)
        self.make(key, "fail", more)
        if then in ("retry", "poison"):
            self.make(key, then)
        elif then == "break up" and len(self.left(key)) > 1:
            rows = [[job] for job in self.left(key)]
            self.add("broken", rows, [key] * len(rows))
            self.states[key] = State.BROKEN_UP

    @when(State.DONE)
    @rule(data=st.data(), lost=st.booleans(), over=st.booleans())
    def read_to_the_end(self, data, lost, over):
        key = self.some(data, State.DONE)
        lost = lost and self.table[key].part_of is not None
        reading = Reading(
            answered=len(self.left(key)),
            states=3,
            kernel_ns=5,
            is_lost=lost,
            is_over_budget=lost and over,
        )
        self.make(key, "read", reading)

    @when(State.DONE)
    @rule(data=st.data(), how=st.sampled_from(["alone", "together", "parts", "stage"]))
    def read_split(self, data, how):
        """Rows of it go on: alone, several together, in parts, or by stages."""
        key = self.some(data, State.DONE)
        part, left, went_on = self.table[key].part_of, self.left(key), []
        if part is not None:
            chunks = [part, part]
        elif left:
            going = left[: data.draw(st.integers(1, len(left)))]
            if how == "alone":
                chunks = [[job] for job in going]
            elif how == "together":
                chunks = [going]
            elif how == "parts":
                chunks = [PartOf(job=job, stage=None) for job in going for _ in range(2)]
            else:
                chunks = [PartOf(job=job, stage=0) for job in going]
            went_on = [(key, pa.array(going))]
        else:
            return
        self.add("split", chunks, [key] * len(chunks), went_on)
        self.make(key, "read", Reading(answered=len(self.left(key)), states=1, goes_on=True))

    @precondition(lambda self: self.staged())
    @rule(data=st.data())
    def read_carried(self, data):
        """Some or all parts of a staged count have left states."""
        job = self.table[data.draw(st.sampled_from(self.staged()))].part_of.job
        for key in self.staged():
            if self.table[key].part_of.job == job and data.draw(st.integers(0, 9)):
                self.make(key, "read", Reading(states=2, goes_on=True), CARRIED)
                self.carried.add(key)

    def staged(self):
        """Results of parts of staged counts that were not read."""
        done = [p for p, s in self.states.items() if s is State.DONE]
        return sorted(key for key in done if self.table[key].is_staged)

    @precondition(lambda self: self.table.jobs.due)
    @rule(data=st.data(), parts=st.integers(1, 3))
    def next_stage(self, data, parts):
        due = self.table.jobs.due
        number = data.draw(st.sampled_from(sorted(due)))
        part = PartOf(job=number, stage=due[number].stage + 1)
        self.add("stage", [part] * parts, sorted(due[number].carried))

    @precondition(lambda self: self.table.uncollected_size[0])
    @rule(data=st.data())
    def collect(self, data):
        self.table.collect(data.draw(st.sampled_from(keys(self.table.uncollected()))))

    @precondition(lambda self: self.states)
    @rule(data=st.data(), transition=st.sampled_from(sorted(TRANSITIONS)))
    def illegal(self, data, transition):
        others = set(State) - set(TRANSITIONS[transition])
        if others.intersection(self.states.values()):
            with pytest.raises(IllegalTransitionError):
                make(self.table, transition, self.some(data, *others))

    # -- invariants

    @invariant()
    def every_chunk_is_in_exactly_one_state(self):
        assert {chunk.key: chunk.state for chunk in self.table} == self.states
        for state in OPEN:
            listed = keys(self.table.chunks_in(state))
            assert sorted(listed) == sorted(p for p, s in self.states.items() if s is state)
            assert self.table.number_in(state) == len(listed)

    @invariant()
    def counts_are_those_of_the_records(self):
        live = [c for c in self.table if c.state is not State.BROKEN_UP]
        done = [c for c in live if c.state in HAS_RESULT]
        read = [c.reading for c in live if c.reading is not None]
        counts = self.table.counts
        assert (counts.chunks_total, counts.chunks_done) == (len(live), len(done))
        assert counts.foreseen_total == sum(c.expected_s is not None for c in live)
        assert counts.foreseen_done == sum(c.expected_s is not None for c in done)
        assert counts.expected_total_s == sum(c.expected_s or 0.0 for c in live)
        assert counts.expected_done_s == sum(c.expected_s or 0.0 for c in done)
        assert counts.answered == sum(r.answered for r in read)
        assert counts.states == sum(r.states for r in read)
        assert counts.kernel_ns == sum(r.kernel_ns for r in read)
        assert counts.planned_rows == self.rows_planned

    @invariant()
    def no_job_is_lost_or_doubled(self):
        """Every planned job is in one chunk that goes on with it, or in parts of its own."""
        whole = [
            job
            for key, state in self.states.items()
            if state is not State.BROKEN_UP
            for job in self.left(key)
        ]
        divided = {chunk.part_of.job for chunk in self.table if chunk.part_of is not None}
        assert sorted([*whole, *divided]) == list(range(self.jobs))

    @invariant()
    def divided_jobs_are_what_their_parts_make_them(self):
        by_job = {}
        for chunk in self.table:
            if chunk.part_of is not None:
                by_job.setdefault(chunk.part_of.job, []).append(chunk)
        done, due = 0, {}
        for number, parts in by_job.items():
            readings = [p.reading for p in parts if p.reading is not None]
            lost = any(r.is_lost for r in readings)
            open_parts = [
                p
                for p in parts
                if not p.is_continued
                and (p.reading is None or p.reading.goes_on)
                and not (p.reading is not None and p.reading.is_lost)
            ]
            done += lost or not open_parts
            job = self.table.jobs[number]
            assert job.open == len(open_parts)
            assert self.table.jobs.is_unrecoverable(parts[0]) == any(
                r.is_over_budget for r in readings
            )
            stages = [p.part_of.stage for p in parts if p.part_of.stage is not None]
            if not stages:
                assert job.stage is None
                continue
            last = [p for p in parts if p.part_of.stage == max(stages)]
            carried = {p.key for p in last if p.key in self.carried}
            assert job.stage == max(stages)
            assert set(job.carried) == carried
            if carried and all(p.state is State.READ and not p.reading.is_lost for p in last):
                due[number] = carried
        assert self.table.jobs.done == done
        assert {number: set(job.carried) for number, job in self.table.jobs.due.items()} == due
        siblings = sum(parts - 1 for parts in self.planned_parts.values())
        assert self.table.jobs.siblings == siblings

    @invariant()
    def what_waits_for_the_collector_was_read_and_is_whole(self):
        waiting = {c.key for c in self.table if c.has_whole_answers and not c.is_collected}
        assert set(keys(self.table.uncollected())) == waiting
        assert self.table.uncollected_size == (
            len(waiting),
            sum(self.table[key].rows for key in waiting),
        )

    @invariant()
    def suspects_are_those_that_were_in_a_worker_that_died(self):
        flying = [c for c in self.table if c.state in IN_FLIGHT]
        assert self.table.in_flight == len(flying) == len(self.table.flights())
        suspects = {
            c.key for c in flying if c.attempts.interruptions or WORKER_LOST in c.attempts.failures
        }
        assert set(keys(self.table.suspects_in_flight())) == suspects


TestRuns = Runs.TestCase
TestRuns.settings = settings(max_examples=drawn(150), stateful_step_count=60, deadline=None)


def test_a_new_table_has_counted_no_failure():
    assert ChunkTable("r").failures == 0
