from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchmarks.chaos.lakes.interleaving import in_turns
from nightgrid.archive.games import archive_plug
from nightgrid.archive.ingest import puzzles, segment_ids
from nightgrid.archive.ingest.puzzles import (
    add_puzzles,
    puzzles_folder,
    puzzles_table,
    read_boards,
    read_puzzle_table,
    readable_puzzle_ids,
)
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.pips.columns import from_arrays
from nightgrid.solvers.pips.game import PipsGame
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.pips.puzzle import Puzzle

PIPS = PipsGame()

PIPS_PUZZLES = archive_plug("pips").puzzles()


def boards(first: int, last: int) -> list[Puzzle]:
    return [generate(PRESETS["medium"], seed)[0] for seed in range(first, last)]


ALL = boards(0, 9)


def ids(table: pa.Table) -> list[str]:
    return table.column("puzzle_id").to_pylist()


def segments(lake: Lake) -> list[int]:
    folder = puzzles_folder("pips")
    return [len(lake.read_table(path, PIPS_PUZZLES)) for path in lake.list(folder)]


def test_boards_survive_the_way_into_the_table_and_back(lake: Lake) -> None:
    puzzles = boards(0, 20)
    table = puzzles_table(PIPS, puzzles)
    assert table.schema.equals(PIPS_PUZZLES, check_metadata=True)
    table.validate(full=True)
    arrays = arrays_of(table)
    assert [from_arrays(arrays, i) for i in range(len(puzzles))] == puzzles
    add_puzzles(lake, "pips", table)
    read = read_puzzle_table(lake, "pips")
    arrays = arrays_of(read)
    by_id = {puzzle.puzzle_id: puzzle for puzzle in puzzles}
    assert [from_arrays(arrays, i) for i in range(len(read))] == [by_id[name] for name in ids(read)]


def test_no_boards_are_an_empty_table(lake: Lake) -> None:
    assert puzzles_table(PIPS, []).equals(PIPS_PUZZLES.empty_table())
    assert add_puzzles(lake, "pips", puzzles_table(PIPS, [])) == 0
    assert lake.list("") == []


def test_a_board_is_added_once(lake: Lake) -> None:
    assert add_puzzles(lake, "pips", puzzles_table(PIPS, boards(0, 5) + boards(3, 8))) == 8
    assert add_puzzles(lake, "pips", puzzles_table(PIPS, boards(6, 10))) == 2
    assert add_puzzles(lake, "pips", puzzles_table(PIPS, boards(0, 10))) == 0
    assert sorted(ids(read_puzzle_table(lake, "pips"))) == sorted(
        p.puzzle_id for p in boards(0, 10)
    )


def test_segments_are_sorted_and_merged_and_never_written_over(lake: Lake) -> None:
    add_puzzles(lake, "pips", puzzles_table(PIPS, boards(0, 7)), segment_rows=5)
    assert sorted(segments(lake)) == [2, 5]
    before = {path: lake.read_bytes(path) for path in lake.list(puzzles_folder("pips"))}
    add_puzzles(lake, "pips", puzzles_table(PIPS, boards(0, 9)), segment_rows=5)
    assert sorted(segments(lake)) == [4, 5]
    for path in lake.list(puzzles_folder("pips")):
        assert lake.read_bytes(path) == before.get(path, lake.read_bytes(path))
        names = ids(lake.read_table(path, PIPS_PUZZLES))
        assert names == sorted(names)


def test_many_nights_of_few_boards_make_one_segment(lake: Lake) -> None:
    for night in range(6):
        add_puzzles(lake, "pips", puzzles_table(PIPS, boards(0, 2 * night + 2)))
    assert segments(lake) == [12]


class Killed(BaseException):
    """The end of the process."""


@pytest.mark.parametrize("survived", range(7))
def test_an_interrupted_addition_made_again_leaves_the_same_files(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: Callable[[Path], dict[str, str]],
    survived: int,
) -> None:
    whole, killed = Lake.open(str(tmp_path / "whole")), Lake.open(str(tmp_path / "killed"))
    for lake in (whole, killed):
        add_puzzles(lake, "pips", puzzles_table(PIPS, boards(0, 3)), segment_rows=5)
    table = puzzles_table(PIPS, boards(0, 15))
    add_puzzles(whole, "pips", table, segment_rows=5)
    left = [survived]

    def failing(change: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*arguments: Any, **more: Any) -> Any:
            if left[0] == 0:
                raise Killed
            left[0] -= 1
            return change(*arguments, **more)

        return changed

    with monkeypatch.context() as patch:
        for name in ("create_table", "delete"):
            patch.setattr(Lake, name, failing(getattr(Lake, name)))
        with suppress(Killed):
            add_puzzles(killed, "pips", table, segment_rows=5)
    add_puzzles(killed, "pips", table, segment_rows=5)
    assert ids(read_puzzle_table(killed, "pips")) == ids(read_puzzle_table(whole, "pips"))
    assert snapshot(tmp_path / "killed") == snapshot(tmp_path / "whole")


