"""Merging the files of results and solutions: no row is lost or doubled, whatever happens
meanwhile."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pyarrow as pa
import pytest
from obstore.store import MemoryStore

from benchmarks.chaos.lakes.stepping import KilledError, SteppingLake, doing_at, killed_at
from nightgrid.archive.lake.encoding import TableFile
from nightgrid.archive.lake.schemas import RESULTS, SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging import merge
from nightgrid.archive.merging.merge import drop_rows, merge_folder
from nightgrid.archive.results.files import (
    RESULT_FILES,
    SOLUTION_FILES,
    merge_answers,
    ranges_where,
    result_path,
)
from nightgrid.archive.results.results import (
    find_results,
    read_results,
    scan_results,
    solution_tables,
    solutions_of,
)

STEPS_MAX = 200


def job(number: int) -> str:
    return sha256(b"%d" % number).hexdigest()[:32]


def run(number: int) -> str:
    return sha256(b"run %d" % number).hexdigest()[:32]


def row(number: int, run_id: str, **given: Any) -> dict[str, Any]:
    told = {"job_id": job(number), "puzzle_id": job(-number), "game": "pips", "ask": "count"}
    told |= {"rules": "", "lexicon_id": "", "solver_version": "v", "status": "solved"}
    costs = {"states": 1, "nodes": 1, "parts": 1, "kernel_ns": 1, "table_bytes": 1}
    return {**told, **costs, "count": number, "reason": "", "run_id": run_id, **given}


def put(lake: Lake, run_id: str, *rows: dict[str, Any]) -> None:
    ordered = sorted(rows, key=lambda found: str(found["job_id"]))
    lake.write_table(result_path(run_id), pa.Table.from_pylist(ordered, RESULTS))


def put_solutions(lake: Lake, number: int, run_id: str, count: int = 2) -> None:
    told = {"job_id": job(number), "puzzle_id": "p", "game": "pips", "ask": "all"}
    rows = [
        {**told, "rank": rank, "solution": f"[{number}, {rank}]", "run_id": run_id}
        for rank in range(count)
    ]
    lake.write_table(f"solutions/{run_id}.parquet", pa.Table.from_pylist(rows, SOLUTIONS))


def nights(lake: Lake, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        put(lake, run(number), *(row(3 * number + i, run(number)) for i in range(3)))


def is_whole(lake: Lake, jobs: int) -> None:
    """Every reader returns every row, and some promise each only once."""
    wanted = [job(number) for number in range(jobs)]
    found = find_results(lake, wanted)
    assert found.column("job_id").to_pylist() == sorted(wanted)
    assert find_results(lake, wanted[-1:]).num_rows == 1
    assert sorted(read_results(lake).column("job_id").to_pylist()) == sorted(wanted)
    scanned = (table.column("job_id").to_pylist() for table in scan_results(lake, ["job_id"]))
    assert set(itertools.chain.from_iterable(scanned)) == set(wanted)
    assert streamed(lake) == Counter(wanted)


def streamed(lake: Lake) -> Counter[str]:
    tables = ranges_where(lake, RESULT_FILES)
    return Counter(name for table in tables for name in table.column("job_id").to_pylist())


@pytest.fixture(
    params=[
        "folder",
        pytest.param(
            "object store",
            marks=pytest.mark.long(
                short="tests/archive/merging/test_merge.py::test_rows_may_be_read_at_any_step_of_a_merge"
            ),
        ),
    ]
)
def new_lake(
    request: pytest.FixtureRequest, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], Lake]:
    """Open another empty lake at each call."""
    numbers = itertools.count()
    if request.param == "folder":
        return lambda: Lake.open(str(tmp_path / f"lake{next(numbers)}"))

    def open_lake() -> Lake:
        store = MemoryStore()
        monkeypatch.setattr("nightgrid.archive.lake.objects.store.connect", lambda _url, **_: store)
        return Lake.open("s3://bucket")

    return open_lake


def at_every_step(
    new_lake: Callable[[], Lake], before: Callable[[int, Lake], Callable[[int, str], None]]
) -> Iterator[tuple[Lake, bool]]:
    """Merge a lake of three nights, killed at a step; return whether it was."""
    for step in itertools.count(1):
        assert step < STEPS_MAX
        lake = new_lake()
        nights(lake, 3)
        stepping = SteppingLake(lake, before(step, lake))
        try:
            merge_folder(stepping, RESULT_FILES)
        except KilledError:
            yield lake, True
            continue
        yield lake, False
        if stepping.steps < step:
            return


def test_a_merge_that_is_killed_before_any_step_leaves_every_row(
    new_lake: Callable[[], Lake],
) -> None:
    kills = 0
    for lake, killed in at_every_step(new_lake, lambda step, _: killed_at(step)):
        kills += killed
        is_whole(lake, 9)
        merge_folder(lake, RESULT_FILES)
        is_whole(lake, 9)
        assert len(lake.list("results")) == 1
    # It lists, reads three files, writes one, deletes three, and lists again.
    assert kills == 9


def test_two_processes_may_merge_at_once(new_lake: Callable[[], Lake]) -> None:
    def before(step: int, lake: Lake) -> Callable[[int, str], None]:
        return doing_at(step, lambda: merge_folder(lake, RESULT_FILES))

    for lake, _ in at_every_step(new_lake, before):
        is_whole(lake, 9)
        merge_folder(lake, RESULT_FILES)
        is_whole(lake, 9)
        assert len(lake.list("results")) == 1


def test_a_process_may_pause_while_others_merge(
    new_lake: Callable[[], Lake],
) -> None:
    def before(step: int, lake: Lake) -> Callable[[int, str], None]:
        def others() -> None:
            merge_folder(lake, RESULT_FILES)
            nights(lake, 2, first=3)
            merge_folder(lake, RESULT_FILES)

        return doing_at(step, others)

    for lake, _ in at_every_step(new_lake, before):
        is_whole(lake, 15 if find_results(lake, [job(14)]).num_rows else 9)
        merge_folder(lake, RESULT_FILES)
        is_whole(lake, 15 if find_results(lake, [job(14)]).num_rows else 9)


def test_answers_may_be_written_while_files_are_merged(new_lake: Callable[[], Lake]) -> None:
    def before(step: int, lake: Lake) -> Callable[[int, str], None]:
        return doing_at(step, lambda: nights(lake, 1, first=3))

    for lake, _ in at_every_step(new_lake, before):
        nights(lake, 1, first=3)
        is_whole(lake, 12)
        merge_folder(lake, RESULT_FILES)
        is_whole(lake, 12)
        assert len(lake.list("results")) == 1


def test_rows_may_be_read_at_any_step_of_a_merge(new_lake: Callable[[], Lake]) -> None:
    for _ in at_every_step(new_lake, lambda step, lake: doing_at(step, lambda: is_whole(lake, 9))):
        pass


@pytest.mark.parametrize("read", [find_results, read_results, streamed], ids=lambda f: f.__name__)
def test_files_may_be_merged_at_any_step_of_a_reader(
    new_lake: Callable[[], Lake], read: Callable[..., Any]
) -> None:
    wanted = [job(number) for number in range(12)]
    for step in itertools.count(1):
        assert step < STEPS_MAX
        lake = new_lake()
        nights(lake, 4)
        stepping = SteppingLake(lake, doing_at(step, lambda lake=lake: merge_answers(lake)))  # type: ignore[misc]
        found = read(stepping, wanted) if read is find_results else read(stepping)
        names = found if read is streamed else Counter(found.column("job_id").to_pylist())
        assert names == Counter(wanted)
        if stepping.steps < step:
            break


def test_a_listing_that_is_made_during_a_merge_may_lack_old_and_new_files(lake: Lake) -> None:
    nights(lake, 2)

    class TornLake(SteppingLake):
        def names(self, folder: str) -> list[str]:
            before = super().names(folder)
            if self.steps == 1:
                merge_answers(lake)
                return [path for path in before if lake.exists(path)]
            return before

    torn = TornLake(lake, lambda *_: None)
    assert find_results(torn, [job(1)]).num_rows == 1


def test_the_number_of_files_grows_with_the_logarithm_of_the_rows(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge, "SMALL_BYTES", 8_000)
    counts = []
    for number in range(30):
        nights(lake, 3, first=3 * number)
        merge_answers(lake)
        counts.append(len(lake.list("results")))
    assert max(counts) <= 4
    assert read_results(lake).num_rows == 270
    # Nothing new, nothing to do.
    before = lake.list("results")
    assert merge_answers(lake) == ()
    assert lake.list("results") == before


def test_a_look_up_reads_one_row_group_of_a_merged_file(lake: Lake) -> None:
    nights(lake, 6)
    merge_folder(lake, replace(RESULT_FILES, group_rows=4))
    (path,) = lake.list("results")
    assert len(lake.row_groups(path)) == 5
    is_whole(lake, 18)
    read: list[int] = []

    class CountingFile(TableFile):
        def group(self, number: int, wanted: pa.Schema) -> pa.Table:
            read.append(number)
            return super().group(number, wanted)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nightgrid.archive.lake.storage.TableFile", CountingFile)
        assert find_results(lake, [job(7)]).num_rows == 1
    assert len(set(read)) == 1


def test_a_merge_takes_a_bounded_number_of_bytes_and_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = {f"results/{number}.parquet": 10 + number for number in range(9)}
    monkeypatch.setattr(merge, "AT_ONCE_BYTES", 40)
    assert merge.choose(sizes) == list(sizes)[:3]
    monkeypatch.setattr(merge, "INPUTS_MAX", 2)
    assert merge.choose(sizes) == list(sizes)[:2]


def test_rows_are_dropped_of_every_file_that_has_them(lake: Lake) -> None:
    nights(lake, 2)
    merge_answers(lake)
    nights(lake, 2, first=2)
    gone = pa.array([job(0), job(6), job(7), job(8)])
    assert drop_rows(lake, RESULT_FILES, ("job_id",), gone) > 0
    left = sorted({job(number) for number in range(12)} - set(gone.to_pylist()))
    assert read_results(lake).column("job_id").to_pylist() == left
    assert result_path(run(2)) not in lake.list("results"), "nothing of it stays"
    assert drop_rows(lake, RESULT_FILES, ("job_id",), gone) == 0


def test_a_damaged_merged_file_of_the_same_rows_is_written_again(lake: Lake) -> None:
    nights(lake, 2)
    kept = {path: lake.read_bytes(path) for path in lake.list("results")}
    merge_answers(lake)
    (merged,) = lake.list("results")
    lake.write_bytes(merged, b"PAR1 and nothing else")
    for path, data in kept.items():
        lake.write_bytes(path, data)
    merge_answers(lake)
    is_whole(lake, 6)
    assert lake.list("results") == [merged]


def test_a_file_that_cannot_be_read_stays_and_keeps_nothing_from_being_merged(lake: Lake) -> None:
    nights(lake, 3)
    lake.write_bytes("results/foreign.parquet", b"PAR1 and nothing else")
    cut = lake.read_bytes(result_path(run(2)))[:-100]
    lake.write_bytes(result_path(run(2)), cut)
    assert set(merge_answers(lake)) == {"results/foreign.parquet", result_path(run(2))}
    assert lake.read_bytes(result_path(run(2))) == cut


def test_rows_that_are_duplicated_become_one_and_other_endings_stay(lake: Lake) -> None:
    put(lake, "r1", row(1, "r1", status="over_budget", count=None), row(2, "r1"))
    put(lake, "r2", row(1, "r2"), row(2, "r2"))
    put(lake, "copy", row(1, "r2", kernel_ns=7))
    merge_answers(lake)
    rows = read_results(lake).select(["job_id", "run_id", "status"]).to_pylist()
    assert [tuple(found.values()) for found in rows] == sorted(
        [
            (job(1), "r1", "over_budget"),
            (job(1), "r2", "solved"),
            (job(2), "r1", "solved"),
            (job(2), "r2", "solved"),
        ]
    )


def solutions_in(lake: Lake, number: int) -> list[object]:
    row = {"job_id": job(number), "run_id": run(number), "ask": "all", "count": 2}
    texts = (t for table in solution_tables(lake, row) for t in table["solution"].to_pylist())
    return [json.loads(text) for text in texts]


def test_solutions_are_merged(lake: Lake) -> None:
    for number in range(5):
        put_solutions(lake, number, run(number))
    deeper = f"solutions/{run(8)}/{job(8)}/000000000000-000000000001.parquet"
    lake.write_bytes(deeper, b"of a job with many solutions")
    merge_folder(lake, SOLUTION_FILES)
    assert len(lake.list("solutions")) == 2
    assert deeper in lake.list("solutions")
    for number in range(5):
        assert solutions_in(lake, number) == [[number, 0], [number, 1]]
    assert solutions_of(lake, {job(1): run(1)}) == {job(1): ["[1, 0]", "[1, 1]"]}
