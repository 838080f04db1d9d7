"""A lake for dry runs: it shows what was changed in it, and the lake itself stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from obstore.store import MemoryStore

from nightgrid.archive.lake.faults import LakeRefusesError, MissingFileError
from nightgrid.archive.lake.local_commit import STAGING
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import ASKED
from nightgrid.flows.maintenance.dry_run import lake_to_try

FILES = {"lake.json": b"{}", "runs/run=a/x": b"1", "runs/run=a/y": b"22", "runs/run=b/x": b"3"}


@pytest.fixture(params=["folder", "object store"])
def lake(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    store = MemoryStore()
    monkeypatch.setattr("nightgrid.archive.lake.objects.store.connect", lambda *_, **__: store)
    lake = Lake.open(str(tmp_path / "lake") if request.param == "folder" else "s3://bucket")
    for path, data in FILES.items():
        lake.write_bytes(path, data)
    return lake


@pytest.fixture
def tried(lake: Lake) -> Iterator[Lake]:
    """Try something in a lake, and look that the lake has not changed."""
    before = lake.stamps("", deep=True)
    with lake_to_try(lake) as at:
        yield at
    assert lake.stamps("", deep=True) == before


def test_it_shows_what_the_lake_has(lake: Lake, tried: Lake) -> None:
    assert tried.stamps("", deep=True) == lake.stamps("", deep=True)
    assert tried.folders("", deep=True) == lake.folders("", deep=True)
    assert {path: tried.read_bytes(path) for path in tried.list("")} == FILES
    assert tried.location("runs") == lake.location("runs")


def test_what_is_written_is_read_and_listed(tried: Lake) -> None:
    tried.write_bytes("lake.json", b"[]")
    assert tried.create_bytes("new/file", b"new")
    assert (tried.read_bytes("lake.json"), tried.read_bytes("new/file")) == (b"[]", b"new")
    assert tried.sizes("") == {**{path: len(FILES[path]) for path in FILES}, "new/file": 3}
    assert [name for name in tried.folders("") if name != STAGING] == ["new", "runs"]


def test_a_file_that_is_there_is_not_created(tried: Lake) -> None:
    assert not tried.create_bytes("lake.json", b"[]")
    tried.create_bytes("new", b"new")
    assert not tried.create_bytes("new", b"other")
    assert (tried.read_bytes("lake.json"), tried.read_bytes("new")) == (b"{}", b"new")


def test_what_is_deleted_is_gone_until_it_is_written_again(tried: Lake) -> None:
    tried.write_bytes("new", b"new")
    for path in ("lake.json", "new"):
        tried.delete(path)
        tried.delete(path)
        assert not tried.exists(path)
        with pytest.raises(MissingFileError):
            tried.read_bytes(path)
    assert tried.list("") == [path for path in FILES if path != "lake.json"]
    assert tried.create_bytes("lake.json", b"[]")
    assert tried.read_bytes("lake.json") == b"[]"
    tried.delete("lake.json")
    assert not tried.exists("lake.json")


def test_a_folder_that_is_deleted_is_listed_no_more(tried: Lake) -> None:
    tried.write_bytes("runs/run=a/z", b"new")
    tried.delete_folder("runs/run=a", last="runs/run=a/y")
    assert tried.folders("runs") == ["runs/run=b"]
    assert tried.list("runs") == ["runs/run=b/x"]
    assert not tried.exists("runs/run=a")
    tried.write_bytes("runs/run=a/x", b"again")
    assert tried.list("runs") == ["runs/run=a/x", "runs/run=b/x"]


def test_tables_are_written_and_read(tried: Lake) -> None:
    table = pa.Table.from_pylist([dict.fromkeys(ASKED.names, "x")], ASKED)
    tried.write_table("asked/x.parquet", table)
    assert tried.read_table("asked", ASKED).equals(table)


def test_a_link_to_nothing_says_so_until_it_is_written_over(tmp_path: Path) -> None:
    lake = Lake.open(str(tmp_path))
    lake.write_bytes("runs/file", b"1")
    (Path(lake.url) / "runs" / "link").symlink_to(Path(lake.url) / "nothing")
    with lake_to_try(lake) as at:
        with pytest.raises(LakeRefusesError, match="link to nothing"):
            at.read_bytes("runs/link")
        at.write_bytes("runs/link", b"new")
        assert at.read_bytes("runs/link") == b"new"


def test_two_lakes_to_try_know_nothing_of_one_another(lake: Lake) -> None:
    with lake_to_try(lake) as one, lake_to_try(lake) as other:
        one.delete("lake.json")
        assert other.exists("lake.json")
        assert len({lake.url, one.url, other.url}) == 3
