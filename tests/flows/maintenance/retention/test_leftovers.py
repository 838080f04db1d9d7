"""Retention of results takes along what they alone needed: puzzles of questions, divisions."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from benchmarks.chaos.lakes.nights import write_days
from benchmarks.nights.month_night import Killed, dying_at, raise_killed
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.asked import AskedPuzzle, find_asked, keep_asked
from nightgrid.archive.results.files import merge_answers
from nightgrid.archive.results.parts import parts_of
from nightgrid.archive.results.results import read_results
from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.flows.maintenance.prune import prune_lake
from nightgrid.flows.maintenance.retention import leftovers
from nightgrid.flows.maintenance.retention.pruned import Kept, Pruned, WithResults
from nightgrid.service.http.solves.views import Views
from nightgrid.workers.ondemand.jobs import submitting
from nightgrid.workers.ondemand.jobs.submitting import plan_job, submit
from nightgrid.workers.ondemand.record_files import delete_record, record_path
from nightgrid.workers.settings import Settings
from tests.flows.maintenance.retention.lakes import (
    age_files,
    dying_at_delete,
    night,
    pruned,
    times_killed,
)
from tests.flows.maintenance.retention.questions import (
    GAME,
    HALVES,
    QUESTION,
    answer,
    ask,
    asked,
    board,
    budget_of,
    check_shown,
    divided,
    job_id,
    want,
)

STAY, GO = {2, 4, 5, 6}, {0, 1, 3, 7}
"""Boards of questions that something refers to or that are young, and the others."""
ANSWERED = {2, 6}
"""Boards whose answers stay."""


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Answers on demand, old and young ones, beside those of a night."""
    folder = tmp_path_factory.mktemp("worked")
    write_days(folder / "source", [0])
    night(folder)
    lake = Lake.open(str(folder / "lake"))
    for numbers in ((0, 1), (2,), (3,), (4,), (6, 7)):
        ask(lake, *numbers)
    answer(lake, 0, 1)
    answer(lake, 7)
    age_files(lake, "asked", "results", "solutions", "divisions")
    answer(lake, 2)
    answer(lake, 6)
    want(lake, 4)
    ask(lake, 5)
    return folder


@pytest.fixture
def lake(worked: Path, tmp_path: Path) -> Lake:
    shutil.copytree(worked, tmp_path, dirs_exist_ok=True)
    return Lake.open(str(tmp_path / "lake"))


def prune(lake: Lake, **more: Any) -> Pruned:
    """Drop what is old of all games; divisions have a row of their own."""
    days, now = more.pop("days", 30.0), more.pop("now", dt.datetime.now(dt.UTC))
    rows = list(prune_lake(lake, {Kept.RESULTS: days}, now=now, **more))
    assert {row.game for row in rows} <= {"pips", None}
    assert all(row.with_them for row in rows)
    with_them = [asdict(row.with_them) for row in rows if row.with_them]
    return Pruned(
        what=Kept.RESULTS,
        game=None,
        count=sum(row.count for row in rows),
        freed_bytes=sum(row.freed_bytes for row in rows),
        with_them=WithResults(
            **{
                name: sum(told[name] for told in with_them)
                for name in ("corpora", "puzzles", "divisions")
            }
        ),
    )


def test_divisions_are_of_no_game(lake: Lake) -> None:
    """Given one game, Then divisions stay, also those of jobs whose rows go."""
    done = pruned(lake, Kept.RESULTS, now=dt.datetime.now(dt.UTC))
    assert (done.count, done.with_them) == (3, WithResults(puzzles=4))
    assert divided(lake) == {0, 1, 2, 6, 7}
    assert prune(lake).with_them == WithResults(divisions=3)
    assert divided(lake) == ANSWERED


