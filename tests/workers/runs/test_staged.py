"""States spilled between two stages, and cutting the next stage from them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.runs import staged as frontier
from nightgrid.workers.runs.manifest import Segment
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.runs.staged import (
    Carried,
    StagePart,
    drop_frontiers,
    frontiers,
    next_stage,
    read_frontier,
    sources,
    stage_part,
    write_frontier,
)
from nightgrid.workers.tuning import Tuning

RUN = "0" * 32
REF = ChunkRef(run_id=RUN, segment=3, chunk=1)
BUCKETS = 12


@pytest.fixture
def lake(tmp_path):
    return Lake.open(str(tmp_path / "lake"))


def states(count, words=4, seed=1):
    """Make states in the order of their buckets, and where each bucket begins."""
    random = np.random.default_rng(seed)
    rows = random.integers(0, 2**63, (count, words), dtype=np.uint64) * np.uint64(2)
    sizes = random.multinomial(count, random.dirichlet(np.full(BUCKETS, 0.5)))
    return rows, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def part(first, last, layer=5):
    return StagePart(layer=layer, buckets=(first, last), until=6)


def read(lake, wanted, ref=REF):
    return read_frontier(lake, ref, wanted, "here")[0]


@pytest.mark.parametrize("words", [3, 4, 6])
@pytest.mark.parametrize("count", [0, 1, 1000])
def test_every_range_of_buckets_comes_back_as_it_was(lake, monkeypatch, count, words):
    monkeypatch.setattr(frontier, "GROUP_ROWS", 64)
    rows, begins = states(count, words)
    write_frontier(lake, REF, 5, rows, begins, "here")
    for first in range(BUCKETS):
        for last in range(first + 1, BUCKETS + 1):
            found, inside = read_frontier(lake, REF, part(first, last), "here")
            assert (inside[0], inside[-1]) == (0, len(found))
            np.testing.assert_array_equal(np.diff(inside), np.diff(begins[first : last + 1]))
            np.testing.assert_array_equal(found, rows[begins[first] : begins[last]])


def test_states_with_another_layout_are_refused(lake):
    write_frontier(lake, REF, 5, *states(10), "there")
    with pytest.raises(PermanentError, match="another layout"):
        read(lake, part(0, 3))


def test_frontiers_are_listed_and_dropped_by_their_chunks(lake):
    for chunk in (1, 4, 7):
        write_frontier(lake, replace(REF, chunk=chunk), 5, *states(10), "here")
    assert frontiers(lake, RUN) == [(3, 1), (3, 4), (3, 7)]
    drop_frontiers(lake, RUN, [(3, 4), (3, 5)])
    assert frontiers(lake, RUN) == [(3, 1), (3, 7)]


def test_a_half_reads_the_input_of_the_whole_part():
    segments = [
        Segment(number=0, kind="plan", origins=(), chunk_rows=(1,)),
        Segment(number=1, kind="stage", origins=((0, 0),), chunk_rows=(1, 1)),
        Segment(number=2, kind="split", origins=((1, 1), (1, 1)), chunk_rows=(1, 1)),
        Segment(number=3, kind="split", origins=((2, 0), (2, 0)), chunk_rows=(1, 1)),
    ]

    def of(segment, chunk):
        ref = ChunkRef(run_id=RUN, segment=segment, chunk=chunk)
        return [source.key for source in sources(segments.__getitem__, ref)]

    assert of(0, 0) == []
    assert of(1, 1) == of(2, 0) == of(2, 1) == of(3, 1) == [(0, 0)]


def carried(*rows, layer=5):
    return Carried(layer=layer, row_words=4, rows=rows)


@given(
    counts=st.lists(
        st.lists(st.integers(0, 10_000), min_size=16, max_size=16), min_size=1, max_size=5
    ),
    carry_rows=st.integers(1, 1000),
    stage_rows=st.integers(1, 20_000),
    parts_min=st.integers(1, 20),
    table_bytes=st.integers(1, 10**6),
)
def test_a_stage_takes_over_every_state_once(
    counts, carry_rows, stage_rows, parts_min, table_bytes
):
    sizes = Tuning(stage_carry_rows=carry_rows, stage_rows=stage_rows, stage_parts_min=parts_min)
    parts = next_stage([carried(*rows) for rows in counts], sizes, Budget(table_bytes=table_bytes))
    total = [sum(rows) for rows in zip(*counts, strict=True)]
    at = 0
    for one, size in parts:
        first, last = one.buckets
        assert not any(total[at:first])
        assert size == sum(total[first:last])
        assert stage_part(canonical_json(one.to_json())) == one
        at = last
    assert not any(total[at:])
    if sum(total) > carry_rows:
        assert {one.until for one, _ in parts} == {6}
    else:
        assert [one.until for one, _ in parts] in ([None], [7] * len(parts))


def test_the_last_of_many_large_parts_is_cut_into_small_ones():
    rows = carried(*[1_000] * 1000)
    sizes = Tuning(stage_rows=200_000, stage_parts_min=4, stage_carry_rows=100_000)
    found = [size for _, size in next_stage([rows], sizes, Budget())]
    assert found == [200_000] * 4 + [50_000] * 4
    few = replace(sizes, stage_carry_rows=300_000)
    assert [size for _, size in next_stage([rows], few, Budget())] == [200_000] * 5


def test_a_stage_ends_with_the_last_layer_and_few_states_form_one_part():
    sizes = Tuning(stage_carry_rows=100)
    parts = next_stage([carried(*[90] * 4, layer=19)], sizes, Budget())
    assert {part.until for part, _ in parts} == {20}
    assert next_stage([carried(10, 20, 30)], sizes, Budget()) == [
        (StagePart(layer=5, buckets=(0, 3), until=None, carry_rows=100), 60)
    ]


def test_halves_of_a_part_stop_at_one_layer_and_a_single_bucket_is_not_halved():
    assert part(3, 4).halves(2) == [part(3, 4)]
    assert part(3, 6).halves(2) == [part(3, 4), part(4, 6)]
    free = StagePart(layer=5, buckets=(0, 2), until=None, carry_rows=9)
    for reached, until in ((5, 6), (6, 6), (8, 8)):
        assert {half.until for half in free.halves(reached)} == {until}
