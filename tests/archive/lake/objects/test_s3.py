"""The lake on an S3 server: moto's, on loopback."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest

from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.objects import url as object_urls
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.solvers.errors import PermanentError, TransientError
from tests.archive.lake.racing import raced, segments_raced

# Starting the server takes 2 s.
pytestmark = pytest.mark.slow


def test_the_same_ingest_gives_the_same_files_as_in_a_folder(
    s3_endpoint: str,
    lake: Lake,
    write_archive: Callable[..., Path],
    now: Callable[[], dt.datetime],
) -> None:
    folder = write_archive("source", {"2026-01-01": 1, "2026-01-02": 2})
    remote = Lake.open(f"s3://bucket/lake?endpoint_override={s3_endpoint}")
    for each in (lake, remote):
        fetch(each, FolderSource(folder), now=now)
        assert normalise(each).editions_added == 6
    assert remote.list("") == lake.list("")
    assert {p: remote.read_bytes(p) for p in remote.list("")} == {
        p: lake.read_bytes(p) for p in lake.list("")
    }
    assert remote.read_table("editions", EDITIONS).num_rows == 6
    again = fetch(remote, FolderSource(folder), now=now)
    assert (again.new, normalise(remote).payloads) == ([], 0)


def test_reads_and_errors_of_an_object_store(s3_endpoint: str) -> None:
    lake = Lake.open(f"s3://bucket/errors?scheme=http&endpoint_override={s3_endpoint[7:]}")
    assert lake.list("") == []
    lake.write_bytes("a/large", bytes(11_000_000))
    assert len(lake.read_bytes("a/large")) == 11_000_000
    assert lake.exists("a")
    lake.delete("a/large")
    lake.delete("a/large")
    with pytest.raises(MissingFileError):
        lake.read_bytes("a/large")


def test_a_missing_bucket_is_permanent_and_a_dead_server_transient(
    s3_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_urls, "MAX_RETRIES", 1)
    with pytest.raises(PermanentError, match="refuses"):
        Lake.open(f"s3://nobody/x?endpoint_override={s3_endpoint}").write_bytes("a", b"1")
    with pytest.raises(TransientError, match="failed"):
        Lake.open("s3://bucket/x?endpoint_override=http://127.0.0.1:9").write_bytes("a", b"1")


def test_of_two_processes_one_creates_an_object(s3_endpoint: str) -> None:
    url = f"s3://bucket/two?endpoint_override={s3_endpoint}"
    won = raced(url, 40)
    assert [len(told) for told in won] == [40, 40]
    lake = Lake.open(url)
    for number, told in enumerate(zip(*won, strict=True)):
        assert sorted(told) == ["0", "1"]
        assert lake.read_bytes(f"race/{number}") == b"ab"[told.index("1") :][:1]


def test_segments_are_created_once_by_drivers_at_once(s3_endpoint: str) -> None:
    url = f"s3://bucket/segments?endpoint_override={s3_endpoint}"
    assert segments_raced(url, 10) == (10, 10)


def test_a_large_file_that_is_created_and_one_that_replaces_it(s3_endpoint: str) -> None:
    lake = Lake.open(f"s3://bucket/large?endpoint_override={s3_endpoint}")
    first, second = bytes(20 * 2**20), b"1" * (20 * 2**20)
    assert lake.create_bytes("a", first)
    assert not lake.create_bytes("a", second)
    assert lake.read_bytes("a") == first
    lake.write_bytes("a", second)
    assert lake.read_bytes("a") == second