def test_what_nothing_refers_to_goes_and_what_a_row_needs_stays(lake: Lake) -> None:
    assert (asked(lake), divided(lake)) == (STAY | GO, {0, 1, 2, 6, 7})
    would = prune(lake, dry_run=True)
    assert (asked(lake), divided(lake)) == (STAY | GO, {0, 1, 2, 6, 7})
    done = prune(lake)
    assert done == would
    assert (done.count, done.with_them) == (3, WithResults(puzzles=4, divisions=3))
    assert done.to_json()["puzzles"] == 4
    assert (asked(lake), divided(lake)) == (STAY, ANSWERED)
    assert check_shown(lake) == ANSWERED
    assert list(check_lake_files(lake)) == []
    assert prune(lake).with_them == WithResults()


def test_a_row_that_stays_is_shown_by_the_service_with_its_board(lake: Lake) -> None:
    prune(lake)
    for number in ANSWERED:
        shown = Views(lake).look(job_id(number))
        assert shown is not None
        assert shown["puzzle"] == GAME.puzzle_to_json(board(number))
        assert len(shown["answer"]["parts"]) == 2
    assert Views(lake).look(job_id(0)) is None


def test_a_question_asked_again_has_its_board_again(lake: Lake) -> None:
    prune(lake)
    settings = Settings(lake=lake.url, var_dir=Path(f"{lake.url}-var"))
    with mock.patch.object(submitting, "publish"):
        submit(lake, board(0), QUESTION.ask, settings=settings)
    assert prune(lake).with_them == WithResults()
    assert asked(lake) == {0, *STAY}
    answer(lake, 0)
    delete_record(lake, job_id(0))
    assert prune(lake).with_them == WithResults()
    assert check_shown(lake) == {0, *ANSWERED}


def test_a_puzzle_stays_while_its_question_is_wanted(lake: Lake) -> None:
    prune(lake)
    delete_record(lake, job_id(4))
    assert prune(lake).with_them == WithResults(puzzles=1)
    assert asked(lake) == STAY - {4}


def test_a_puzzle_stays_while_a_run_about_it_goes_on(lake: Lake) -> None:
    plan_job(lake, GAME, board(3), QUESTION.ask, budget_of(lake))
    prune(lake)
    assert asked(lake) == {3, *STAY}


def test_a_question_answered_again_is_shown_with_its_new_parts(lake: Lake) -> None:
    """Given parts whose row is gone, When the job is answered again, Then they are replaced."""
    pruned(lake, Kept.RESULTS, now=dt.datetime.now(dt.UTC))
    assert divided(lake) >= {0, 1}
    answer(lake, 0, parts=[*HALVES, replace(HALVES[0], path="2")])
    answer(lake, 1, parts=())
    shown = {row["job_id"]: len(parts_of(lake, row)) for row in read_results(lake).to_pylist()}
    assert (shown[job_id(0)], shown[job_id(1)]) == (3, 0)


def while_needed_is_read(act: Callable[[], Any]) -> Any:
    """Have something done between the reading of what is needed and the first deletion."""
    read = leftovers._read_needed

    def reading(*given: Any) -> Any:
        found = read(*given)
        act()
        return found

    return mock.patch.object(leftovers, "_read_needed", reading)


def test_divisions_that_are_written_while_leftovers_are_read_stay(lake: Lake) -> None:
    """Given divisions that go, When their job is answered again meanwhile, Then they stay."""
    with while_needed_is_read(lambda: answer(lake, 0)):
        prune(lake)
    assert divided(lake) == {0, *ANSWERED}


def test_a_puzzle_that_is_asked_while_rows_are_dropped_stays(lake: Lake) -> None:
    """Given a board that goes, When it is asked again meanwhile, Then its new file stays."""
    with while_needed_is_read(lambda: ask(lake, 0)):
        prune(lake)
    assert asked(lake) == {0, *STAY}


def test_what_was_asked_on_another_day_has_a_file_of_its_own(lake: Lake) -> None:
    prune(lake)
    before = lake.list("asked")
    with mock.patch("nightgrid.archive.results.asked.dt") as clock:
        clock.datetime.now.return_value = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
        ask(lake, 5)
        first = lake.list("asked")
        ask(lake, 5)
        assert lake.list("asked") == first, "the same question on the same day"
        ask(lake, 2, 5)
    assert len(lake.list("asked")) == len(before) + 2
    merge_answers(lake)
    assert len(lake.list("asked")) == 1
    assert asked(lake) == STAY
    assert check_shown(lake) == ANSWERED


