"""Counts that go from layer to layer by stages, whatever happens to their chunks."""

from collections import Counter

import toy_game as toy
import toy_layers
from conftest import BUDGET, COUNT, quick_settings, result_rows
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from archive.lake import Lake
from archive.runfiles import open_run
from archive.runs import plan_run
from archive.tables import PARTS
from workers.driver import drive
from workers.executors import InlineExecutor

SMALL = {"stage_carry_rows": 20, "stage_rows": 60, "stage_parts_min": 3}
"""Sizes that make many stages of many parts of the toy."""


def small_settings(folder, **changes):
    return quick_settings(folder, poll_seconds=0.01, **{**SMALL, **changes})


def layered(*numbers):
    return toy.boards(max(numbers) + 1, dict.fromkeys(numbers, toy.LAYERED))


def count_in(folder, boards, *, budget=BUDGET, executor=InlineExecutor, **changes):
    settings = small_settings(folder, **changes)
    lake = Lake.open(settings.lake)
    run_id = plan_run(lake, toy.TOY, boards, COUNT, budget)
    drive(lake, run_id, executor(lake, settings), settings=settings)
    return lake, run_id


def counts(lake, run_id):
    return {row["puzzle_id"]: row for row in result_rows(lake, run_id)}


def row_of(lake, run_id, number):
    name = toy.ToyPuzzle(number=number, behaviour=toy.LAYERED).puzzle_id
    return counts(lake, run_id)[name]


def parts_of(lake, run_id):
    return lake.read_table(f"runs/run={run_id}/parts", PARTS).to_pylist()


def test_a_count_over_budget_goes_on_by_stages_and_is_what_it_would_be_whole(tmp_path):
    lake, run_id = count_in(tmp_path, layered(3, 5))
    for number in (3, 5):
        row = row_of(lake, run_id, number)
        assert (row["status"], row["count"]) == ("solved", toy_layers.walks(number))
        assert row["states"] == toy_layers.states(number)
    kinds = Counter(segment.kind for segment in open_run(lake, run_id).segments)
    assert kinds["stage"] > 4
    statuses = Counter(part["status"] for part in parts_of(lake, run_id))
    assert statuses["carried"] > 10
    assert lake.list(f"runs/run={run_id}/frontier") == []


@hypothesis_settings(max_examples=8, deadline=None)
@given(
    number=st.integers(0, 50),
    carry_rows=st.integers(1, 100),
    stage_rows=st.integers(20, 300),
    parts_min=st.integers(1, 8),
    stage_layers=st.integers(1, 4),
)
def test_stages_of_any_size_give_the_same_count(
    tmp_path_factory, number, carry_rows, stage_rows, parts_min, stage_layers
):
    lake, run_id = count_in(
        tmp_path_factory.mktemp("sizes"),
        toy.boards(1, {0: toy.LAYERED}, start=number) if number == 0 else layered(number),
        stage_carry_rows=carry_rows,
        stage_rows=stage_rows,
        stage_parts_min=parts_min,
        stage_layers=stage_layers,
    )
    row = row_of(lake, run_id, number)
    assert (row["status"], row["count"]) == ("solved", toy_layers.walks(number))
    least = toy_layers.states(number)
    assert row["states"] == least if stage_layers == 1 else row["states"] >= least
