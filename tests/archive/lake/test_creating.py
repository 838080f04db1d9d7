"""A file that only one writer may create is created once, whatever the storage."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

from nightgrid.archive.lake.local_commit import LOCK, STAGING
from nightgrid.archive.lake.schemas import QUARANTINE
from nightgrid.archive.lake.storage import Lake
from tests.archive.lake.racing import raced
from tests.archive.lake.test_lake import object_store, rows


def without_links(patch: pytest.MonkeyPatch) -> None:
    """Simulate a file system without hard links."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    patch.setattr(Path, "hardlink_to", refuse)


@pytest.fixture(params=["folder", "folder without hard links", "object store"])
def racing_lake(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Lake:
    if request.param == "object store":
        return object_store(monkeypatch)
    if request.param == "folder without hard links":
        without_links(monkeypatch)
    return Lake.open(str(tmp_path / "lake"))


def test_a_table_is_created_once_even_by_writers_at_once(racing_lake: Lake) -> None:
    lake = racing_lake
    tables = [rows(f"rule-{i}") for i in range(8)]
    together = threading.Barrier(8, timeout=20)

    def create(table: pa.Table) -> bool:
        together.wait()
        return lake.write_table("quarantine/q.parquet", table, new=True)

    with ThreadPoolExecutor(8) as pool:
        created = list(pool.map(create, tables))
    assert created.count(True) == 1
    assert lake.read_table("quarantine/q.parquet", QUARANTINE).equals(tables[created.index(True)])
    assert lake.list() == ["quarantine/q.parquet"]
    assert lake.sweep_staging(0.0) == 0


def test_a_writer_that_saw_no_file_does_not_replace_one(racing_lake: Lake) -> None:
    first, second = rows("first"), rows("second")

    def while_another_creates() -> Iterator[pa.Table]:
        # The check for the file, if there is one, comes after the second writer.
        assert racing_lake.write_table("quarantine/q.parquet", first, new=True)
        yield second

    made = while_another_creates()
    assert not racing_lake.write_row_groups("quarantine/q.parquet", made, QUARANTINE, new=True)
    assert racing_lake.read_table("quarantine/q.parquet", QUARANTINE).equals(first)


@pytest.mark.parametrize("links", ["with", "without"])
def test_of_two_processes_one_creates_a_file(links: str, tmp_path: Path) -> None:
    won = raced(str(tmp_path / "lake"), 60, links=links)
    lake = Lake.open(str(tmp_path / "lake"))
    assert [len(told) for told in won] == [60, 60]
    for number, told in enumerate(zip(*won, strict=True)):
        assert sorted(told) == ["0", "1"]
        assert lake.read_bytes(f"race/{number}") == b"ab"[told.index("1") :][:1]


def test_a_lock_ends_with_its_holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from nightgrid.archive.lake.storage import Lake\n"
        "def refuse(*_): raise OSError(95, 'no hard links')\n"
        "Path.hardlink_to = refuse\n"
        "Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "Lake.open(sys.argv[1]).write_bytes('other/x', b'1', new=True)\n"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "lake")], cwd=root, check=False
    )
    assert done.returncode == -9
    assert (tmp_path / "lake" / STAGING / LOCK).is_file()
    without_links(monkeypatch)
    lake = Lake.open(str(tmp_path / "lake"))
    assert lake.write_table("quarantine/q.parquet", rows("a"), new=True)
    assert lake.sweep_staging(older_than_s=-1.0) == 1, "a lock is nothing half-written"
    assert (tmp_path / "lake" / STAGING / LOCK).is_file()
