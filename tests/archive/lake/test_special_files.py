"""Named pipes, sockets and devices in the place of a lake's files: refused, and never waited for.

Each look is a process of its own, which is ended where it waits.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import ASKED

PATH = "results/b.parquet"
LOOK_S = 60
"""Seconds after which a look counts as one that hangs; most of a second is the imports."""
LOOK = """
import sys
from nightgrid.archive.lake.faults import LakeRefusesError
from nightgrid.archive.lake.json_files import read_hint, read_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import ASKED
lake, path = Lake.open(sys.argv[1]), sys.argv[2]
try:
    print(eval(sys.argv[3]))
except LakeRefusesError as error:
    print(error)
"""
READS = {
    "bytes": "lake.read_bytes(path)",
    "json": "read_json(lake, path)",
    "hint": "read_hint(lake, path, dict)",
    "table": "lake.read_table(path, ASKED)",
    "tables": "lake.read_table('results', ASKED)",
    "rows": "list(lake.scan('results', ASKED, ['game']))",
    "schema": "lake.schema(path)",
    "exists": "lake.exists(path)",
}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake.open(str(tmp_path / "lake"))
    rows = pa.table({"puzzle_id": ["a"], "game": ["pips"], "puzzle": ["{}"]}, ASKED)
    lake.write_table("results/a.parquet", rows)
    return lake


def place(lake: Lake) -> Path:
    return Path(lake.url) / PATH


def look(lake: Lake, read: str, path: str = PATH) -> str:
    command = [sys.executable, "-c", LOOK, lake.url, path, read]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LOOK_S, check=True)
    return ended.stdout.strip()


def test_names_are_those_of_the_files_that_a_look_at_each_finds(lake: Lake) -> None:
    folder = place(lake).parent
    os.mkfifo(folder / "pipe.parquet")
    (folder / "dead.parquet").symlink_to("nowhere")
    (folder / "linked.parquet").symlink_to("a.parquet")
    (folder / "folder").mkdir()
    (folder / "folder/deeper.parquet").touch()
    (folder / "table.parquet").mkdir()
    (folder / "back").symlink_to("..")
    names = lake.names("results")
    assert names == sorted(lake.stamps("results"))
    assert {name.rpartition("/")[2] for name in names} == {
        *("a.parquet", "pipe.parquet", "dead.parquet", "linked.parquet", "table.parquet"),
    }
    assert lake.names("nowhere") == []


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_named_pipe_is_refused_by_every_read(lake: Lake, read: str) -> None:
    os.mkfifo(place(lake))
    told = f"{PATH} is a named pipe; expected a file: move it out of the lake"
    assert look(lake, read) == told


def test_a_listing_has_a_named_pipe_so_that_its_rows_are_not_taken_for_none(lake: Lake) -> None:
    os.mkfifo(place(lake))
    assert look(lake, "lake.list('results')") == f"['results/a.parquet', '{PATH}']"


def test_a_socket_and_a_device_are_refused(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a socket, and then a link to a device that never ends, Then both are named."""
    # A socket's path may be about 100 bytes long.
    monkeypatch.chdir(place(lake).parent)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(place(lake).name)
    assert look(lake, READS["table"]).startswith(f"{PATH} is a socket; expected a file")
    place(lake).unlink()
    place(lake).symlink_to("/dev/zero")
    assert look(lake, READS["bytes"]).startswith(f"{PATH} is a device; expected a file")


def test_a_named_pipe_in_the_place_of_the_id_is_refused(lake: Lake) -> None:
    os.mkfifo(Path(lake.url) / "lake.json")
    code = (
        "import sys; from nightgrid.archive.lake.identity import make_lake_id\n"
        "try: make_lake_id(sys.argv[1])\n"
        "except Exception as error: print(error)"
    )
    command = [sys.executable, "-c", code, lake.url]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LOOK_S, check=True)
    told = f"lake.json of the lake {lake.url} is a named pipe; expected a file: move it out of"
    assert ended.stdout.startswith(told)


def test_a_file_is_created_in_no_place_that_a_named_pipe_has(lake: Lake) -> None:
    os.mkfifo(place(lake))
    assert not lake.create_bytes(PATH, b"new")
    assert place(lake).is_fifo()
    lake.delete(PATH)
    assert lake.list("results") == ["results/a.parquet"]