def test_what_is_younger_than_two_days_stays_whatever_is_kept(lake: Lake) -> None:
    assert prune(lake, days=0).count == 5
    assert asked(lake) == {4, 5}
    assert divided(lake) == ANSWERED
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=3)
    assert prune(lake, days=0, now=later).with_them == WithResults(puzzles=1, divisions=2)
    assert asked(lake) == {4}


def test_a_game_keeps_the_puzzles_that_another_one_drops(lake: Lake) -> None:
    keep_asked(lake, [AskedPuzzle("9" * 32, "strands", {"rows": []})])
    age_files(lake, "asked")
    pruned(lake, Kept.RESULTS, now=dt.datetime.now(dt.UTC))
    assert find_asked(lake, "9" * 32) is not None
    (done,) = prune_lake(lake, {Kept.RESULTS: 30.0}, ["strands"])
    assert done.with_them == WithResults(puzzles=1)
    assert find_asked(lake, "9" * 32) is None


def test_nothing_goes_while_what_may_refer_to_it_cannot_be_read(lake: Lake) -> None:
    """Given a damaged file, Then puzzles and divisions stay, and it is named."""
    path = f"results/{'d' * 32}.parquet"
    lake.write_bytes(path, b"harm")
    done = prune(lake)
    assert (done.count, done.with_them) == (3, WithResults())
    assert (asked(lake), divided(lake)) == (STAY | GO, {0, 1, 2, 6, 7})
    assert path in skipped_files()
    forget(*skipped_files())
    lake.delete(path)
    assert prune(lake).with_them == WithResults(puzzles=4, divisions=3)


def test_puzzles_stay_while_a_record_of_a_job_cannot_be_read(lake: Lake) -> None:
    """Given a damaged record, Then puzzles stay, and it is named; divisions need no record."""
    path = record_path(job_id(4))
    sound = lake.read_bytes(path)
    age_files(lake, "asked")
    lake.write_bytes(path, b"harm")
    assert prune(lake).with_them == WithResults(divisions=3)
    assert asked(lake) == STAY | GO
    assert path in skipped_files()
    forget(*skipped_files())
    lake.write_bytes(path, sound)
    assert prune(lake).with_them == WithResults(puzzles=5)
    assert asked(lake) == STAY - {5}


@pytest.fixture
def killed_in(worked: Path, tmp_path: Path) -> Callable[[str, Any], bool]:
    """Kill a call in a copy of a lake, and end it by another one."""

    def is_ended_after(name: str, dying: Any) -> bool:
        folder = tmp_path / name
        shutil.copytree(worked, folder)
        lake = Lake.open(str(folder / "lake"))
        killed = False
        try:
            with dying:
                prune(lake)
        except Killed:
            killed = True
        assert check_shown(lake) >= ANSWERED
        assert asked(lake) >= STAY
        prune(lake)
        assert (asked(lake), divided(lake)) == (STAY, ANSWERED)
        assert check_shown(lake) == ANSWERED
        assert list(check_lake_files(lake)) == []
        return killed

    return is_ended_after


def test_one_that_is_killed_is_ended_by_the_next(killed_in: Callable[[str, Any], bool]) -> None:
    assert killed_in("write", dying_at(4, raise_killed))
    assert killed_in("delete", dying_at_delete(4))


@pytest.mark.long(
    short="tests/flows/maintenance/retention/test_leftovers.py::"
    "test_one_that_is_killed_is_ended_by_the_next"
)
def test_one_that_is_killed_anywhere_is_ended_by_the_next(
    killed_in: Callable[[str, Any], bool],
) -> None:
    writes, deletes = times_killed(killed_in)
    assert writes > 3
    assert deletes > 5
