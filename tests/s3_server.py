"""An S3 server on loopback: moto's, in a thread. It takes 2 s to start."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest


@contextmanager
def s3_server() -> Iterator[str]:
    """Run the server with a bucket called bucket, give its address, and hold keys for it."""
    try:
        from moto.server import ThreadedMotoServer
    except ImportError:
        if os.environ.get("CI") == "true":
            pytest.fail("moto is not installed")
        pytest.skip("moto is not installed")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        url = f"http://{host}:{port}"
        try:
            httpx.put(f"{url}/bucket", trust_env=False).raise_for_status()
            yield url
        finally:
            server.stop()
