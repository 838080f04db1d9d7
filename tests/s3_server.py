"""An S3 server on loopback: moto's, in a thread. It takes 2 s to start.

`NIGHTGRID_TEST_S3=seaweedfs` lets every test that uses it run on another one of
`benchmarks.instruments.s3_servers`.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from benchmarks.instruments.s3_server import s3_thread
from benchmarks.instruments.s3_servers import MOTO, SERVERS, find_program, serve


@contextmanager
def s3_server(name: str | None = None) -> Iterator[str]:
    """Run a server with a bucket called bucket, give its address, and hold keys for it."""
    name = name or os.environ.get("NIGHTGRID_TEST_S3", MOTO)
    is_moto = name == MOTO
    if not (importlib.util.find_spec("moto") if is_moto else find_program(name)):
        missing = f"{MOTO if is_moto else SERVERS[name].source} is not installed"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    with s3_thread() if is_moto else serve(name) as url:
        yield url