@pytest.mark.parametrize("first", range(14))
def test_two_processes_that_add_boards_in_any_order_lose_none(tmp_path: Path, first: int) -> None:
    """Given two nights on two hosts, When their steps alternate, Then no board is lost."""
    for second in range(14):
        lake = Lake.open(str(tmp_path / f"lake-{second}"))
        add_puzzles(lake, "pips", puzzles_table(PIPS, ALL[:3]))
        in_turns("a" * first + "b" * second + "a" * 20, adding(lake, a=ALL[2:6], b=ALL[4:9]))
        read = ids(read_puzzle_table(lake, "pips"))
        assert sorted(read) == sorted(board.puzzle_id for board in ALL)
        add_puzzles(lake, "pips", puzzles_table(PIPS, []))
        assert segments(lake) == [len(ALL)]


def adding(lake: Lake, **found: list[Puzzle]) -> dict[str, Callable[..., int]]:
    """What processes do that add boards they have found."""

    def add(turn: Callable[[Lake], Any], boards: list[Puzzle]) -> int:
        return add_puzzles(turn(lake), "pips", puzzles_table(PIPS, boards))

    return {name: partial(add, boards=boards) for name, boards in found.items()}


@pytest.mark.parametrize("kept", [False, True])
def test_of_segments_without_a_board_that_is_wanted_ids_alone_are_read(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, *, kept: bool
) -> None:
    """Given ids that were written a moment ago, Then not even those are read."""
    first, second = puzzles_table(PIPS, ALL[:3]), puzzles_table(PIPS, ALL[3:6])
    monkeypatch.setattr(puzzles, "_worth_merging", lambda *_: [])
    add_puzzles(lake, "pips", first)
    add_puzzles(lake, "pips", second)
    if not kept:
        segment_ids._kept.clear()
    read: list[object] = []
    whole: list[str] = []
    read_table, rows_among = Lake.read_table, Lake.rows_among

    def reading(self: Lake, path: str, schema: pa.Schema, columns: object = None) -> pa.Table:
        read.append(columns)
        return read_table(self, path, schema, columns)

    def among(self: Lake, path: str, *given: Any) -> pa.Table:
        whole.append(path)
        return rows_among(self, path, *given)

    monkeypatch.setattr(Lake, "read_table", reading)
    monkeypatch.setattr(Lake, "rows_among", among)
    wanted = second.column("puzzle_id").combine_chunks()[:1]

    found = read_boards(lake, "pips", wanted)

    assert ids(found) == wanted.to_pylist()
    assert read == [["puzzle_id"]] * (0 if kept else 2)
    (path,) = whole
    assert set(ids(Lake.read_table(lake, path, archive_plug("pips").puzzles()))) == set(ids(second))


def test_ids_that_are_kept_hide_no_damage_from_a_night(lake: Lake) -> None:
    add_puzzles(lake, "pips", puzzles_table(PIPS, ALL[:3]))
    (path,) = lake.list(puzzles_folder("pips"))
    assert len(readable_puzzle_ids(lake, "pips")) == 3
    lake.write_bytes(path, b"PAR1 of another kind")

    assert len(readable_puzzle_ids(lake, "pips")) == 0

    assert not lake.exists(path)


def test_ids_of_segments_that_are_gone_are_kept_for_no_other(lake: Lake) -> None:
    add_puzzles(lake, "pips", puzzles_table(PIPS, ALL[:3]))
    for path in lake.list(puzzles_folder("pips")):
        lake.delete(path)
    assert add_puzzles(lake, "pips", puzzles_table(PIPS, ALL[:3])) == 3
    assert sorted(ids(read_puzzle_table(lake, "pips"))) == sorted(
        PIPS.puzzle_id(p) for p in ALL[:3]
    )


def test_the_ids_of_a_large_segment_are_not_kept(lake: Lake) -> None:
    many = pa.chunked_array([pa.array([f"{i:032x}" for i in range(300_000)])])
    segment_ids.keep_ids(lake, "puzzles/game=pips/seg-1.parquet", many)
    assert segment_ids.kept_ids(lake, "puzzles/game=pips/seg-1.parquet") is None
    assert segment_ids._kept.currsize <= segment_ids.KEPT_BYTES


def test_ids_that_are_kept_hold_no_larger_table(lake: Lake) -> None:
    many = pa.chunked_array([pa.array([f"{i:032x}" for i in range(300_000)])])
    segment_ids._kept.clear()
    size, before = many.nbytes, pa.total_allocated_bytes()
    segment_ids.keep_ids(lake, "puzzles/game=pips/seg-2.parquet", many.slice(7, 10))
    del many
    assert before - pa.total_allocated_bytes() > 0.9 * size
    kept = segment_ids.kept_ids(lake, "puzzles/game=pips/seg-2.parquet")
    assert kept is not None
    assert kept.to_pylist() == [f"{i:032x}" for i in range(7, 17)]
