"""The lake on an S3 server: moto's, on loopback."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest

from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.schemas import EDITIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.sources.folder import FolderSource
from tests.archive.lake.racing import segments_raced

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


def test_segments_are_created_once_by_drivers_at_once(s3_endpoint: str) -> None:
    url = f"s3://bucket/segments?endpoint_override={s3_endpoint}"
    assert segments_raced(url, 10) == (10, 10)
