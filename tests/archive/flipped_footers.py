"""Flip bits of the footers of Parquet files, one after the other, and read what is left.

`python -m tests.archive.flipped_footers KIND FOLDER COUNT SEED` is a process of its own, since what
is looked for is an end of the process. It names each bit before it reads, and at last how many
reads ended how.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq

from nightgrid.archive.corpus.inputs import read_inputs
from nightgrid.archive.corpus.parquet import read_parquet
from nightgrid.archive.games import archive_plug
from nightgrid.archive.games.generator_spec import make_boards, read_generator_spec
from nightgrid.archive.ingest.puzzles import puzzles_folder, puzzles_table
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS, manifest_schema
from nightgrid.archive.lookup.boards import find_boards
from nightgrid.archive.lookup.reference import read_reference
from nightgrid.archive.merging import merge
from nightgrid.archive.payloads.published import Published
from nightgrid.archive.results.files import RESULT_FILES, put_rows, result_path
from nightgrid.archive.results.results import find_results, read_results
from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game as game_named
from tests.archive.lake.test_encoding import rows_of

BOARDS = 12
GROUP_ROWS = 5


def boards() -> pa.Table:
    """Make a table of boards of Pips, whose columns are lists."""
    spec = read_generator_spec(f"pips:n={BOARDS},seed=7")
    return puzzles_table(
        game_named("pips"), [board.puzzle for board in make_boards(spec, 0, BOARDS)]
    )


def of_elsewhere(folder: Path) -> tuple[Path, Callable[[], str]]:
    """Write boards as another program does, to be counted: `nightgrid count FILE`."""
    path, game = folder / "boards.parquet", game_named("pips")
    pq.write_table(boards().replace_schema_metadata(None), path, row_group_size=GROUP_ROWS)

    def read() -> str:
        inputs = read_inputs(str(path))
        assert inputs.files is not None
        found = list(read_parquet(game, folder, inputs.files.to_pylist()))
        sound = sum(isinstance(row.item, Published) for row in found)
        return "the same" if sound == len(found) == BOARDS else "faults"

    return path, read


def with_lists(folder: Path) -> tuple[Path, Callable[[], str]]:
    """Write boards to a lake; read all, row groups, and one by its id."""
    lake, table = Lake.open(str(folder)), boards()
    path = f"{puzzles_folder('pips')}/x.parquet"
    groups = (table.slice(at, GROUP_ROWS) for at in range(0, BOARDS, GROUP_ROWS))
    lake.write_row_groups(path, groups, table.schema)
    one = table.column("puzzle_id")[7].as_py()

    def read() -> str:
        # A look by id goes another way; whether it finds a board does not depend on this.
        with_sentence(lambda: find_boards(lake, read_reference(one)))
        whole = lake.read_table(path, archive_plug("pips").puzzles())
        lake.read_row_group(path, len(lake.row_groups(path)) - 1)
        return "the same" if whole.equals(table) else "other rows"

    return folder / path, read


def manifest(folder: Path) -> tuple[Path, Callable[[], str]]:
    """Write a manifest to a lake, of which workers read single row groups."""
    lake, schema = Lake.open(str(folder)), manifest_schema(archive_plug("pips").puzzles())
    rows = rows_of(schema)
    path = "runs/run=x/manifest/seg-00000.parquet"
    lake.write_row_groups(path, [rows, rows], schema)

    def read() -> str:
        found = lake.read_row_groups(path, [0, 1])
        return "the same" if found.equals(pa.concat_tables([rows, rows])) else "other rows"

    return folder / path, read


def merged(folder: Path) -> tuple[Path, Callable[[], str]]:
    """Write results of several row groups; look some up, and merge them with another file."""
    lake = Lake.open(str(folder))
    table = rows_of(RESULTS, 64)
    ids = [f"{i:02x}" * 16 for i in range(0, 256, 4)]
    table = table.set_column(0, RESULTS.field(0), pa.array(ids))
    files = RESULT_FILES
    path = f"{files.path}/merged-{'0' * 16}-{'f' * 16}-{'1' * 16}.parquet"
    whole = (table.slice(at, 16) for at in range(0, 64, 16))
    lake.write_row_groups(path, whole, RESULTS)
    more = result_path("2" * 32)
    put_rows(lake, more, table.slice(3, 40))
    aside = lake.read_bytes(more)

    def read() -> str:
        forget(path)
        struck = lake.read_bytes(path)
        found = with_sentence(lambda: find_results(lake, ids[1::5]))
        is_said = path in skipped_files() or isinstance(found, PermanentError)
        with mock.patch.object(merge, "FILE_BYTES", len(struck) // 2):
            # Two ranges of keys, of which row groups are chosen.
            merge.merge_folder(lake, files)
        after = read_results(lake)
        is_there = lake.exists(path)
        left = set(after.column("job_id").to_pylist())
        lost = sorted(set(ids) - left)
        for name in lake.list(files.path):
            lake.delete(name)
        lake.write_bytes(more, aside)
        if lost and not (is_there and is_said):
            return f"lost {lost}"
        if is_said:
            return "named"
        return "the same" if len(found) == len(ids[1::5]) else "looked up in vain"

    return folder / path, read


KINDS: dict[str, Callable[[Path], tuple[Path, Callable[[], str]]]] = {
    "of-elsewhere": of_elsewhere,
    "with-lists": with_lists,
    "manifest": manifest,
    "merged": merged,
}


def with_sentence(read: Callable[[], Any]) -> Any:
    """Give what is read, or the error where it is one of ours."""
    try:
        return read()
    except PermanentError as error:
        return error


def strike(kind: str, folder: Path, count: int, seed: int) -> Counter[str]:
    """Flip bits of a footer, and count how reading ends."""
    path, read = KINDS[kind](folder)
    data = path.read_bytes()
    assert read() == "the same"
    first = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    bits = range(8 * first, 8 * len(data))
    draw = random.Random(seed)
    ended: Counter[str] = Counter()
    drawn = draw.sample(bits, min(count, len(bits)))
    # Whether a column may be null: with this bit, Arrow's statistics of it fit no more.
    known = [8 * found.start() + 9 for found in re.finditer(rb"\x35\x00\x18", data)]
    # How many ids a row group of 16 rows has: with this bit none, and no look-up finds one.
    counts = re.finditer(rb"job_id\x15.\x16\x20", data, re.DOTALL)
    known += [8 * (found.end() - 1) + 5 for found in counts]
    for bit in (*(bit for bit in known if bit in bits), *drawn):
        print(f"bit {bit}", flush=True)
        at = bit // 8
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << bit % 8]) + data[at + 1 :])
        try:
            ended[read()] += 1
        except DamagedFileError:
            ended["damaged"] += 1
        except PermanentError as error:
            ended["refused"] += 1
            print(type(error), error, file=sys.stderr)
    return ended


def main() -> None:
    """Strike one kind of file."""
    kind, folder, count, seed = sys.argv[1:]
    print(json.dumps(strike(kind, Path(folder), int(count), int(seed))))


if __name__ == "__main__":
    main()
