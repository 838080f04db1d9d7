from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchmarks.chaos.lakes.interleaving import in_turns
from nightgrid.archive.games import archive_plug
from nightgrid.archive.ingest.puzzles import (
    add_puzzles,
    puzzles_folder,
    puzzles_table,
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


def test_boards_survive_the_table(lake: Lake) -> None:
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


def test_many_nights_of_few_boards_make_one_segment(lake: Lake) -> None:
    for night in range(6):
        add_puzzles(lake, "pips", puzzles_table(PIPS, boards(0, 2 * night + 2)))
    assert segments(lake) == [12]


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
    """The steps of processes that add boards."""

    def add(turn: Callable[[Lake], Any], boards: list[Puzzle]) -> int:
        return add_puzzles(turn(lake), "pips", puzzles_table(PIPS, boards))

    return {name: partial(add, boards=boards) for name, boards in found.items()}


def test_a_damaged_segment_is_set_aside_by_a_night(lake: Lake) -> None:
    add_puzzles(lake, "pips", puzzles_table(PIPS, ALL[:3]))
    (path,) = lake.list(puzzles_folder("pips"))
    assert len(readable_puzzle_ids(lake, "pips")) == 3
    lake.write_bytes(path, b"PAR1 of another kind")
    assert len(readable_puzzle_ids(lake, "pips")) == 0
    assert not lake.exists(path)
