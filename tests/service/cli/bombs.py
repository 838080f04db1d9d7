"""Inputs that would take far more memory than they have bytes, with the error of each command.

The tests write FILES into a folder (FOLDER) and run every row there, in a process that may take
LIMIT_MB (or the row's own bound) more than a command with loaded modules.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

LIMIT_MB = 512
MB = 2**20
_NAMES = ("cell_row", "cell_col", "cell_region", "region_type", "region_target")
_BOARD = (*_NAMES, "domino_a", "domino_b")
_VALUES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bomb:
    """A row of the table."""

    what: str
    words: tuple[str, ...]
    says: str
    code: int = 3
    env: Mapping[str, str] = field(default_factory=dict)
    told: bool = False
    """Whether lines of progress come before the sentence."""


def _tables(folder: Path) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    def write(name: str, columns: Mapping[str, pa.Array], **options: object) -> None:
        path = folder / name
        pq.write_table(pa.table(dict(columns)), path, compression="zstd", **options)

    one = pa.ListArray.from_arrays(pa.array([0, _VALUES], pa.int32()), np.zeros(_VALUES, np.uint8))
    write("list.parquet", dict.fromkeys(_BOARD, one))
    boards = dict.fromkeys(_BOARD, pa.array([[0]] * 2_000, pa.list_(pa.int32())))
    text = pa.DictionaryArray.from_arrays(np.zeros(2_000, np.int32), pa.array(["x" * MB]))
    write("texts.parquet", {**boards, _BOARD[0]: text}, store_schema=False)


TEXTS: dict[str, Callable[[], bytes]] = {
    "deep.json": lambda: b'{"easy": ' + b"[" * MB,
    "number.json": lambda: b'{"dominoes": ' + b"9" * 15 * MB + b"}",
    "lists.json": lambda: b'{"dominoes": [' + b"[]," * MB + b'[]], "regions": []}',
    "string.json": lambda: b'{"board": ["' + b"a" * 15 * MB + b'"]}',
    "large.json": lambda: b" " * 17 * MB,
    "gzip.json": lambda: gzip.compress(b" " * 16 * MB) * 64,
    "line.txt": lambda: b"a" * 40 * MB,
    "large.txt": lambda: b"a" * 129 * MB,
    "deep.toml": lambda: b"lake = " + b"[" * 60_000,
}


def write(folder: Path) -> None:
    """Write every file that the rows name."""
    for name, made in TEXTS.items():
        (folder / name).write_bytes(made())
    _tables(folder)


_COUNT = ("--game", "pips", "--lake", "FOLDER/new", "--inline", "--no-prefect")
_BOARD_OF = ("solve", "--sides", "TAP,ERD,NIL,YCO", "--lexicon")
ROWS = (
    Bomb(
        what="gzip: a payload of 1 MB that expands to 1 GiB",
        words=("solve", "gzip.json"),
        says="gzip.json unpacks to more than 134,217,728 bytes",
    ),
    Bomb(
        what="JSON: a million lists in one another",
        words=("solve", "deep.json"),
        says="lists and objects are nested too deeply (in deep.json)",
    ),
    Bomb(
        what="JSON: a number of 15,000,000 digits",
        words=("show", "number.json"),
        says="expected numbers of at most 20 digits, got one of 15728640 (in number.json)",
    ),
    Bomb(
        what="JSON: a million empty lists",
        words=("solve", "lists.json"),
        says="dominoes: expected at most 32768 items, got 1048577 (in lists.json)",
    ),
    Bomb(
        what="JSON: a text of 15 MiB",
        words=("submit", "string.json", "--lake", "FOLDER/new"),
        says="board: 1 x 15728640 cells; expected at most 65536 cells (in string.json)",
    ),
    Bomb(
        what="a payload of 17 MiB",
        words=("solve", "large.json"),
        says="large.json is larger than 16,777,216 bytes",
    ),
    Bomb(
        what="a payload that never ends",
        words=("solve", "/dev/zero"),
        says="/dev/zero is larger than 134,217,728 bytes",
    ),
    Bomb(
        what="a word list of one line",
        words=(*_BOARD_OF, "line.txt"),
        says="word list line.txt, line 1: longer than 1,000 bytes; expected one word or phrase a "
        "line",
    ),
    Bomb(
        what="a word list of 129 MiB",
        words=(*_BOARD_OF, "large.txt"),
        says="word list large.txt: more than 134217728 bytes",
    ),
    Bomb(
        what="a word list that never ends",
        words=(*_BOARD_OF, "/dev/zero"),
        says="word list /dev/zero: more than 134217728 bytes",
    ),
    Bomb(
        what="settings: 60,000 lists in one another",
        words=("status",),
        env={"NIGHTGRID_CONFIG": "FOLDER/deep.toml"},
        says="FOLDER/deep.toml is not TOML: maximum recursion depth exceeded",
    ),
    Bomb(
        what="Parquet: 7,000,000 values in 3 KB",
        words=("count", "list.parquet", *_COUNT),
        told=True,
        says="corpus 'list.parquet' holds no valid puzzle of pips; nightgrid list quarantine "
        "shows what broke a rule (1)",
    ),
    Bomb(
        what="Parquet: 2,000 times one text of 1 MiB",
        words=("count", "texts.parquet", *_COUNT),
        told=True,
        says="corpus 'texts.parquet' holds no valid puzzle of pips; nightgrid list "
        "quarantine shows what broke a rule (1)",
    ),
    Bomb(
        what="a generator of 10^10 boards",
        words=("count", "pips:n=10000000000", *_COUNT),
        told=True,
        says="generator spec: n is '10000000000'; expected a number from 1 to 1,000,000,000",
    ),
)
