"""Keys that are kept in memory save looks into files, and never hide a row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from cachetools import TTLCache
from hypothesis import given
from hypothesis import strategies as st

from nightgrid.archive.lake.conforming import select
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


def test_keys_are_kept_while_there_is_room(
    lake: CountingLake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given room for the keys of one file, Then another one is looked into each time."""
    room = 12 * 32 + known_keys.ENTRY_BYTES
    kept = TTLCache(room, 60.0, getsizeof=known_keys._kept.getsizeof)
    monkeypatch.setattr(known_keys, "_kept", kept)
    other = CountingLake.open(str(tmp_path / "other"))
    other.opened = []
    nights(other, 4)
    merge_folder(other, RESULT_FILES)
    absent = inside(lake)
    assert [looked_up(lake, absent)[1] for _ in range(4)] == [1, 1, 0, 0]
    assert [looked_up(other, absent)[1] for _ in range(4)] == [1, 1, 1, 1]
    assert looked_up(lake, absent) == ([], 0)
    assert looked_up(lake, 5) == ([5], 1)
    assert kept.currsize <= room


def test_files_that_come_back_with_other_rows_are_looked_into_after_a_while(
    lake: CountingLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a merged file in whose place another one is put, as no program of ours does."""
    now = [0.0]
    kept = TTLCache(2**20, known_keys.KEPT_S, lambda: now[0], known_keys._kept.getsizeof)
    monkeypatch.setattr(known_keys, "_kept", kept)
    absent = inside(lake)
    for _ in range(LOOKS + 1):
        assert looked_up(lake, absent)[0] == []
    (path,) = lake.list("results")
    rows = [row(number, run(0)) for number in (*range(12), absent)]
    ordered = sorted(rows, key=lambda each: each["job_id"])
    lake.write_table(path, pa.Table.from_pylist(ordered, RESULTS))
    assert looked_up(lake, absent) == ([], 0)
    now[0] += known_keys.KEPT_S
    assert looked_up(lake, absent) == ([absent], 1)


def test_files_of_runs_are_looked_into_each_time(lake: CountingLake) -> None:
    """Given a run that files rows anew under its name, Then they are found."""
    absent = inside(lake)
    put(lake, run(50), row(60, run(50)), row(61, run(50)))
    for _ in range(LOOKS + 1):
        assert looked_up(lake, 60, absent)[0] == [60]
    (Path(lake.url) / result_path(run(50))).unlink()
    put(lake, run(50), row(60, run(50)), row(absent, run(50)))
    assert looked_up(lake, 60, absent)[0] == sorted([60, absent])


def test_a_harmed_row_group_hides_no_other(lake: CountingLake) -> None:
    """Given a merged file of two groups, the keys of the first of them harmed."""
    nights(lake, 4, first=4)
    merge_folder(lake, replace(RESULT_FILES, group_rows=12))
    (path,) = lake.list("results")
    with lake.open_parquet(path) as file:
        at = file.schema_arrow.names.index("job_id")
        column = file.metadata.row_group(0).column(at)
        wanted = select(RESULTS, ["job_id", "count"])
        first, last = (int(file.group(n, wanted).column(1)[-n].as_py()) for n in (0, 1))
    harmed = bytearray(lake.read_bytes(path))
    middle = column.data_page_offset + column.total_compressed_size - 1
    harmed[middle] ^= 0xFF
    lake.write_bytes(path, bytes(harmed))
    assert looked_up(lake, first)[0] == [], "it is harmed"
    for _ in range(LOOKS + 2):
        assert looked_up(lake, last)[0] == [last]


def test_other_lakes_have_other_keys(lake: CountingLake, tmp_path: Path) -> None:
    other = CountingLake.open(str(tmp_path / "other"))
    other.opened = []
    absent = inside(lake)
    put(other, run(0), row(absent, run(0)), row(1, run(0)))
    put(other, run(1), row(2, run(1)))
    merge_folder(other, RESULT_FILES)
    for _ in range(LOOKS + 1):
        assert looked_up(lake, absent)[0] == []
        assert looked_up(other, absent)[0] == [absent]


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
