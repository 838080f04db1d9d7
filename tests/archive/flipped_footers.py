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

import pyarrow as pa
import pyarrow.parquet as pq

from nightgrid.archive.corpus.inputs import read_inputs
from nightgrid.archive.corpus.parquet import read_parquet
from nightgrid.archive.games.generator_spec import make_boards, read_generator_spec
from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.payloads.published import Published
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game as game_named

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


KINDS: dict[str, Callable[[Path], tuple[Path, Callable[[], str]]]] = {
    "of-elsewhere": of_elsewhere,
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
