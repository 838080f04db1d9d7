"""Keys that are kept in memory save looks into files, and never hide a row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS
from nightgrid.archive.merging import known_keys
from nightgrid.archive.merging.merge import merge_folder
from nightgrid.archive.merging.without import drop_rows
from nightgrid.archive.results.files import RESULT_FILES, put_rows, result_path
from nightgrid.archive.results.results import find_results
from tests.archive.merging.test_merge import job, nights, put, row, run

LOOKS = 2
"""A file's keys are kept when it is looked into for the second time."""


class CountingLake(Lake):
    """A lake that notes which Parquet files are opened."""

    opened: list[str]

    @contextmanager
    def open_parquet(self, path: str) -> Iterator[Any]:
        self.opened.append(path)
        with super().open_parquet(path) as file:
            yield file


@pytest.fixture
def lake(tmp_path: Path) -> CountingLake:
    found = CountingLake.open(str(tmp_path / "lake"))
    found.opened = []
    nights(found, 4)
    merge_folder(found, RESULT_FILES)
    return found


def looked_up(lake: CountingLake, *numbers: int) -> tuple[list[int], int]:
    """Look jobs up: the counts that were found, and how many files were opened for that."""
    lake.opened.clear()
    found = find_results(lake, [job(number) for number in numbers])
    return sorted(map(int, found.column("count").to_pylist())), len(lake.opened)


def inside(lake: CountingLake) -> int:
    """Find a job that the lake lacks and whose key lies between those of its one merged file."""
    jobs = sorted(job(number) for number in range(12))
    return next(n for n in range(100, 1000) if jobs[0] < job(n) < jobs[-1])


def test_a_file_that_is_known_to_lack_a_key_is_not_opened(lake: CountingLake) -> None:
    absent = inside(lake)
    assert [looked_up(lake, absent) for _ in range(LOOKS)] == [([], 1)] * LOOKS
    assert looked_up(lake, absent) == ([], 0)
    assert looked_up(lake, absent, 5) == ([5], 1)
    assert looked_up(lake, 0, 11) == ([0, 11], 1)


def test_a_file_that_has_come_since_is_looked_into(lake: CountingLake) -> None:
    absent = inside(lake)
    for _ in range(LOOKS):
        looked_up(lake, absent)
    put(lake, run(77), row(absent, run(77)))
    assert looked_up(lake, absent)[0] == [absent]
    merge_folder(lake, RESULT_FILES)
    assert looked_up(lake, absent)[0] == [absent]


def test_of_files_with_many_rows_no_keys_are_kept(
    lake: CountingLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_keys, "KEPT_ROWS", 11)
    assert [looked_up(lake, inside(lake))[1] for _ in range(4)] == [1] * 4


def test_keys_go_where_others_take_their_room(
    lake: CountingLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_keys, "KEPT_BYTES", 12 * 32 - 1)
    assert [looked_up(lake, inside(lake))[1] for _ in range(4)] == [1] * 4


def test_other_lakes_have_other_keys(lake: CountingLake, tmp_path: Path) -> None:
    other = CountingLake.open(str(tmp_path / "other"))
    other.opened = []
    put(other, run(0), row(500, run(0)))
    for number in (500, 501) * LOOKS:
        looked_up(lake, number)
    assert looked_up(other, 500)[0] == [500]


_steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.lists(st.integers(0, 20), min_size=1, max_size=4)),
        st.tuples(st.just("look"), st.lists(st.integers(0, 25), min_size=1, max_size=5)),
        st.tuples(st.just("drop"), st.lists(st.integers(0, 20), min_size=1, max_size=3)),
        st.tuples(st.just("merge"), st.just([])),
    ),
    max_size=25,
)


@given(steps=_steps)
def test_looks_find_what_is_there_whatever_goes_between(
    steps: list[tuple[str, list[int]]],
) -> None:
    with TemporaryDirectory() as folder:
        lake = Lake.open(f"{folder}/lake")
        there: set[int] = set()
        for number, (what, jobs) in enumerate(steps):
            if what == "put":
                name = run(1000 + number)
                rows = sorted((row(n, name) for n in set(jobs)), key=lambda each: each["job_id"])
                put_rows(lake, result_path(name), pa.Table.from_pylist(rows, RESULTS))
                there |= set(jobs)
            elif what == "drop":
                keys = pa.array([job(n) for n in jobs])
                drop_rows(lake, RESULT_FILES, ["job_id"], keys)
                there -= set(jobs)
            elif what == "merge":
                merge_folder(lake, RESULT_FILES)
            else:
                found = find_results(lake, [job(n) for n in jobs])
                assert set(found.column("count").to_pylist()) == there & set(jobs)
