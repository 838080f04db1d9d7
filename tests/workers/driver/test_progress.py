"""The progress of a run: steady rates, and estimates of the end."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.question import Question
from nightgrid.workers.driver.chunk_table import ChunkTable, PartOf, Reading
from nightgrid.workers.driver.progress import (
    Progress,
    clock_time,
    left_of,
    progress_of,
    progress_text,
    states_per_s,
)
from nightgrid.workers.runs.manifest import Run, Segment

AT = Progress(
    run_id="a", chunks_done=10, chunks_total=30, jobs_done=100, jobs_total=300, in_flight=8,
    failures=0, seconds=60.0, processes=2, states=3_000_000, kernel_ns=30 * 10**9,
    expected_done_s=10.0, expected_total_s=50.0,
)  # fmt: skip


def test_states_a_second_are_measured_over_finished_chunks():
    assert states_per_s(AT) == 200_000, "two processes, of 100,000 a second each"
    waiting = replace(AT, seconds=600.0)
    assert states_per_s(waiting) == states_per_s(AT), "though nothing has ended for nine minutes"
    assert states_per_s(replace(AT, in_flight=1)) == 100_000, "one of them is at work"
    assert states_per_s(replace(AT, in_flight=0)) == 200_000
    assert states_per_s(replace(AT, kernel_ns=0, states=0)) is None


def test_the_rest_is_scaled_by_the_finished_chunks():
    many = replace(AT, chunks_done=10**9, chunks_total=10**9 + 20)
    left = left_of(many)
    assert left is not None
    assert (left.core_s, left.wall_s) == (pytest.approx(120.0), pytest.approx(60.0))
    assert not left.at_least
    assert "about 1:00 min left" in progress_text(many)
    alone = left_of(replace(many, processes=1))
    assert alone is not None
    assert alone.wall_s == alone.core_s
    half_planned = left_of(replace(many, planned_share=0.5))
    assert half_planned is not None
    assert half_planned.core_s == pytest.approx(270.0), "as much again is expected of the rest"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0 s"),
        (40, "40 s"),
        (59, "59 s"),
        (60, "1:00 min"),
        (185, "3:05 min"),
        (3_599, "59:59 min"),
        (3_600, "1:00 h"),
        (7_800, "2:10 h"),
        (2 * 86_400 - 1, "47:59 h"),
        (2 * 86_400, "2 days"),
        (63_115_199, "730 days"),
        (63_115_200, "2 years"),
        (3 * 86_400, "3 days"),
        (50_945_959_134_802, "1,614,380 years"),
    ],
)
def test_a_time_has_a_unit_that_fits(seconds: float, text: str):
    assert clock_time(seconds) == text


def test_a_line_of_progress_has_all_known_figures():
    """Given a run in progress, Then its line has jobs, chunks, time, rate, and failures."""
    line = "100 of 300 jobs, 10 of 30 chunks, 60.0 s, 200 k states/s"
    quiet = replace(AT, expected_total_s=0.0)
    assert progress_text(quiet) == line
    assert progress_text(replace(quiet, oldest_seconds=1.9)) == line
    assert progress_text(replace(quiet, oldest_seconds=2.0)) == f"{line}, oldest chunk 2 s"
    assert progress_text(replace(quiet, failures=1)) == f"{line}, 1 failure"
    assert progress_text(replace(quiet, states=0)) == line.removesuffix(", 200 k states/s")
    assert progress_text(replace(quiet, states=22_500)).endswith(", 1.5 k states/s")
    assert progress_text(replace(quiet, planned_share=0.5)).startswith(
        "100 of 300 jobs so far, 10 of 30 chunks so far, 60.0 s"
    )


def test_whole_and_merged_jobs_count_as_done():
    table = ChunkTable("0" * 32)
    rows, parts = (3, 1, 1, 1, 1, 1), [None, 3, 3, 4, 5, 6]
    part_of = {(0, i): PartOf(job=job, stage=None) for i, job in enumerate(parts) if job}
    table.add(Segment(number=0, kind="plan", origins=(), chunk_rows=rows), part_of)
    lost = Reading(is_unanswered=True)
    for i, reading in enumerate([Reading(answered=3), Reading(), Reading(), lost]):
        table.move("land", (0, i))
        table.read((0, i), reading)
    run = SimpleNamespace(
        run_id="0" * 32,
        question=SimpleNamespace(game="pips"),
        job_count=9,
        planned=False,
        puzzle_count=5,
    )
    seen = progress_of(table, run, processes=2, seconds=7.0, now=20.0, failures=4)
    assert (seen.jobs_done, seen.jobs_total, seen.planned_share) == (5, 7, 1.0)
    assert (seen.failures, seen.in_flight, seen.oldest_seconds) == (4, 0, None)
    unknown = SimpleNamespace(**{**vars(run), "puzzle_count": 0})
    seen = progress_of(table, unknown, processes=2, seconds=7.0, now=20.0)
    assert (seen.planned_share, seen.failures) == (1.0, 0)


def test_the_oldest_chunk_in_flight_is_the_one_that_was_sent_first():
    table = ChunkTable("0" * 32)
    table.add(Segment(number=0, kind="plan", origins=(), chunk_rows=(3, 3), chunk_cost_s=()), {})
    table.send((0, 0), 10.0)
    table.begin((0, 0), "w", 12.0)
    table.send((0, 1), 15.0)
    question = Question(
        game="pips", ask=Ask(kind="count"), rules="", lexicon_id="", solver_version="v"
    )
    run = Run(
        run_id="0" * 32,
        question=question,
        budget=Budget(),
        job_count=6,
        answered_count=0,
        divided_count=0,
        segments=(),
        planned=False,
        puzzle_count=24,
    )
    seen = progress_of(table, run, processes=2, seconds=7.0, now=20.0)
    assert (seen.in_flight, seen.oldest_seconds) == (2, 10.0)
    assert (seen.jobs_total, seen.planned_share) == (6, 0.25)
    whole = progress_of(table, replace(run, planned=True), processes=2, seconds=7.0, now=20.0)
    assert (whole.jobs_total, whole.planned_share) == (6, 1.0)


def test_the_end_is_estimated_after_a_second_of_work():
    for left in (
        replace(AT, jobs_done=300),
        replace(AT, chunks_done=30),
        replace(AT, kernel_ns=10**9),
    ):
        assert "left" in progress_text(left)
    assert "left" not in progress_text(replace(AT, kernel_ns=10**9 - 1))


def test_unexpected_work_is_added():
    split = replace(AT, unforeseen_left=4)
    assert "at least" in progress_text(split)
    assert "about" not in progress_text(split)
    assert left_of(replace(AT, expected_total_s=0.0)) is None


def test_no_end_is_estimated_before_a_second_of_work_or_afterwards():
    early = replace(AT, kernel_ns=5 * 10**8)
    assert left_of(early) is not None, "a dry run tells it"
    assert "left" not in progress_text(early)
    assert "left" not in progress_text(replace(AT, jobs_done=300, chunks_done=30))
