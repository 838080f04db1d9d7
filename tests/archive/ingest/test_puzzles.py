from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from nightgrid.archive.games import archive_plug
from nightgrid.archive.ingest.puzzles import (
    add_puzzles,
    puzzles_folder,
    puzzles_table,
    read_puzzle_table,
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


def test_segments_are_filled_one_after_the_other_and_sorted(lake: Lake) -> None:
    add_puzzles(lake, "pips", puzzles_table(PIPS, boards(0, 7)), segment_rows=5)
    assert segments(lake) == [5, 2]
    first = lake.read_bytes(f"{puzzles_folder('pips')}/seg-00000.parquet")
    add_puzzles(lake, "pips", puzzles_table(PIPS, boards(0, 16)), segment_rows=5)
    assert segments(lake) == [5, 5, 5, 1]
    assert lake.read_bytes(f"{puzzles_folder('pips')}/seg-00000.parquet") == first
    for path in lake.list(puzzles_folder("pips")):
        names = ids(lake.read_table(path, PIPS_PUZZLES))
        assert names == sorted(names)


@pytest.mark.parametrize("survived", [0, 1, 2, 3])
def test_an_interrupted_addition_made_again_leaves_the_same_files(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: Callable[[Path], dict[str, str]],
    survived: int,
) -> None:
    whole, killed = Lake.open(str(tmp_path / "whole")), Lake.open(str(tmp_path / "killed"))
    for lake in (whole, killed):
        add_puzzles(lake, "pips", puzzles_table(PIPS, boards(0, 3)), segment_rows=5)
    table = puzzles_table(PIPS, boards(0, 18))
    add_puzzles(whole, "pips", table, segment_rows=5)
    write, left = Lake.write_table, [survived]

    def failing(self: Lake, path: str, table: pa.Table) -> None:
        if left[0] == 0:
            raise KeyboardInterrupt
        left[0] -= 1
        write(self, path, table)

    with monkeypatch.context() as patch:
        patch.setattr(Lake, "write_table", failing)
        with pytest.raises(KeyboardInterrupt):
            add_puzzles(killed, "pips", table, segment_rows=5)
    add_puzzles(killed, "pips", table, segment_rows=5)
    assert snapshot(tmp_path / "killed") == snapshot(tmp_path / "whole")
