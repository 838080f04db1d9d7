"""Jobs by the million are named, distinguished and sorted in bounded memory."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.question import question_of
from nightgrid.solvers.registry import game
from nightgrid.workers.runs.finishing.gathering import ahead
from nightgrid.workers.runs.job_keys import KeySet, ids_of, keys_of, name_jobs

COUNT = Ask(kind="count")


@settings(deadline=None)
@given(st.lists(st.one_of(st.text(max_size=5), st.uuids().map(lambda u: u.hex)), max_size=20))
def test_jobs_are_named_in_bulk_as_one_by_one(names):
    question = question_of(game("pips"), COUNT)
    column = pa.chunked_array([pa.array(names[:3], pa.string()), pa.array(names[3:], pa.string())])
    keys = name_jobs(question, column)
    assert ids_of(keys).to_pylist() == [question.job_id(name) for name in names]
    assert keys_of(ids_of(keys)[2:]).tolist() == keys[2:].tolist()


@settings(deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=9), max_size=9))
def test_a_set_of_keys_knows_each_key_and_takes_it_once(batches):
    keys, known = KeySet(), set()
    for batch in batches:
        column = keys_of(pa.array([f"{high:016x}{low:016x}" for high, low in batch], pa.string()))
        fresh = keys.add(column).tolist()
        assert fresh == [key not in known and key not in batch[:i] for i, key in enumerate(batch)]
        known.update(batch)


def test_prefetched_items_and_errors_arrive_in_order():
    def items():
        yield from range(5)
        raise ValueError("no more")

    made = ahead(items())
    assert [next(made) for _ in range(5)] == list(range(5))
    with pytest.raises(ValueError, match="no more"):
        next(made)
    begun = ahead(iter(range(100)))
    assert next(begun) == 0
    begun.close()
