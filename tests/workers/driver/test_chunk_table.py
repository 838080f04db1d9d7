"""The table of chunks: every transition, and what follows from the records."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightgrid.workers.driver.chunk_table import (
    IN_FLIGHT,
    OPEN,
    TRANSITIONS,
    ChunkTable,
    IllegalTransitionError,
    PartOf,
    PlainTransition,
    Reading,
    State,
)
from nightgrid.workers.runs.manifest import Segment
from nightgrid.workers.runs.staged import Carried

RUN = "0" * 32
LEFT = Reading(goes_on=True, carried=Carried(layer=1, row_words=1, rows=(1, 2)))
ARCHITECTURE = Path(__file__).parents[3] / "docs" / "explanation" / "architecture.md"


def segment(number, kind="plan", rows=(1,), origins=(), cost_s=()):
    return Segment(
        number=number,
        kind=kind,
        origins=tuple(origins),
        chunk_rows=tuple(rows),
        chunk_cost_s=tuple(cost_s),
    )


ARGUMENTS = {"send": (1.0,), "begin": ("w", 2.0), "read": (Reading(answered=1),)}
"""Arguments of transitions after the key of a chunk."""
WAY_TO = {
    State.READY: (),
    State.SENT: ("send",),
    State.BEGUN: ("send", "begin"),
    State.DONE: ("send", "land"),
    State.READ: ("send", "land", "read"),
    State.HALVED: ("send", "halve"),
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


EDGES = [
    (transition, before, after)
    for transition, states in TRANSITIONS.items()
    for before, after in states.items()
]


@pytest.mark.parametrize(("transition", "before", "after"), EDGES)
def test_a_transition_leads_to_its_target(transition, before, after):
    table = table_in(before)
    make(table, transition)
    assert table[0, 0].state is after
    assert table[0, 1].state is State.READY, "no other chunk is changed"
    assert (table[0, 0].flight is not None) == (after in IN_FLIGHT)
    for state in OPEN:
        assert ((0, 0) in [c.key for c in table.chunks_in(state)]) == (state is after)


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
        return records, keys(table.chunks_in(State.READY))

    before = all_of_it()
    with pytest.raises(IllegalTransitionError, match=rf"{transition}: chunk \(0, 0\) is {state}"):
        make(table, transition)
    assert all_of_it() == before


def test_the_table_in_the_docs_has_these_states():
    text = ARCHITECTURE.read_text().partition("### A chunk")[2].partition("###")[0]
    assert set(re.findall(r"^\| (\w+) \|", text, re.MULTILINE)[1:]) == set(State)


# -- what a transition does beside --------------------------------------------------------------


def keys(chunks):
    return [chunk.key for chunk in chunks]


def test_split_rows_are_sent_before_planned_ones():
    table = ChunkTable(RUN)
    table.add(segment(0, rows=(1, 1, 1)), {})
    table.add(segment(1, rows=(1, 1)), {})
    table.send((0, 0), 0.0)
    table.move("land", (0, 0))
    table.add(segment(2, "split", (1, 1), [(0, 0)] * 2), {})
    assert keys(table.chunks_in(State.READY)) == [(2, 0), (2, 1), (0, 1), (0, 2), (1, 0), (1, 1)]


@pytest.mark.parametrize(
    "way", [("send", "requeue"), ("send", "fail"), ("send", "land", "requeue")]
)
def test_a_chunk_that_is_solved_again_is_sent_before_all_others(way):
    table = ChunkTable(RUN)
    table.add(segment(0, rows=(1, 1, 1)), {})
    for transition in way:
        make(table, transition, (0, 2))
    assert keys(table.chunks_in(State.READY)) == [(0, 2), (0, 0), (0, 1)]


def test_the_attempts_that_the_lake_knows_name_the_next_flight():
    table = ChunkTable(RUN, {(0, 0): 4})
    table.add(segment(0), {})
    table.send((0, 0), 0.0)
    assert table.ref((0, 0)).attempt == 4
    table.move("fail", (0, 0))
    assert table.ref((0, 0)).attempt == 5
    assert table.flights() == []
    table.add(segment(1), {})
    table.send((1, 0), 0.0)
    ref = table.ref((1, 0))
    assert (ref.segment, ref.chunk, ref.attempt) == (1, 0, 1)


def test_a_chunk_knows_how_many_of_its_rows_do_not_continue_elsewhere():
    table = table_in(State.DONE)
    table.add(segment(1, "split", (1,), [(0, 0)]), {}, [((0, 0), pa.array([3]))])
    assert table[0, 0].rows_left == 2


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
    table.read((0, 0), LEFT)
    assert not table.due_stages()
    assert not table.is_settled
    halves = dict.fromkeys([(1, 0), (1, 1)], PartOf(job=0, stage=0))
    table.add(segment(1, "split", (1, 1), [(0, 1)] * 2), halves)
    table.read((0, 1), Reading(goes_on=True))
    assert not table.due_stages()
    for key in halves:
        table.send(key, 0.0)
        table.move("land", key)
        table.read(key, LEFT)
    assert keys(table.due_stages()[0]) == [(0, 0), (1, 0), (1, 1)]
    assert not table.is_settled, "a stage is to be added, though no chunk is open"
    table.add(segment(2, "stage", (1,), [(0, 0), (1, 0), (1, 1)]), {(2, 0): PartOf(job=0, stage=1)})
    assert not table.due_stages()
    table.move("requeue", (0, 0))
    table.send((0, 0), 0.0)
    table.move("land", (0, 0))
    table.read((0, 0), LEFT)
    assert not table.due_stages(), "what an earlier stage leaves is not gathered again"
    table.send((2, 0), 0.0)
    table.move("land", (2, 0))
    table.read((2, 0), Reading())
    assert table.is_settled


def test_a_driver_that_starts_in_the_middle_only_waits_for_the_last_stage():
    table = ChunkTable(RUN)
    first, second = PartOf(job=0, stage=0), PartOf(job=0, stage=1)
    table.add(segment(0, rows=(1, 1)), {(0, 0): first, (0, 1): first})
    table.add(segment(1, "stage", (1,), [(0, 0), (0, 1)]), {(1, 0): second})
    assert table.last_stage(0) == 1
    for key in [(0, 0), (1, 0)]:
        assert not table.due_stages()
        table.move("land", key)
        table.read(key, LEFT)
    assert keys(table.due_stages()[0]) == [(1, 0)], "one of an earlier stage is not read"


def test_a_stage_that_is_not_due_does_not_delay_that_of_another_job():
    table = ChunkTable(RUN)
    table.add(segment(0, rows=(1, 1)), {(0, n): PartOf(job=n, stage=0) for n in (0, 1)})
    table.move("land", (0, 1))
    table.read((0, 1), LEFT)
    assert list(table.due_stages()) == [1]


def test_a_part_that_is_unanswered_ends_its_job_and_no_stage_follows():
    table = staged_table()
    table.read((0, 0), LEFT)
    assert table[0, 0].is_open_part
    table.read((0, 1), Reading(is_unanswered=True, is_over_budget=True))
    assert not table.due_stages()
    assert not table[0, 1].is_open_part
    assert table.is_unrecoverable(table[0, 0])
    poison = staged_table()
    assert poison[0, 1].is_open_part
    poison.read((0, 1), Reading(is_unanswered=True))
    assert not poison.is_unrecoverable(poison[0, 0])


# -- any transitions in any order ----------------------------------------------------------------


@given(st.lists(st.tuples(st.sampled_from(sorted(TRANSITIONS)), st.integers(0, 3)), max_size=60))
def test_after_any_transitions_the_open_chunks_are_those_of_the_records(steps):
    table = ChunkTable(RUN)
    part = PartOf(job=7, stage=None)
    table.add(segment(0, rows=(3, 2, 1, 1), cost_s=(4, 3, 2, 1)), {(0, 2): part, (0, 3): part})
    for transition, number in steps:
        with contextlib.suppress(IllegalTransitionError):
            make(table, transition, (0, number))
    for state in OPEN:
        assert set(keys(table.chunks_in(state))) == {c.key for c in table if c.state is state}
    assert table.in_flight == len(table.flights()) == table.number_in(*IN_FLIGHT)
    assert table.is_settled == all(c.state in (State.READ, State.HALVED) for c in table)
