"""A lake keeps what is written: tables and bytes, in a folder or in an object store."""

from __future__ import annotations

import datetime as dt
import errno
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from obstore.store import MemoryStore

from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.local_commit import STAGING
from nightgrid.archive.lake.schemas import QUARANTINE, RESULTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError, TransientError

AT = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def rows(*rules: str) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {
                "game": "pips",
                "date": dt.date(2026, 1, 1),
                "level": None,
                "raw_sha256": "0" * 64,
                "url": "u",
                "seen_at": AT,
                "rule": rule,
                "place": "",
                "message": "m",
            }
            for rule in rules
        ],
        schema=QUARANTINE,
    )


def object_store(patch: pytest.MonkeyPatch) -> Lake:
    """Like every object store: uploads instead of renames."""
    store = MemoryStore()
    patch.setattr("nightgrid.archive.lake.objects.store.connect", lambda _url, **_: store)
    return Lake.open("s3://bucket")


@pytest.fixture(params=["folder", "object store"])
def any_lake(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Lake:
    if request.param == "folder":
        return Lake.open(str(tmp_path / "lake"))
    return object_store(monkeypatch)


def test_a_lake_that_does_not_exist_reads_as_empty_and_is_not_created(tmp_path: Path) -> None:
    lake = Lake.open(str(tmp_path / "nowhere"))
    assert lake.list("") == []
    assert lake.read_table("results", RESULTS).equals(RESULTS.empty_table())
    assert not lake.exists("results")
    assert not (tmp_path / "nowhere").exists()


def test_a_table_comes_back_with_schema_and_metadata(any_lake: Lake) -> None:
    table = rows("a", "b")
    any_lake.write_table("quarantine/pips.parquet", table)
    read = any_lake.read_table("quarantine/pips.parquet", QUARANTINE)
    assert read.equals(table, check_metadata=True)
    assert any_lake.read_row_groups("quarantine/pips.parquet", [0]).schema.metadata == (
        QUARANTINE.metadata
    )


def test_a_folder_reads_as_its_files_in_the_order_of_their_names(any_lake: Lake) -> None:
    any_lake.write_table("quarantine/b.parquet", rows("2"))
    any_lake.write_table("quarantine/a.parquet", rows("1"))
    any_lake.write_bytes("quarantine/note.json", b"{}")
    assert any_lake.read_table("quarantine", QUARANTINE, ["rule"]).column("rule").to_pylist() == [
        "1",
        "2",
    ]
    assert any_lake.list("quarantine") == [
        "quarantine/a.parquet",
        "quarantine/b.parquet",
        "quarantine/note.json",
    ]


def test_rows_are_found_by_a_column_in_every_file_and_row_group(any_lake: Lake) -> None:
    groups = [rows("1", "2"), rows("3"), rows("2", "4")]
    any_lake.write_row_groups("quarantine/a.parquet", groups, QUARANTINE)
    any_lake.write_table("quarantine/b.parquet", rows("2"))
    values = pa.array(["2", "4", "9"])
    found = any_lake.rows_among("quarantine", QUARANTINE, ["game", "rule"], "rule", values)
    assert found.column_names == ["game", "rule"]
    assert found.column("rule").to_pylist() == ["2", "2", "4", "2"]


def test_every_table_given_becomes_one_row_group(any_lake: Lake) -> None:
    tables = [rows("a"), rows("b", "c"), rows()]
    any_lake.write_row_groups("quarantine/x.parquet", iter(tables), QUARANTINE)
    assert any_lake.row_groups("quarantine/x.parquet")[:2] == [1, 2]
    assert any_lake.read_row_groups("quarantine/x.parquet", [1]).equals(tables[1])


def test_bytes_are_replaced_and_deleted(any_lake: Lake) -> None:
    any_lake.write_bytes("other/x", b"old, and longer")
    any_lake.write_bytes("other/x", b"new")
    assert any_lake.read_bytes("other/x") == b"new"
    assert any_lake.exists("other/x")
    any_lake.delete("other/x")
    any_lake.delete("other/x")
    assert not any_lake.exists("other/x")
    with pytest.raises(MissingFileError, match="other/x does not exist"):
        any_lake.read_bytes("other/x")


def test_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    a, b = Lake.open(str(tmp_path / "a")), Lake.open(str(tmp_path / "b"))
    a.write_table("quarantine/x.parquet", rows("a", "b"))
    b.write_table("quarantine/x.parquet", rows("a", "b"))
    assert a.read_bytes("quarantine/x.parquet") == b.read_bytes("quarantine/x.parquet")


def test_files_carry_zstd_checksums_and_a_page_index(lake: Lake, tmp_path: Path) -> None:
    groups = [rows(*"abc"), rows(*"def"), rows(*"gh")]
    lake.write_row_groups("quarantine/x.parquet", groups, QUARANTINE)
    assert lake.row_groups("quarantine/x.parquet") == [3, 3, 2]
    column = pq.read_metadata(tmp_path / "lake/quarantine/x.parquet").row_group(0).column(0)
    assert column.compression == "ZSTD"
    assert column.has_column_index
    assert column.has_offset_index


def test_a_file_is_synced_before_it_is_renamed_and_its_folder_after(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.write_bytes("other/first", b"1")
    target = tmp_path / "lake/other/x"
    steps: list[str] = []

    def record(path: Path) -> None:
        steps.append(f"{path.parent.name if path.is_file() else path.name}: {target.exists()}")

    monkeypatch.setattr("nightgrid.archive.lake.local_commit.fsync", record)
    lake.write_bytes("other/x", b"1")
    assert steps == [f"{STAGING}: False", "other: True"]
    steps.clear()
    lake.write_bytes("new/folder/x", b"1")
    assert [step.split(":")[0] for step in steps] == ["lake", "new", STAGING, "folder"]


def test_a_failed_write_leaves_the_old_file_and_nothing_staged(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.write_table("quarantine/x.parquet", rows("old"))

    def torn() -> object:
        yield rows("new")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(
        TransientError,
        match=r"cannot be written: the disk of .*/lake is full",
    ):
        lake.write_row_groups("quarantine/x.parquet", torn(), QUARANTINE)
    assert lake.read_table("quarantine", QUARANTINE).column("rule").to_pylist() == ["old"]
    assert list((tmp_path / "lake" / STAGING).iterdir()) == []


def test_an_upload_starts_only_when_the_whole_file_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lake = object_store(monkeypatch)

    def torn() -> object:
        yield rows("new")
        raise OSError(errno.ECONNRESET, "reset")

    with pytest.raises(TransientError):
        lake.write_row_groups("quarantine/x.parquet", torn(), QUARANTINE)
    assert lake.list("") == []


def test_a_killed_writer_leaves_no_visible_file_and_its_staging_is_swept(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from nightgrid.archive.lake.storage import Lake\n"
        "Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "Lake.open(sys.argv[1]).write_bytes('other/x', b'half')\n"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "lake")], cwd=root, check=False
    )
    lake = Lake.open(str(tmp_path / "lake"))
    assert done.returncode == -9
    assert len(list((tmp_path / "lake" / STAGING).iterdir())) == 1
    assert lake.list("") == []
    assert lake.sweep_staging() == 0, "a young file may belong to a live writer"
    assert lake.sweep_staging(older_than_s=-1.0) == 1
    assert list((tmp_path / "lake" / STAGING).iterdir()) == []


def test_a_file_url_is_the_folder_it_names(tmp_path: Path) -> None:
    lake = Lake.open((tmp_path / "with space").as_uri())
    lake.write_bytes("other/x", b"1")
    assert (tmp_path / "with space/other/x").read_bytes() == b"1"
    assert lake.url == str(tmp_path / "with space")


def test_the_place_of_a_file_is_reported_without_the_options_of_the_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = object_store(monkeypatch)
    store.url = "s3://bucket/lake/?region=here"
    assert store.location("gold/counts.parquet") == "s3://bucket/lake/gold/counts.parquet"
    assert Lake.open(str(tmp_path)).location("gold") == str(tmp_path / "gold")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_lake_without_permission_is_a_permanent_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermanentError, match="refuses"):
            Lake.open(str(tmp_path / "lake")).write_bytes("x", b"")
    finally:
        tmp_path.chmod(0o700)


def test_a_folder_that_is_being_made_lists_as_empty_or_as_it_is(tmp_path: Path) -> None:
    # Arrow checks twice, and fails if the folder is created in between: once in twenty here.
    lake = Lake.open(str(tmp_path))
    with ThreadPoolExecutor(1) as other:
        for number in range(600):
            path = f"runs/run={number}/manifest"
            (tmp_path / path).parent.mkdir(parents=True)
            made = other.submit((tmp_path / path).mkdir)
            assert [lake.list(path) for _ in range(3)] == [[]] * 3
            made.result()
