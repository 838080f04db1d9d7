"""An S3 server on loopback: moto's, with conditional uploads made one step.

`python -m benchmarks.instruments.s3_server PORT [ADDRESS]` serves until it is killed. moto looks
whether an object is there and then writes it: of 1,000 rounds of eight uploads at once, two had
two winners. S3 does both at once, and so does this one: uploads wait for one another.
"""

from __future__ import annotations

import functools
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import httpx

KEYS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_EC2_METADATA_DISABLED": "true",
}
READY_S = 60.0
ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def s3_thread(port: int = 0, address: str = "127.0.0.1") -> Iterator[str]:
    """Run the server in a thread, with a bucket called bucket, and hold keys for it."""
    from moto.s3.responses import S3Response
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    put_object = _one_after_the_other(S3Response.put_object)
    with (
        mock.patch.dict(os.environ, KEYS),
        mock.patch.object(S3Response, "put_object", put_object),
    ):
        server = ThreadedMotoServer(ip_address=address, port=port, verbose=False)
        server.start()
        host, bound = server.get_host_and_port()
        url = f"http://{host}:{bound}"
        try:
            _make_bucket(url)
            yield url
        finally:
            server.stop()


@contextmanager
def s3_process(address: str = "127.0.0.1") -> Iterator[str]:
    """Run the server in a process of its own: see `s3_thread`."""
    command = [sys.executable, "-m", "benchmarks.instruments.s3_server", "0", address]
    with (
        mock.patch.dict(os.environ, KEYS),
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as server,
    ):
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def _one_after_the_other(step: Callable[..., Any]) -> Callable[..., Any]:
    lock = threading.Lock()

    @functools.wraps(step)
    def locked(*arguments: Any) -> Any:
        with lock:
            return step(*arguments)

    return locked


def _make_bucket(url: str) -> None:
    deadline = time.monotonic() + READY_S
    while True:
        try:
            httpx.put(f"{url}/bucket", trust_env=False).raise_for_status()
            return
        except httpx.TransportError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def main() -> None:
    """Serve, and print the address once the server answers."""
    with s3_thread(int(sys.argv[1]), *sys.argv[2:3]) as url:
        print(url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
