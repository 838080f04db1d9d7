"""An S3 server on loopback: moto's, in a thread. It takes 2 s to start."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from benchmarks.instruments.s3_server import s3_thread


@contextmanager
def s3_server() -> Iterator[str]:
    """Run the server with a bucket called bucket, give its address, and hold keys for it."""
    if importlib.util.find_spec("moto") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("moto is not installed")
        pytest.skip("moto is not installed")
    with s3_thread() as url:
        yield url
