"""The lake on a real object store, SeaweedFS: a server of its own that this project did not write.

`python -m benchmarks.chaos.servers` does more on more servers; `NIGHTGRID_TEST_S3=seaweedfs` lets
the tests of moto run on this one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.instruments.processes import children_of, wait_for
from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.identity import make_lake_id
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError
from tests.archive.lake.racing import raced, segments_raced
from tests.s3_server import s3_server

# Starting the server takes 3 to 6 s.
pytestmark = pytest.mark.slow

SERVED = """
import threading
from benchmarks.instruments.s3_servers import serve

with serve("seaweedfs") as url:
    print(url, flush=True)
    threading.Event().wait()
"""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with s3_server("seaweedfs") as url:
        yield url


def test_files_on_seaweedfs(endpoint: str) -> None:
    url = f"s3://bucket/lake?endpoint_override={endpoint}"
    assert make_lake_id(url) == make_lake_id(url)
    lake = Lake.open(url)
    lake.delete("lake.json")
    assert lake.list() == []
    texts = {f"runs/run={number}/a b.json": b"%d" % number for number in range(3)}
    for path, text in texts.items():
        assert lake.create_bytes(path, text)
        assert not lake.create_bytes(path, b"another")
    lake.write_bytes("runs/empty", b"")
    large = os.urandom(20 * 2**20)
    lake.write_bytes("large", large)
    lake.write_bytes("large", large[::-1])
    assert lake.read_bytes("large") == large[::-1]
    assert {path: lake.read_bytes(path) for path in texts} == texts
    assert lake.list("runs") == ["runs/empty", *texts]
    assert lake.folders("runs") == [f"runs/run={number}" for number in range(3)]
    lake.delete_folder("runs", last="runs/empty")
    lake.delete("runs/empty")
    assert lake.list() == ["large"]
    with pytest.raises(MissingFileError):
        lake.read_bytes("runs/empty")
    assert not lake.exists("runs")
    with pytest.raises(PermanentError, match="refuses"):
        Lake.open(url.replace("//bucket", "//none")).read_bytes("a")


def test_of_many_at_once_one_creates_on_seaweedfs(endpoint: str) -> None:
    for told in zip(*raced(f"s3://bucket/race?endpoint_override={endpoint}", 10), strict=True):
        assert sorted(told) == ["0", "1"]
    assert segments_raced(f"s3://bucket/segments?endpoint_override={endpoint}", 2) == (2, 2)


def test_a_server_ends_with_the_process_that_started_it(endpoint: str) -> None:
    root = Path(__file__).resolve().parents[4]
    with (
        # The name of a socket has 107 bytes at most, which folders of tests exceed.
        tempfile.TemporaryDirectory(prefix="ng-") as folder,
        subprocess.Popen(
            [sys.executable, "-c", SERVED],
            cwd=root,
            env={**os.environ, "TMPDIR": folder},
            stdout=subprocess.PIPE,
            text=True,
        ) as starter,
    ):
        assert starter.stdout is not None
        assert starter.stdout.readline().startswith("http://127.0.0.1:")
        (server,) = children_of(starter.pid)
        starter.send_signal(signal.SIGKILL)
        wait_for(
            lambda: not Path(f"/proc/{server}/cmdline").exists() or not _runs(server), "its end"
        )


def _runs(pid: int) -> bool:
    return b"weed" in Path(f"/proc/{pid}/cmdline").read_bytes()
