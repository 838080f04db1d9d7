"""Inputs that would take far more memory than they have bytes: what each door says of them.

The tests write FILES into a folder (FOLDER) and run every row there, in a process that may take
LIMIT_MB more than a command that has loaded its modules, where a row names no other bound.
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
    limit_mb: int = LIMIT_MB
    told: bool = False
    """Whether lines of progress come before the sentence."""


def _tables(folder: Path) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    def write(name: str, columns: Mapping[str, pa.Array], **options: object) -> bytes:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(dict(columns)), path, compression="zstd", **options)
        return path.read_bytes()

    one = pa.ListArray.from_arrays(pa.array([0, _VALUES], pa.int32()), np.zeros(_VALUES, np.uint8))
    data = write("list.parquet", dict.fromkeys(_BOARD, one))
    # The footer of this one says that it has ten values.
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    said = _varint(_VALUES)
    told = data[footer:].replace(said, _varint(10, len(said)))
    (folder / "lying.parquet").write_bytes(data[:footer] + told)
    boards = dict.fromkeys(_BOARD, pa.array([[0]] * 2_000, pa.list_(pa.int32())))
    text = pa.DictionaryArray.from_arrays(np.zeros(2_000, np.int32), pa.array(["x" * MB]))
    write("texts.parquet", {**boards, "puzzle_id": text}, store_schema=False)
    rows = pa.DictionaryArray.from_arrays(np.zeros(_VALUES, np.int8), pa.array(["pips"]))
    names = ("job_id", "puzzle_id", "game", "ask", "rules", "lexicon_id", "status", "run_id")
    for name in ("lake/results/x.parquet", "lake/puzzles/pips/x.parquet"):
        write(name, dict.fromkeys(names, rows), store_schema=False)
    texts = dict.fromkeys((*names, "solver_version"), text)
    write("long/puzzles/pips/x.parquet", texts, store_schema=False)


def _varint(value: int, width: int = 0) -> bytes:
    """Write a number as Thrift does, in `width` bytes at least."""
    rest, found = value << 1, bytearray()
    while rest > 0x7F or len(found) + 1 < width:
        found.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*found, rest])


def _nightly(folder: Path) -> None:
    (folder / "source").mkdir()
    (folder / "source/2026-01-02.json").write_bytes(b'{"easy": ' + b"[" * 3 * MB)


TEXTS: dict[str, Callable[[], bytes]] = {
    "deep.json": lambda: b'{"easy": ' + b"[" * MB,
    "number.json": lambda: b'{"dominoes": ' + b"9" * 15 * MB + b"}",
    "lists.json": lambda: b'{"dominoes": [' + b"[]," * MB + b'[]], "regions": []}',
    "members.json": lambda: b"{" + b",".join(b'"k%d":1' % i for i in range(MB)) + b"}",
    "string.json": lambda: b'{"board": ["' + b"a" * 15 * MB + b'"]}',
    "open.json": lambda: b'{"board": ["' + b"a" * 15 * MB,
    "large.json": lambda: b" " * 17 * MB,
    "gzip.json": lambda: gzip.compress(b" " * 16 * MB) * 64,
    "gzip.txt": lambda: gzip.compress(b"a" * 16 * MB) * 64,
    "line.txt": lambda: b"a" * 40 * MB,
    "ligatures.txt": lambda: "\ufdfa".encode() * 10 * MB,
    "large.txt": lambda: b"a" * 129 * MB,
    "deep.toml": lambda: b"lake = " + b"[" * 60_000,
    "number.toml": lambda: b"batch_processes = " + b"9" * 60_000,
}


def write(folder: Path) -> None:
    """Write every file that the rows name."""
    for name, made in TEXTS.items():
        (folder / name).write_bytes(made())
    _tables(folder)
    _nightly(folder)


_COUNT = ("--game", "pips", "--lake", "FOLDER/new", "--inline", "--no-prefect")
_BOARD_OF = ("solve", "--sides", "TAP,ERD,NIL,YCO", "--lexicon")
ROWS = (
    Bomb(
        what="gzip: a payload of 1 MB that expands to 1 GiB",
        words=("solve", "gzip.json"),
        says="byte 1: the body is not UTF-8 (in gzip.json)",
    ),
    Bomb(
        what="gzip: a word list of 1 MB that expands to 1 GiB",
        words=(*_BOARD_OF, "gzip.txt"),
        says="word list gzip.txt, line 1: byte 0x8b is not UTF-8",
    ),
    Bomb(
        what="JSON: a million lists in one another",
        words=("solve", "deep.json"),
        says="lists and objects are nested too deeply (in deep.json)",
    ),
    Bomb(
        what="JSON: a number of 15,000,000 digits",
        words=("show", "number.json"),
        says="dominoes: expected at most 20 digits, got 15728640 (in number.json)",
    ),
    Bomb(
        what="JSON: a million empty lists",
        words=("solve", "lists.json"),
        says="dominoes: expected at most 32768 items, got 1048577 (in lists.json)",
    ),
    Bomb(
        what="JSON: a million members",
        words=("solve", "members.json"),
        says="expected at most 10,000 members, got 1,048,576 (in members.json)",
    ),
    Bomb(
        what="JSON: a text of 15 MiB",
        words=("submit", "string.json", "--lake", "FOLDER/new"),
        says="board: 1 x 15728640 cells; expected at most 65536 cells (in string.json)",
    ),
    Bomb(
        what="JSON: a text without an end",
        words=("solve", "open.json"),
        says="line 1, column 12: unterminated string, got '\"aaaaaaaaaaa' (in open.json)",
    ),
    Bomb(
        what="a payload of 17 MiB",
        words=("solve", "large.json"),
        says="large.json is larger than 16,777,216 bytes",
    ),
    Bomb(
        what="a payload that never ends",
        words=("solve", "/dev/zero"),
        says="/dev/zero is larger than 16,777,216 bytes",
    ),
    Bomb(
        what="a word list of one line",
        words=(*_BOARD_OF, "line.txt"),
        says="word list line.txt, line 1: longer than 1,000 bytes; expected one word or phrase a "
        "line",
    ),
    Bomb(
        what="a word list of letters that become eighteen",
        words=(*_BOARD_OF, "ligatures.txt"),
        says="word list ligatures.txt, line 1: longer than 1,000 bytes; expected one word or "
        "phrase a line",
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
        what="settings: a number of 60,000 digits",
        words=("status",),
        env={"NIGHTGRID_CONFIG": "FOLDER/number.toml"},
        says="FOLDER/number.toml is not TOML: Exceeds the limit (4300 digits) for integer string "
        "conversion: value has 60000 digits; use sys.set_int_max_str_digits() to increase the "
        "limit",
    ),
    Bomb(
        what="Parquet: 7,000,000 values in 3 KB",
        words=("count", "list.parquet", *_COUNT),
        told=True,
        says="corpus 'list.parquet' holds no sound puzzle of pips; what broke a rule (1) is in "
        "FOLDER/new/corpora/51269cdea9c2a43e7411c765ba0b40f5/quarantine, and nightgrid list "
        "quarantine shows it",
    ),
    Bomb(
        what="Parquet: the same, with a footer that says ten",
        words=("count", "lying.parquet", *_COUNT),
        told=True,
        says="corpus 'lying.parquet' holds no sound puzzle of pips; what broke a rule (1) is in "
        "FOLDER/new/corpora/7f21d3298058d8e669eed9a6956bba65/quarantine, and nightgrid list "
        "quarantine shows it",
    ),
    Bomb(
        what="Parquet: 2,000 times one text of 1 MiB",
        words=("count", "texts.parquet", *_COUNT),
        told=True,
        says="corpus 'texts.parquet' holds no sound puzzle of pips; what broke a rule (1) is "
        "in FOLDER/new/corpora/dfad2635e424747bea046f0adf4f2dec/quarantine, and nightgrid list "
        "quarantine shows it",
    ),
    Bomb(
        what="a generator of 10^10 boards",
        words=("count", "pips:n=10000000000", *_COUNT),
        told=True,
        says="generator spec: n is '10000000000'; expected a number from 1 to 1,000,000,000",
    ),
    Bomb(
        what="a source: a payload of three million lists in one another",
        words=(
            *("nightly", "--source", "source", "--lake", "FOLDER/new"),
            *("--inline", "--no-prefect"),
        ),
        code=1,
        limit_mb=3_072,  # DuckDB sets aside room for its threads.
        told=True,
        says="pips: source: all payloads are in quarantine; the lake has no pips board",
    ),
)
