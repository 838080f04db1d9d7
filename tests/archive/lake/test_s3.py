"""The lake on an S3 server: moto's, on loopback."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.solvers.errors import PermanentError, TransientError

# Starting the server takes 2 s.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    try:
        from moto.server import ThreadedMotoServer
    except ImportError:
        if os.environ.get("CI") == "true":
            pytest.fail("moto is not installed")
        pytest.skip("moto is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        url = f"http://{host}:{port}"
        httpx.put(f"{url}/bucket", trust_env=False).raise_for_status()
        yield url
        server.stop()


def test_the_same_ingest_gives_the_same_files_as_in_a_folder(
    endpoint: str,
    lake: Lake,
    write_archive: Callable[..., Path],
    now: Callable[[], dt.datetime],
) -> None:
    folder = write_archive("source", {"2026-01-01": 1, "2026-01-02": 2})
    remote = Lake.open(f"s3://bucket/lake?endpoint_override={endpoint}")
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


def test_reads_and_errors_of_an_object_store(endpoint: str) -> None:
    lake = Lake.open(f"s3://bucket/errors?scheme=http&endpoint_override={endpoint[7:]}")
    assert lake.list("") == []
    lake.write_bytes("a/large", bytes(11_000_000))
    assert len(lake.read_bytes("a/large")) == 11_000_000
    assert lake.exists("a")
    lake.delete("a/large")
    lake.delete("a/large")
    with pytest.raises(MissingFileError):
        lake.read_bytes("a/large")


def test_a_missing_bucket_is_permanent_and_a_dead_server_transient(endpoint: str) -> None:
    with pytest.raises(PermanentError, match="refuses"):
        Lake.open(f"s3://nobody/x?endpoint_override={endpoint}").write_bytes("a", b"1")
    with pytest.raises(TransientError, match="failed"):
        Lake.open("s3://bucket/x?endpoint_override=http://127.0.0.1:9").write_bytes("a", b"1")
